import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded } from '../../jobs/job.ts';
import type { Job } from '../../jobs/job.ts';

export interface NotifierOptions {
  readonly runner: JobRunner;
  /** The Task JSON of a job. */
  readonly view: (job: Job) => object;
  readonly logger: Logger;
}

const TIMEOUT_MS = 5_000;
/** Jobs with notices on their way; further ones are not told, as the real proxy drops what it cannot send. */
const MAX_OPEN = 200;

/**
 * Posts each change of a job to its notifyHook: unsigned, never repeated, in order. Only loopback addresses are called,
 * because a stand-in must not reach into the network.
 */
export function startNotifier({ runner, view, logger }: NotifierOptions): void {
  const sending = new Map<string, Promise<void>>();
  runner.onChange((job) => {
    const hook = loopbackUrl(job.input['notifyHook']);
    if (hook === null || (sending.size >= MAX_OPEN && !sending.has(job.id))) return;
    const body = JSON.stringify(view(job));
    const sent = (sending.get(job.id) ?? Promise.resolve()).then(() => post(hook, body, logger));
    sending.set(job.id, sent);
    if (hasEnded(job)) void sent.then(() => sending.delete(job.id));
  });
}

async function post(url: URL, body: string, logger: Logger): Promise<void> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) logger.warn({ status: response.status }, 'a notifyHook refused the notice');
  } catch (error) {
    logger.warn({ error: toError(error) }, 'a notifyHook could not be reached');
  }
}

function loopbackUrl(value: unknown): URL | null {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  return url !== null && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) ? url : null;
}
