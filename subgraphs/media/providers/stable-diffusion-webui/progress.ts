import { setTimeout as pause } from 'node:timers/promises';

import { UpstreamError } from '../../domain/failure.ts';
import type { StartContext, WatchedProgress } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { percentOfShare } from '../shared/reader.ts';
import { overallProgress, taskProgress, type TaskProgress } from './wire.ts';

/** What a server says of one task while its call is open. */

const PAUSE_MS = 1_000;
const TIMEOUT_MS = 5_000;

/** Reports the task's progress until the signal is aborted. What goes wrong meanwhile costs progress only. */
export async function followTask(
  exchange: Exchange,
  context: StartContext,
  report: (progress: WatchedProgress) => void | Promise<void>,
): Promise<void> {
  const { signal } = context;
  while (!signal.aborted) {
    await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const found = await quietly(() => readTask(exchange, context));
    const progress = found?.isActive === true ? percentOfShare(found.progress) : null;
    if (progress !== null && !signal.aborted) {
      await report({ progress, stage: 'rendering' });
    }
  }
}

/**
 * Interrupts the task if it is the one that is worked on now: the server can interrupt nothing but that, whosever it is.
 * One that waits can't be taken from its queue.
 */
export async function interruptTask(exchange: Exchange, context: StartContext): Promise<void> {
  const own = { ...context, signal: AbortSignal.timeout(TIMEOUT_MS) };
  await quietly(async () => {
    const found = await readTask(exchange, own);
    if (found === null || !found.isOurs || !found.isActive) return;
    await exchange(own, { method: 'POST', path: '/sdapi/v1/interrupt', json: {} });
  });
}

/** The task; a server without the page's own API (`--nowebui`) reports no task but what it does now. */
async function readTask(
  exchange: Exchange,
  context: StartContext,
): Promise<(TaskProgress & { readonly isOurs: boolean }) | null> {
  const answer = await exchange(context, {
    method: 'POST',
    path: '/internal/progress',
    json: { id_task: context.reference, live_preview: false },
    timeoutMs: TIMEOUT_MS,
    mayBePage: true,
  });
  if (answer.status < 400 && answer.json !== undefined) return { ...taskProgress(answer), isOurs: true };
  if (answer.status !== 404 && answer.status !== 405) return null;
  const overall = await exchange(context, {
    method: 'GET',
    path: '/sdapi/v1/progress?skip_current_image=true',
    timeoutMs: TIMEOUT_MS,
  });
  return overall.status < 400 ? { ...overallProgress(overall), isOurs: false } : null;
}

/** The value, or null when the upstream did not answer well. */
async function quietly<Value>(work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
}
