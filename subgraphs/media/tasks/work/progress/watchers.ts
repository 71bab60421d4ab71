import { toError } from '../../../../../platform/errors.ts';
import { newId } from '../../../../../platform/ids.ts';
import { createLoop, type Loop } from '../../../../../platform/process/loop.ts';
import type { AttemptKey } from '../../../domain/attempt.ts';
import type { WatchedProgress } from '../../../providers/contract/provider.ts';
import { endWatch, holdWatches } from '../../storage/watch-store.ts';
import { connectionFor, keyOf } from '../attempts/attempt-context.ts';
import type { PollContext, PollDependencies } from './poll-context.ts';
import { reportOf } from './progress.ts';

/**
 * Follows running attempts over the streams of their upstreams, where those have one. What comes is shown, and the end
 * of a stream makes the attempt due; the poller asks all the same, and its answer alone decides. So a stream may be
 * lost, late or wrong, and nothing is.
 */
export interface Watchers {
  start(): void;
  /** Follows an attempt that was just found running, unless somebody does already or there is no room. */
  follow(context: PollContext): void;
  stop(): Promise<void>;
}

/** Most streams at once in this process; further attempts are only asked. */
const MAX_STREAMS = 256;
/** Seconds after which the stream of a process that is gone may be taken over. */
const HOLD_SECONDS = 15;
/** Pause before an attempt whose stream ended is followed again, if it still runs. */
const REST_MS = 10_000;
/** Most ended streams remembered for that pause. */
const MAX_RESTING = 2_000;

interface Stream {
  readonly key: AttemptKey;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Makes the watchers of one worker; `onEnd` is called when a stream has ended. */
export function createWatchers(dependencies: PollDependencies, onEnd: () => void): Watchers {
  const { database, logger } = dependencies;
  const watcher = newId();
  const streams = new Map<string, Stream>();
  const resting = new Map<string, number>();

  function rest(reference: string): void {
    resting.set(reference, performance.now() + REST_MS);
    const [oldest] = resting.keys();
    if (resting.size > MAX_RESTING && oldest !== undefined) resting.delete(oldest);
  }
  async function stream(context: PollContext, signal: AbortSignal): Promise<void> {
    const key = keyOf(context.due);
    const held = await holdWatches(database, [key], { watcher, seconds: HOLD_SECONDS });
    if (held.length === 0) return;
    try {
      await watch(dependencies, context, signal);
    } finally {
      await endWatch(database, key, watcher);
    }
    onEnd();
  }
  const keeper = createKeeper(dependencies, watcher, streams);
  return {
    start: () => keeper.start(),
    follow(context) {
      const { due, capability } = context;
      const { reference } = due;
      if (capability.watch === undefined || due.watched || streams.has(reference)) return;
      if (streams.size >= MAX_STREAMS || (resting.get(reference) ?? 0) > performance.now()) return;
      const controller = new AbortController();
      const done = stream(context, controller.signal)
        .catch((error: unknown) => {
          if (controller.signal.aborted) return;
          logger.warn({ error: toError(error), reference }, 'the stream of an upstream failed');
        })
        .finally(() => {
          streams.delete(reference);
          rest(reference);
        });
      streams.set(reference, { key: keyOf(due), controller, done });
    },
    async stop() {
      await keeper.stop();
      const all = [...streams.values()];
      for (const { controller } of all) controller.abort(new Error('the worker stops'));
      await Promise.allSettled(all.map(({ done }) => done));
    },
  };
}

/** Keeps our hold on what we follow, and stops following what has ended or is followed by others. */
function createKeeper(
  { database, logger }: PollDependencies,
  watcher: string,
  streams: ReadonlyMap<string, Stream>,
): Loop {
  async function tick(): Promise<void> {
    const all = [...streams.values()];
    const keys = all.map(({ key }) => key);
    const held = await holdWatches(database, keys, { watcher, seconds: HOLD_SECONDS });
    const ours = new Set(held.map(nameOf));
    for (const { key, controller } of all) {
      if (!ours.has(nameOf(key))) controller.abort(new Error('the attempt has ended, or others follow it'));
    }
  }
  return createLoop({ tick, everyMs: (HOLD_SECONDS * 1000) / 3, logger, name: 'watchers' });
}

function nameOf({ taskId, step, number }: AttemptKey): string {
  return `${taskId}/${step}/${number}`;
}

/** One stream, for as long as its attempt may take. */
async function watch(
  { planner, progress }: PollDependencies,
  { due, binding, capability }: PollContext,
  signal: AbortSignal,
): Promise<void> {
  let shown = { stage: due.task_stage, progress: due.task_progress };
  const show = (watched: WatchedProgress): void => {
    const newest = { ...due, watched: false, task_stage: shown.stage, task_progress: shown.progress };
    const report = reportOf(planner, newest, { state: 'running', ...watched });
    if (report === null || signal.aborted) return;
    shown = report;
    progress.report(report);
  };
  await capability.watch?.(
    due.handle ?? {},
    {
      connection: connectionFor(binding, due.step_input),
      signal: AbortSignal.any([signal, AbortSignal.timeout(binding.attemptTimeoutSeconds * 1000)]),
    },
    show,
  );
}
