import { setTimeout as pause } from 'node:timers/promises';

import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded } from '../../jobs/job.ts';
import type { Job } from '../../jobs/job.ts';
import { loopbackUrl } from './inputs/loopback.ts';

export interface WebhooksOptions {
  readonly runner: JobRunner;
  /** The address that the caller gave with this job, as it was given. */
  readonly urlOf: (job: Job) => unknown;
  /** What a change of a job is told with; null when this wire does not tell it. */
  readonly payloadOf: (job: Job) => object | null;
  /** Further headers, made anew for each try: signatures carry their time. */
  readonly sign?: (body: string, job: Job) => Readonly<Record<string, string>>;
  /** Whether an address takes notices, asked once for each job before its first one (default: it does). */
  readonly verify?: (hook: URL) => Promise<boolean>;
  /** How often a notice is sent at most until somebody takes it (default 1). */
  readonly tries?: number;
  readonly logger: Logger;
}

const TIMEOUT_MS = 5_000;
const RETRY_MS = 500;
/** Jobs with notices on their way; further ones are not told, as real services drop what they can not send. */
const MAX_OPEN = 200;

/**
 * Posts changes of jobs to the addresses that came with them, those of one job in order. Only loopback addresses are
 * called, because a stand-in must not reach into the network.
 */
export function startWebhooks(options: WebhooksOptions): void {
  const { verify: admit = () => Promise.resolve(true) } = options;
  const sending = new Map<string, Promise<boolean>>();
  options.runner.onChange((job) => {
    const hook = loopbackUrl(options.urlOf(job));
    if (hook === null || (sending.size >= MAX_OPEN && !sending.has(job.id))) return;
    const notice = options.payloadOf(job);
    if (notice !== null) {
      const body = JSON.stringify(notice);
      const before = sending.get(job.id) ?? admit(hook);
      const sent = before.then(async (isTaken) => {
        if (isTaken) await send(options, { hook, body, job });
        return isTaken;
      });
      sending.set(job.id, sent);
    }
    if (hasEnded(job)) void sending.get(job.id)?.then(() => sending.delete(job.id));
  });
}

interface Sending {
  readonly hook: URL;
  readonly body: string;
  readonly job: Job;
}

async function send(
  { sign, tries = 1, logger }: WebhooksOptions,
  { hook, body, job }: Sending,
): Promise<void> {
  for (let done = 1; ; done += 1) {
    const isTaken = await post(hook, { body, headers: sign?.(body, job) ?? {} }, logger);
    if (isTaken || done >= tries) return;
    await pause(RETRY_MS * 2 ** done, undefined, { ref: false });
  }
}

async function post(
  url: URL,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
  logger: Logger,
): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) logger.warn({ status: response.status }, 'a notice was refused');
    return response.ok;
  } catch (error) {
    logger.warn({ error: toError(error) }, 'a notice could not be delivered');
    return false;
  }
}

/** Whether this change is one of the job's state, and not only of its progress. */
export function isStateChange(job: Job, runner: JobRunner): boolean {
  return hasEnded(job) || (job.state === 'running' && runner.progressOf(job) === 0);
}
