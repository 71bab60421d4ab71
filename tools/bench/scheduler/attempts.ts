import type { CircuitBreaker } from '../../../subgraphs/media/generators/breakers/circuit-breaker.ts';
import type { Wire } from './providers.ts';

/** Running attempts in memory. */

/** A running attempt. */
export interface Attempt {
  readonly wire: Upstream;
  startedAt: number;
  finishesAt: number;
  dueAt: number;
  failures: number;
}

/** A provider's kind of work in a simulation. */
export interface Upstream extends Wire {
  readonly breaker: CircuitBreaker;
  readonly calls: number[];
}

/** Attempts by the millisecond in which they are due; taken in that order, as the index on the table has it. */
export function createAttempts(now: () => number) {
  const byTime = new Map<number, Attempt[]>();
  /** Nothing is due before it. */
  let earliest = 0;
  return {
    put(attempt: Attempt, inMs: number): void {
      attempt.dueAt = now() + Math.max(1, Math.round(inMs));
      const others = byTime.get(attempt.dueAt);
      if (others === undefined) byTime.set(attempt.dueAt, [attempt]);
      else others.push(attempt);
    },
    take(limit: number): readonly Attempt[] {
      const taken: Attempt[] = [];
      while (earliest <= now() && taken.length < limit) {
        const some = byTime.get(earliest);
        if (some !== undefined) taken.push(...some.splice(0, limit - taken.length));
        if (some !== undefined && some.length > 0) break;
        byTime.delete(earliest);
        // What is put into this very millisecond is due in a later one.
        earliest += 1;
      }
      return taken;
    },
  };
}
