import { setTimeout as pause } from 'node:timers/promises';

import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded, type Job } from '../../jobs/job.ts';
import { loopbackUrl } from './inputs.ts';

export interface WebhooksOptions {
  readonly runner: JobRunner;
  /** The webhook URL of a job, unvalidated. */
  readonly readUrl: (job: Job) => unknown;
  /** The body for a change of a job; null for no webhook. */
  readonly makePayload: (job: Job) => object | null;
  /** More headers, computed for each attempt, because signatures contain the time. */
  readonly sign?: (body: string, job: Job) => Readonly<Record<string, string>>;
  /** Verifies a URL once per job before the first webhook (default: accepted). */
  readonly verify?: (hook: URL) => Promise<boolean>;
  /** Most attempts of a webhook (default 1). */
  readonly tries?: number;
  readonly logger: Logger;
}

const TIMEOUT_MS = 5_000;
const RETRY_MS = 500;
/** Most jobs with pending webhooks; further ones are dropped, as by real services. */
const MAX_OPEN = 200;

/**
 * Posts changes of jobs to their webhook URLs, in order per job. Only loopback URLs are called, because a stand-in must not
 * call other machines.
 */
export function startWebhooks(options: WebhooksOptions): void {
  const { verify: admit = () => Promise.resolve(true) } = options;
  const sending = new Map<string, Promise<boolean>>();
  options.runner.onChange((job) => {
    const hook = loopbackUrl(options.readUrl(job));
    if (hook === null || (sending.size >= MAX_OPEN && !sending.has(job.id))) return;
    const payload = options.makePayload(job);
    if (payload !== null) {
      const body = JSON.stringify(payload);
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
    if (!response.ok) logger.warn({ status: response.status }, 'a webhook was refused');
    return response.ok;
  } catch (error) {
    logger.warn({ error: toError(error) }, 'a webhook could not be delivered');
    return false;
  }
}

/** Whether the state has changed, and not only the progress. */
export function isStateChange(job: Job, runner: JobRunner): boolean {
  return hasEnded(job) || (job.state === 'running' && runner.readProgress(job) === 0);
}
