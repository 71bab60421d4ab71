/**
 * Which origins have failed several times in a row. Safe calls to such an origin are not repeated: what is away for a minute would
 * otherwise be asked four times by every call.
 */
export interface FailingOrigins {
  /** Whether the origin answers often enough for a call to it to be repeated. */
  mayRetry(origin: string): boolean;
  note(origin: string, outcome: 'answered' | 'failed'): void;
}

/** Failures in a row after which nothing is repeated. */
const MAX_FAILURES = 5;
/** Most origins that are remembered; the oldest is forgotten first. */
const MAX_ORIGINS = 1_000;

/** Makes the memory of one client; it holds only origins whose last call failed. */
export function createFailingOrigins(): FailingOrigins {
  const failures = new Map<string, number>();
  return {
    mayRetry: (origin) => (failures.get(origin) ?? 0) < MAX_FAILURES,
    note(origin, outcome) {
      const count = failures.get(origin) ?? 0;
      failures.delete(origin);
      if (outcome === 'answered') return;
      failures.set(origin, count + 1);
      const [oldest] = failures.keys();
      if (failures.size > MAX_ORIGINS && oldest !== undefined) failures.delete(oldest);
    },
  };
}
