import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';

/** Ids that Kiln makes. But for those that are derived all have at least 74 random bits; stored ones are time-ordered. */

/** A new UUID v7: tasks, media, executions. Time-ordered, so tables can be partitioned by it. */
export function newId(): string {
  return randomUUIDv7();
}

/** The id that a text always has: a UUID v8 of its SHA-256. Whoever knows the text knows the id. */
export function derivedId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A trace id for one request: 32 hexadecimal digits, as in W3C trace context. */
export function newTraceId(): string {
  if (drawnFrom === drawn.length) {
    drawn = randomBytes(TRACE_ID_BYTES * 256);
    drawnFrom = 0;
  }
  drawnFrom += TRACE_ID_BYTES;
  return drawn.toString('hex', drawnFrom - TRACE_ID_BYTES, drawnFrom);
}

const TRACE_ID_BYTES = 16;
// Drawn for many ids at once, which saves a system call per request.
let drawn = Buffer.alloc(0);
let drawnFrom = 0;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID; anything else is "not found" without a query. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
