import { toError } from '../../../../../platform/errors.ts';
import { createLoop, type Loop } from '../../../../../platform/process/loop.ts';
import { isFinal } from '../../../domain/task.ts';
import { failureOf, UpstreamError, type JobStatus } from '../../../providers/contract/provider.ts';
import { leaseDue, scheduleNext, type DueAttempt, type NextPoll } from '../../storage/poll-store.ts';
import { CANCEL_TOPIC, POLL_TOPIC } from '../../storage/transactor.ts';
import { endAttempt, jobOf, type Engine } from '../attempts/attempt-context.ts';
import { finishAttempt } from '../results/finish.ts';
import { cancelUpstream } from './cancel-upstream.ts';
import { contextOf, type Scene } from './poll-context.ts';
import type { ProgressWriter } from './progress-writer.ts';
import { reportOf } from './progress.ts';
import { createWatchers, type Watchers } from './watchers.ts';

/**
 * Asks upstreams where running attempts stand. Due attempts are leased in batches over all workers; each has its own
 * next time, written back in batches. Cancelling runs through here too, because it needs the saved handle.
 */
export interface Poller {
  start(): void;
  /** Ends the loop; calls under way get this long, then their attempts are simply due again after the lease. */
  stop(graceSeconds: number): Promise<void>;
  /** Looks now. */
  wake(): void;
}

/** Most attempts in one lease. */
const MAX_LEASE = 300;

/** Makes the poller of one worker. */
export function createPoller(engine: Engine, progress: ProgressWriter): Poller {
  const { limits, database, logger } = engine;
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let next: NextPoll[] = [];
  /** More may be due than there was room for: the next free place is a reason to look. */
  let hungry = false;

  async function writeBack(): Promise<void> {
    const batch = next;
    next = [];
    await scheduleNext(database, batch);
  }
  async function tick(): Promise<void> {
    await writeBack();
    const limit = Math.min(MAX_LEASE, limits.maxPolls - running.size);
    if (limit <= 0) return;
    const batch = await leaseDue(database, { leaseSeconds: limits.leaseSeconds, limit });
    hungry = batch.length === limit;
    for (const due of batch) {
      const work = attend(engine, { due, progress, watchers, stopping: stopping.signal })
        .then((poll) => void (poll && next.push(poll)))
        .catch((error: unknown) => {
          // The lease runs out and the attempt is due again.
          logger.error({ error: toError(error), reference: due.reference }, 'a poll failed');
        })
        .finally(() => {
          running.delete(work);
          // Half of the places at a time: a lease of one attempt costs as much as one of many.
          if (hungry && running.size <= limits.maxPolls / 2) loop.wake();
        });
      running.add(work);
    }
  }
  const loop: Loop = createLoop({ tick, everyMs: limits.pollTickMs, logger, name: 'poller' });
  const watchers = createWatchers(engine, progress, () => loop.wake());
  const listening = [CANCEL_TOPIC, POLL_TOPIC].map((topic) => engine.bus.listen(topic, () => loop.wake()));
  return {
    start() {
      watchers.start();
      loop.start();
    },
    wake: () => loop.wake(),
    async stop(graceSeconds) {
      for (const unlisten of listening) unlisten();
      await loop.stop();
      const timer = setTimeout(() => stopping.abort(new Error('the worker stops')), graceSeconds * 1000);
      await Promise.allSettled([...running, watchers.stop()]);
      clearTimeout(timer);
      await writeBack();
    },
  };
}

interface Attendance {
  readonly due: DueAttempt;
  readonly progress: ProgressWriter;
  readonly watchers: Watchers;
  readonly stopping: AbortSignal;
}

/** Looks after one due attempt; answers when it is due again, or null when it is closed. */
async function attend(engine: Engine, attendance: Attendance): Promise<NextPoll | null> {
  const { due, stopping } = attendance;
  const binding = engine.registry.byId(due.binding);
  const capability = binding === null ? undefined : jobOf(binding, due.step_input.kind);
  if (binding === null || capability === undefined) {
    const failure = {
      code: 'LOST',
      message: 'its generator is no longer configured',
      retryable: true,
    } as const;
    await endAttempt(engine, due, { from: ['RUNNING'], failure });
    return null;
  }
  const scene: Scene = { engine, due, binding, capability, stopping };
  if (due.cancel_requested || isFinal(due.task_state)) {
    return (await cancelUpstream(scene))
      ? null
      : again(due, { inMs: 1_000, failures: due.poll_failures + 1 });
  }
  if (due.running_seconds > binding.stallSeconds) return giveUp(scene);
  let status: JobStatus;
  try {
    status = await capability.status(due.handle ?? {}, contextOf(scene));
  } catch (error) {
    stopping.throwIfAborted();
    return afterFailedPoll(scene, error);
  }
  return settle(scene, status, attendance);
}

async function settle(
  scene: Scene,
  status: JobStatus,
  { progress, watchers }: Pick<Attendance, 'progress' | 'watchers'>,
): Promise<NextPoll | null> {
  const { engine, due, capability } = scene;
  if (status.state === 'finished') {
    await finishAttempt(engine, { attempt: due, from: 'RUNNING', outcome: status.outcome });
    return null;
  }
  if (status.state === 'failed') {
    await endAttempt(engine, due, {
      from: ['RUNNING'],
      failure: failureOf(status.error),
      retryAfter: status.error.retryAfter,
    });
    return null;
  }
  const report = reportOf(due, status);
  if (report !== null) progress.report(report);
  watchers.follow(scene);
  return again(due, { inMs: capability.pollMs, failures: 0 });
}

/** A status call without an answer says nothing of the work: it is asked again, ever later, a bounded number of times. */
async function afterFailedPoll({ engine, due, capability }: Scene, error: unknown): Promise<NextPoll | null> {
  const failures = due.poll_failures + 1;
  const known = error instanceof UpstreamError;
  const lost = known && (error.code === 'LOST' || !error.retryable);
  if (lost || failures >= engine.limits.maxPollFailures) {
    const failure = known
      ? failureOf(error)
      : ({ code: 'LOST', message: 'the upstream can not be asked', retryable: true } as const);
    await endAttempt(engine, due, { from: ['RUNNING'], failure: { ...failure, retryable: true } });
    return null;
  }
  if (!known) engine.logger.warn({ error: toError(error), reference: due.reference }, 'a status call failed');
  const pauseMs = known && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0;
  const backOffMs = Math.min(30_000, capability.pollMs * 2 ** Math.min(failures, 10));
  return again(due, { inMs: Math.max(pauseMs, backOffMs), failures });
}

/** Stalled: what still runs upstream is cancelled where that works, and the next attempt may follow. */
async function giveUp(scene: Scene): Promise<null> {
  const { engine, due, capability, binding } = scene;
  await capability.cancel?.(due.handle ?? {}, contextOf(scene)).catch((error: unknown) => {
    engine.logger.warn(
      { error: toError(error), reference: due.reference },
      'stalled work could not be cancelled',
    );
  });
  const message = `no result within ${binding.stallSeconds} s`;
  await endAttempt(engine, due, {
    from: ['RUNNING'],
    failure: { code: 'TIMED_OUT', message, retryable: true },
  });
  return null;
}

function again(due: DueAttempt, { inMs, failures }: { inMs: number; failures: number }): NextPoll {
  return { taskId: due.task_id, step: due.step, number: due.number, inMs: Math.round(inMs), failures };
}
