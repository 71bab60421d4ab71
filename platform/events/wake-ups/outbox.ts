import { AppError } from '../../errors.ts';

/**
 * Wake-ups that wait to be sent: the latest version per topic and key, so that a key that changes a hundred times
 * between two batches is one entry. Pure; sending is in sender.ts.
 */
export type Outbox = ReturnType<typeof createOutbox>;

/** The content of one payload: its sender, whether entries were dropped, and [topic, key, version] entries. */
export interface Message {
  readonly origin: string;
  readonly gap: boolean;
  readonly entries: readonly (readonly [topic: string, key: string, version: number])[];
}

/** Bytes of the entries of one payload: NOTIFY refuses 8,000, and the payload has a frame. */
const PAYLOAD_BYTES = 7_800;
/** Longest topic or key; ids are much shorter. */
const MAX_NAME_LENGTH = 500;

/** `origin` identifies the sending process, which ignores its own payloads; at most `capacity` keys wait. */
export function createOutbox(origin: string, capacity = 100_000) {
  // Insertion order is age.
  const waiting = new Map<string, readonly [string, string, number]>();
  let gap = false;

  function add(topic: string, key: string, version: number): void {
    const name = JSON.stringify([topic, key]);
    const known = waiting.get(name);
    if (known && known[2] >= version) return;
    waiting.set(name, [topic, key, version]);
    if (waiting.size <= capacity) return;
    // The other processes are told that entries were dropped, so that they read everything again.
    const [oldest] = waiting.keys();
    if (oldest !== undefined) waiting.delete(oldest);
    gap = true;
  }

  function takePayload(): string {
    const entries: Message['entries'][number][] = [];
    let bytes = 0;
    for (const [name, entry] of waiting) {
      // Bytes, not characters; JSON has escaped the name already.
      const more = Buffer.byteLength(name) + 24;
      if (entries.length > 0 && bytes + more > PAYLOAD_BYTES - 200) break;
      bytes += more;
      entries.push(entry);
      waiting.delete(name);
    }
    const payload = JSON.stringify({ origin, gap, entries } satisfies Message);
    gap = false;
    return payload;
  }

  return {
    add(topic: string, key: string, version: number): void {
      if (topic.length > MAX_NAME_LENGTH || key.length > MAX_NAME_LENGTH || !Number.isSafeInteger(version)) {
        throw new AppError('INTERNAL', `cannot publish ${topic.slice(0, 50)} ${key.slice(0, 50)}`);
      }
      add(topic, key, version);
    },
    get size() {
      return waiting.size + Number(gap);
    },
    /** Removes at most `limit` payloads, ready for NOTIFY. */
    take(limit: number): string[] {
      const payloads: string[] = [];
      while (payloads.length < limit && (waiting.size > 0 || gap)) payloads.push(takePayload());
      return payloads;
    },
    /** Puts payloads back that could not be sent. Newer versions win. */
    putBack(payloads: readonly string[]): void {
      for (const payload of payloads) {
        const message = readMessage(payload);
        if (message?.gap) gap = true;
        for (const entry of message?.entries ?? []) add(...entry);
      }
    },
  };
}

/** Parses a payload; undefined when it is not one of ours (any database user may NOTIFY). */
export function readMessage(payload: string): Message | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    // Not ours: the caller logs it.
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { origin, gap, entries } = value as Partial<Record<keyof Message, unknown>>;
  if (typeof origin !== 'string' || typeof gap !== 'boolean' || !Array.isArray(entries)) return undefined;
  return entries.every(isEntry) ? { origin, gap, entries } : undefined;
}

function isEntry(entry: unknown): entry is Message['entries'][number] {
  if (!Array.isArray(entry) || entry.length !== 3) return false;
  return typeof entry[0] === 'string' && typeof entry[1] === 'string' && typeof entry[2] === 'number';
}
