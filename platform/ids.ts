import { randomBytes, randomUUIDv7 } from 'node:crypto';

/** Ids that Kiln makes. All have at least 74 random bits; stored ones are time-ordered. */

/** A new UUID v7: tasks, media, executions. Time-ordered, so tables can be partitioned by it. */
export function newId(): string {
  return randomUUIDv7();
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
