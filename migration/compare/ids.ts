/** Ids that both sides gave to the same thing: what the old one made is asked for by the new one's id. Pure. */

/** Ids of the old side, and the new side's for them. */
export interface IdPairs {
  /** Remembers what two answers to the same start gave. */
  learn(old: unknown, now: unknown): void;
  /** The target with the new side's ids. */
  translate(target: string): string;
}

const ID_FIELDS = new Set(['data', 'task_id', 'taskId', 'executionId', 'id', 'paymentId']);
/** Most pairs that are remembered. */
const MAX_PAIRS = 100_000;

/** An empty set of pairs. */
export function createIdPairs(): IdPairs {
  const pairs = new Map<string, string>();
  const learn = (old: unknown, now: unknown): void => {
    if (typeof old !== 'object' || typeof now !== 'object' || old === null || now === null) return;
    for (const [name, value] of Object.entries(old)) {
      const other = (now as Record<string, unknown>)[name];
      if (typeof value !== 'string' || typeof other !== 'string') learn(value, other);
      else if (ID_FIELDS.has(name) && value !== '' && pairs.size < MAX_PAIRS) pairs.set(value, other);
    }
  };
  return {
    learn,
    translate: (target) =>
      target.replaceAll(/[^/?&=]+/g, (part) => {
        const known = pairs.get(decoded(part));
        return known === undefined ? part : encodeURIComponent(known);
      }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
