import type { LoopTimers } from '../../../platform/process/loop.ts';

/** A clock that goes as fast as the work of each of its milliseconds is done. */
export interface FakeClock extends LoopTimers {
  /** Milliseconds since it began. */
  readonly now: () => number;
  /** Resolves when so many milliseconds have passed. */
  readonly after: (ms: number) => Promise<void>;
  /** Lets so many milliseconds pass. */
  run(ms: number): Promise<void>;
}

interface Entry {
  run: (() => void) | null;
}

/** Makes it at 0. */
export function createFakeClock(): FakeClock {
  let now = 0;
  const entries = new Map<number, Entry[]>();
  const set = (run: () => void, inMs: number): Entry => {
    const at = now + Math.max(1, Math.ceil(inMs));
    const entry = { run };
    const others = entries.get(at);
    if (others === undefined) entries.set(at, [entry]);
    else others.push(entry);
    return entry;
  };
  return {
    now: () => now,
    set,
    clear: (timer) => void ((timer as Entry).run = null),
    after: (ms) => new Promise((resolve) => void set(resolve, ms)),
    async run(ms) {
      for (const end = now + ms; now < end;) {
        now += 1;
        const due = entries.get(now);
        if (due === undefined) continue;
        entries.delete(now);
        for (const { run } of due) run?.();
        // What follows at once from what was due is done before the next millisecond begins.
        await new Promise(setImmediate);
      }
    },
  };
}
