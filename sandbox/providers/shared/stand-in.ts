import type { Logger } from '../../../platform/process/logger.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import type { Wire } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { JobFault } from '../../jobs/job.ts';
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

/** The job fault that an injected fault plans; null for other faults. */
export function toJobFault(fault: Fault | null): JobFault | null {
  switch (fault?.fault) {
    case 'stall':
      return 'stall';
    case 'upstream-error':
      return 'fail';
    case 'late-moderation':
      return 'moderate';
    default:
      return null;
  }
}

/** How a wire takes its key in the header Authorization. */
interface KeyOptions {
  /** The word before the key, as `Bearer`. */
  readonly scheme: string;
  /** The key; null: any is taken. */
  readonly secret: string | null;
  /** Paths that need no key. */
  readonly isOpen: (path: string) => boolean;
  /** The answer to a request without the key. */
  readonly refusal: () => Answer;
}

/** Makes the check of a key in the header Authorization. */
export function authorizeByKey({
  scheme,
  secret,
  isOpen,
  refusal,
}: KeyOptions): NonNullable<Wire['authorize']> {
  return ({ path, headers }) => {
    const credential = headers['authorization'];
    const isIn = secret === null ? credential !== undefined : credential === `${scheme} ${secret}`;
    return isIn || isOpen(path) ? { path, params: {} } : { answer: refusal() };
  };
}
