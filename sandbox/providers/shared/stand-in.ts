import type { Logger } from '../../../platform/process/logger.ts';
import type { Wire } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { LatencyProfile } from '../../jobs/latency-profile.ts';
import type { Studio } from '../../studio/types/studio.ts';

/** A stand-in: what it answers, and what works behind it. */
export interface StandIn {
  readonly wire: Wire;
  readonly runner: JobRunner;
}

/** What every stand-in works with; each says by itself what it demands of its callers. */
export interface StandInOptions {
  readonly studio: Studio;
  readonly journal: Journal;
  readonly latency: () => LatencyProfile;
  readonly logger: Logger;
}

/** The same for a wire that tells its callers when something has happened. */
export interface WebhookStandInOptions extends StandInOptions {
  /** Where the wire is reached, for the addresses in notices. */
  readonly baseUrl: () => string;
}
