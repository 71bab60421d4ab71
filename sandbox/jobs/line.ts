import { setTimeout as delay } from 'node:timers/promises';

import type { Pace } from './latency-profile.ts';

/** The waiting line of one wire: who may run now, in the order of coming. Holds ids, never jobs. */
export interface Line {
  /** Lines a job up; it runs once its waiting time is over and a place is free. */
  admit(id: string): void;
  /** Takes a job out, aborting its run when it had begun. */
  remove(id: string): void;
  /** A job's place; null when it is not in line. */
  placeOf(id: string): Readonly<Place> | null;
  /** Jobs in line or running. */
  size(): number;
  /** Aborts every run and resolves when each has let go. */
  stop(): Promise<void>;
}

/** What is known of a job that is in line or running. */
export interface Place {
  readonly abort: AbortController;
  /** 0 to 99. */
  progress: number;
  hasPreview: boolean;
}

export interface LineOptions {
  readonly pace: () => Pace;
  /** Runs one job to its end. Must not reject. */
  readonly run: (id: string, place: Place) => Promise<void>;
}

/** An empty line. */
export function createLine(options: LineOptions): Line {
  const places = new Map<string, Place>();
  const ready: string[] = [];
  const running = new Map<string, Promise<void>>();

  const pump = (): void => {
    while (running.size < options.pace().concurrency) {
      const id = ready.shift();
      if (id === undefined) return;
      const place = places.get(id);
      if (place === undefined) continue;
      const run = options.run(id, place).finally(() => {
        running.delete(id);
        places.delete(id);
        pump();
      });
      running.set(id, run);
    }
  };
  return {
    admit(id) {
      const place: Place = { abort: new AbortController(), progress: 0, hasPreview: false };
      places.set(id, place);
      const waited = delay(options.pace().queuedMs, undefined, { signal: place.abort.signal });
      const lineUp = () => {
        ready.push(id);
        pump();
      };
      waited.then(lineUp, () => places.delete(id)); // rejects only when it was removed while it waited
    },
    remove(id) {
      places.get(id)?.abort.abort();
      if (!running.has(id)) places.delete(id);
    },
    placeOf: (id) => places.get(id) ?? null,
    size: () => places.size,
    async stop() {
      ready.length = 0;
      for (const place of places.values()) place.abort.abort();
      await Promise.allSettled(running.values());
      places.clear();
    },
  };
}
