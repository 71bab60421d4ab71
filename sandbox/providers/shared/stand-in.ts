import type { Logger } from '../../../platform/process/logger.ts';
import type { Wire } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { LatencyProfile } from '../../jobs/latency-profile.ts';
import type { Studio } from '../../studio/types/studio.ts';

/** A stand-in: its wire and its job runner. */
export interface StandIn {
  readonly wire: Wire;
  readonly runner: JobRunner;
  /** Takes what is not installed at a machine: node classes and model files. Present where something is. */
  readonly lack?: (names: readonly string[]) => void;
}

/** The options of every stand-in. */
export interface StandInOptions {
  readonly studio: Studio;
  readonly journal: Journal;
  readonly latency: () => LatencyProfile;
  readonly logger: Logger;
}

/** The options of a wire with webhooks. */
export interface WebhookStandInOptions extends StandInOptions {
  /** The wire's address, for the URLs in webhooks. */
  readonly baseUrl: () => string;
}
