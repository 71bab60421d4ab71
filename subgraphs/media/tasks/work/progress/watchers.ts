import { LRUCache } from 'lru-cache';

import { toError } from '../../../../../platform/errors.ts';
import { newId } from '../../../../../platform/ids.ts';
import { createLoop, type Loop } from '../../../../../platform/process/loop.ts';
import type { AttemptKey } from '../../../domain/attempt.ts';
import type { WatchedProgress } from '../../../providers/contract/provider.ts';
import { endWatch, leaseWatches } from '../../storage/watch-store.ts';
import { connectionFor, toAttemptKey } from '../attempts/attempt-context.ts';
import { type PollContext, type PollDependencies, createReporting } from './poll-context.ts';
import { storePreview, type ProgressReport } from './progress-writer.ts';
import { createReport } from './progress.ts';

/**
 * Follows running attempts over the progress streams of their upstreams, where those have one. Progress is reported, and
 * the end of a stream makes the attempt due; only polling decides its state. So a stream may be lost, late or wrong.
 */
export type Watchers = ReturnType<typeof createWatchers>;

/** Most streams at once in this process; further attempts are only polled. */
const MAX_STREAMS = 256;
/** Seconds that the lease of a stream lasts; then another process may take it over. */
const WATCH_LEASE_SECONDS = 15;
/** Pause before an attempt whose stream ended is followed again, if it still runs. */
const PAUSE_MS = 10_000;
/** Most ended streams remembered for that pause. */
const MAX_PAUSING = 2_000;

interface Stream {
  readonly key: AttemptKey;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Makes the watchers of one worker; `onEnd` is called when a stream has ended. */
export function createWatchers(dependencies: PollDependencies, onEnd: () => void) {
  const { database, logger } = dependencies;
  const watcher = newId();
  const streams = new Map<string, Stream>();
  const pausing = new LRUCache<string, true>({ max: MAX_PAUSING, ttl: PAUSE_MS });

  async function stream(context: PollContext, signal: AbortSignal): Promise<void> {
    const key = toAttemptKey(context.due);
    const leased = await leaseWatches(database, [key], { watcher, seconds: WATCH_LEASE_SECONDS });
    if (leased.length === 0) return;
    try {
      await watch(dependencies, context, signal);
    } finally {
      await endWatch(database, key, watcher);
    }
    onEnd();
  }
  const renewal = createRenewal(dependencies, watcher, streams);
  return {
    start: (): void => renewal.start(),
    /** Follows a running attempt, unless a process does already or there is no room. */
    follow(context: PollContext): void {
      const { due, capability } = context;
      const { reference } = due;
      if (capability.watch === undefined || due.watched || streams.has(reference)) return;
      if (streams.size >= MAX_STREAMS || pausing.has(reference)) return;
      const controller = new AbortController();
      const done = stream(context, controller.signal)
        .catch((error: unknown) => {
          if (controller.signal.aborted) return;
          logger.warn({ error: toError(error), reference }, 'the stream of an upstream failed');
        })
        .finally(() => {
          streams.delete(reference);
          pausing.set(reference, true);
        });
      streams.set(reference, { key: toAttemptKey(due), controller, done });
    },
    async stop(): Promise<void> {
      await renewal.stop();
      const all = [...streams.values()];
      for (const { controller } of all) controller.abort(new Error('the worker stops'));
      await Promise.allSettled(all.map(({ done }) => done));
    },
  };
}

/** Renews the leases of our streams, and ends streams whose attempt has ended or is followed by another process. */
function createRenewal(
  { database, logger }: PollDependencies,
  watcher: string,
  streams: ReadonlyMap<string, Stream>,
): Loop {
  async function tick(): Promise<void> {
    const all = [...streams.values()];
    const keys = all.map(({ key }) => key);
    const leased = await leaseWatches(database, keys, { watcher, seconds: WATCH_LEASE_SECONDS });
    const ours = new Set(leased.map(formatName));
    for (const { key, controller } of all) {
      if (!ours.has(formatName(key)))
        controller.abort(new Error('the attempt has ended, or others follow it'));
    }
  }
  return createLoop({ tick, everyMs: (WATCH_LEASE_SECONDS * 1000) / 3, logger, name: 'watchers' });
}

function formatName({ taskId, step, number }: AttemptKey): string {
  return `${taskId}/${step}/${number}`;
}

/** One stream, for as long as its attempt may take. */
async function watch(
  dependencies: PollDependencies,
  { due, binding, capability }: PollContext,
  signal: AbortSignal,
): Promise<void> {
  let shown = { stage: due.taskStage, progress: due.taskProgress };
  let newest: WatchedProgress | null = null;
  const nextReport = (watched: WatchedProgress): ProgressReport | null => {
    const before = { ...due, watched: false, taskStage: shown.stage, taskProgress: shown.progress };
    const { progress, stage } = watched;
    const reporting = createReporting(dependencies, { due, binding });
    const report = createReport(reporting, before, { state: 'running', progress, stage });
    if (report === null || signal.aborted) return null;
    shown = report;
    return report;
  };
  const isPreviewDue = createPreviewPace();
  const show = (watched: WatchedProgress): void => {
    newest = watched;
    const report = nextReport(watched);
    if (report !== null) dependencies.progress.report(report);
    const { image } = watched;
    if (image === undefined || !isPreviewDue()) return;
    const { owner, taskId } = due;
    void storePreview(dependencies, { image, owner, taskId }, async (previewed) => {
      const progress = Math.max(watched.progress, newest?.progress ?? 0);
      const shows = nextReport({ progress, stage: previewed(watched.stage) });
      if (shows !== null) await dependencies.progress.write(shows);
      // What came meanwhile is what goes on now.
      const after = newest === watched || newest === null ? null : nextReport(newest);
      if (after !== null) dependencies.progress.report(after);
    });
  };
  await capability.watch?.(
    due.handle ?? {},
    {
      connection: connectionFor(binding, due.stepInput),
      signal: AbortSignal.any([signal, AbortSignal.timeout(binding.attemptTimeoutSeconds * 1000)]),
    },
    show,
  );
}

/** Milliseconds between two previews of an attempt at least; long ones have fewer: each comes a tenth of the time later. */
const PREVIEW_MS = 2_000;

function createPreviewPace(): () => boolean {
  const start = performance.now();
  let next = start;
  return () => {
    const now = performance.now();
    if (now < next) return false;
    next = now + Math.max(PREVIEW_MS, (now - start) / 10);
    return true;
  };
}
