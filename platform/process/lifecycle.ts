import pTimeout from 'p-timeout';

import { toError } from '../errors.ts';
import type { Logger } from './logger.ts';

/** The parts of a process: started in order, stopped in reverse, once. */
export interface Lifecycle {
  /**
   * Adds a running part and its stop, which may take `graceMs` (default: that of the options). While the process stops, the
   * part is stopped at once.
   */
  add(name: string, stop: () => Promise<void>, graceMs?: number): void;
  /** Stops every part, last added first. The same promise for every call; it never rejects (failures are logged). */
  stop(reason: string): Promise<void>;
  /**
   * SIGTERM and SIGINT stop the process with code 0 (1 when a part failed to stop); a second signal ends it at once
   * (the same one within a second counts as the first: npm repeats what the terminal has sent already); an uncaught
   * error is logged and stops it with code 1.
   */
  onSignals(): void;
  /** Aborted when stopping begins: a start under way should end. */
  readonly stopping: AbortSignal;
}

export interface LifecycleOptions {
  readonly logger: Logger;
  /** Most milliseconds for each part to stop; then the next part is stopped. */
  readonly graceMs: number;
}

interface Part {
  readonly name: string;
  readonly stop: () => Promise<void>;
  readonly graceMs: number;
}

/** Makes the lifecycle of one process; only main.ts files do. */
export function createLifecycle({ logger, graceMs: usualMs }: LifecycleOptions): Lifecycle {
  const parts: Part[] = [];
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  let isDrained = false;
  let exitCode = 0;

  async function stopPart({ name, stop, graceMs }: Part): Promise<void> {
    const startedAt = performance.now();
    try {
      await pTimeout(stop(), { milliseconds: graceMs, message: `still not stopped after ${graceMs} ms` });
      logger.debug({ part: name, ms: Math.round(performance.now() - startedAt) }, 'stopped a part');
    } catch (error) {
      exitCode = 1;
      logger.error({ part: name, error: toError(error) }, 'a part did not stop cleanly');
    }
  }

  async function stopAll(reason: string): Promise<void> {
    logger.info({ reason }, 'stopping');
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) await stopPart(part);
    isDrained = true;
    logger.info('stopped');
  }

  const lifecycle: Lifecycle = {
    stopping: stopping.signal,
    add(name, stop, graceMs = usualMs) {
      if (isDrained) void stopPart({ name, stop, graceMs });
      else parts.push({ name, stop, graceMs });
    },
    stop(reason) {
      stopped ??= stopAll(reason);
      stopping.abort();
      return stopped;
    },
    onSignals() {
      const end = endProcess(lifecycle, () => exitCode);
      process.on('SIGTERM', () => end('SIGTERM'));
      process.on('SIGINT', () => end('SIGINT'));
      const fail = (kind: string) => (error: unknown) => {
        exitCode = 1;
        logger.error({ error: toError(error) }, kind);
        if (!stopping.signal.aborted) end(kind);
      };
      process.on('uncaughtException', fail('an uncaught exception'));
      process.on('unhandledRejection', fail('an unhandled rejection'));
      // Nobody reads the log any more (EPIPE): a log line about it would fail the same way, again and again.
      for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    },
  };
  return lifecycle;
}

/** Milliseconds in which the same signal counts as a repetition. */
const REPEATED_SIGNAL_MS = 1_000;

function endProcess(lifecycle: Lifecycle, exitCode: () => number): (reason: string) => void {
  let first: { readonly reason: string; readonly at: number } | undefined;
  return (reason) => {
    if (first !== undefined) {
      if (reason === first.reason && performance.now() - first.at < REPEATED_SIGNAL_MS) return;
      // A second signal means not to wait: what is durable is in the database.
      process.exit(1);
    }
    first = { reason, at: performance.now() };
    void lifecycle.stop(reason).then(() => process.exit(exitCode()));
  };
}
