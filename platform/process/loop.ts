import { toError } from '../errors.ts';
import { outsideSpans } from '../tracing/span.ts';
import type { Logger } from './logger.ts';

/** Repeats something in the background: one run at a time, with a pause between runs. */
export interface Loop {
  /** Starts it; the first run begins after so many milliseconds (default: at once). */
  start(afterMs?: number): void;
  /** Ends the loop after the run under way. */
  stop(): Promise<void>;
  /** Runs again as soon as the run under way has ended. */
  wake(): void;
}

export interface LoopOptions {
  readonly tick: () => Promise<void>;
  /** Pause between runs in milliseconds, or how to find it before each pause. */
  readonly everyMs: number | (() => number);
  readonly logger: Logger;
  /** Names the loop in the log when a run fails; a failure does not end the loop. */
  readonly name: string;
  /** How it waits (default: the timers of this process); a simulation has its own. */
  readonly timers?: LoopTimers;
}

/** What waits for a loop. */
export interface LoopTimers {
  set(run: () => void, inMs: number): unknown;
  clear(timer: unknown): void;
}

const OWN_TIMERS: LoopTimers = {
  set: (run, inMs) => setTimeout(run, inMs),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Makes a loop that does nothing until it is started. */
export function createLoop({ tick, everyMs, logger, name, timers = OWN_TIMERS }: LoopOptions): Loop {
  let stopped = true;
  let woken = false;
  let failures = 0;
  let timer: unknown = null;
  let current: Promise<void> | null = null;

  function schedule(inMs: number): void {
    if (stopped || timer !== null || current !== null) return;
    timer = outsideSpans(() =>
      timers.set(() => {
        timer = null;
        current = run();
      }, inMs),
    );
  }
  async function run(): Promise<void> {
    woken = false;
    try {
      await tick();
      failures = 0;
    } catch (error) {
      failures += 1;
      // A database that is away for an hour must not fill the log.
      logger[failures === 1 ? 'error' : 'debug'](
        { error: toError(error), loop: name },
        'a run of a loop failed',
      );
    } finally {
      current = null;
      schedule(woken ? 0 : typeof everyMs === 'number' ? everyMs : everyMs());
    }
  }
  return {
    start(afterMs = 0) {
      stopped = false;
      schedule(afterMs);
    },
    wake() {
      woken = true;
      if (current !== null || stopped) return;
      if (timer !== null) timers.clear(timer);
      timer = null;
      schedule(0);
    },
    async stop() {
      stopped = true;
      if (timer !== null) timers.clear(timer);
      timer = null;
      await current;
    },
  };
}
