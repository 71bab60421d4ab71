import type { Binding } from '../generators/bindings/binding.ts';

/** Counting semaphores, one per binding: at most `concurrency` chats at once in this process, the rest waits in order. */
export interface Semaphores {
  /** Runs the work when a slot is free; gives up waiting when the signal is aborted. */
  run<Result>(binding: Binding, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

/** Makes the semaphores of this process: each process counts its own chats. */
export function createSemaphores(): Semaphores {
  const lines = new Map<string, { taken: number; readonly waiting: Set<() => void> }>();
  return {
    async run(binding, signal, work) {
      const line = lines.get(binding.id) ?? { taken: 0, waiting: new Set() };
      lines.set(binding.id, line);
      if (line.taken < binding.concurrency) line.taken += 1;
      // A chat that ends hands its slot over, so `taken` stays as it is.
      else await turn(line.waiting, signal);
      try {
        return await work();
      } finally {
        const [next] = line.waiting;
        if (next) next();
        else line.taken -= 1;
        if (line.taken === 0) lines.delete(binding.id);
      }
    },
  };
}

function turn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      waiting.delete(enter);
      signal.removeEventListener('abort', giveUp);
    };
    const enter = (): void => {
      leave();
      resolve();
    };
    const giveUp = (): void => {
      leave();
      reject(signal.reason as Error);
    };
    signal.throwIfAborted();
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.add(enter);
  });
}
