import { toError } from '../../../../../platform/errors.ts';
import type { Logger } from '../../../../../platform/process/logger.ts';

/** Something done again and again: one run at a time, a pause between, at once when woken. */
export interface Loop {
  start(): void;
  /** Ends the loop after the run under way. */
  stop(): Promise<void>;
  wake(): void;
}

export interface LoopOptions {
  readonly tick: () => Promise<void>;
  /** Pause between runs in milliseconds. */
  readonly everyMs: number;
  readonly logger: Logger;
  /** For the log, when a run fails; the next one comes all the same. */
  readonly name: string;
}

/** Makes a loop that stands still until it is started; `everyMs` are milliseconds. */
export function createLoop({ tick, everyMs, logger, name }: LoopOptions): Loop {
  let stopped = true;
  let woken = false;
  let timer: NodeJS.Timeout | null = null;
  let current: Promise<void> | null = null;

  function schedule(inMs: number): void {
    if (stopped || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      current = run();
    }, inMs);
  }
  async function run(): Promise<void> {
    woken = false;
    try {
      await tick();
    } catch (error) {
      logger.error({ error: toError(error), loop: name }, 'a run of a loop failed');
    } finally {
      current = null;
      schedule(woken ? 0 : everyMs);
    }
  }
  return {
    start() {
      stopped = false;
      schedule(0);
    },
    wake() {
      woken = true;
      if (current !== null || stopped) return;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      schedule(0);
    },
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await current;
    },
  };
}
