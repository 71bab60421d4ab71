import { randomUUID, randomUUIDv7 } from 'node:crypto';

/** Ids that Kiln makes. All are unguessable (74 random bits or more) and, where stored in order, time-ordered. */

/** A new UUID v7: tasks, media, executions. Time-ordered, so tables can be partitioned by it. */
export function newId(): string {
  return randomUUIDv7();
}

/** A trace id for one request: 32 hexadecimal digits, as W3C trace context wants it. */
export function newTraceId(): string {
  // Node draws the randomness of many UUIDs at once; a draw of its own costs a system call for every request.
  return randomUUID().replaceAll('-', '');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text can be one of our UUIDs at all; anything else is answered "not found" without asking the database. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
