import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';

/** Ids that Kiln makes. But for those that are derived all have at least 64 random bits; stored ones are time-ordered. */

/** The cell that new ids of this process carry. */
let cell = 0;

/** Sets the cell (0 to 255) of all ids that this process makes from now on; called once, at its start. */
export function setCellOfNewIds(number: number): void {
  cell = number;
}

/**
 * A new id of a task, file or execution. Time-ordered, so tables can be partitioned by it. A UUID v7; in cells other than the
 * first a UUID v8 of the same order that carries the cell.
 */
export function newId(): string {
  const id = randomUUIDv7();
  return cell === 0 ? id : markId(id, cell);
}

/** Puts a cell into a UUID v7: version 8, then the cell's two digits; variant b tells it from a derived id. Pure. */
export function markId(id: string, number: number): string {
  const digits = number.toString(16).padStart(2, '0');
  return `${id.slice(0, 14)}8${digits}${id.slice(17, 19)}b${id.slice(20)}`;
}

const MARKED = /^.{14}8([0-9a-f]{2})[0-9a-f]-b/i;
const UNMARKED = /^.{14}7[0-9a-f]{3}-[89ab]/i;

/** The cell that made an id; null when it is none that `newId` makes. Ids without a mark are of the first cell. Pure. */
export function readCell(id: string): number | null {
  if (!isUuid(id)) return null;
  const digits = MARKED.exec(id)?.[1];
  if (digits !== undefined) return Number.parseInt(digits, 16);
  return UNMARKED.test(id) ? 0 : null;
}

/** The cell that made an id, where this process makes its ids for another one; null else. */
export function readOtherCell(id: string): number | null {
  const found = readCell(id);
  return found === cell ? null : found;
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

/** Ids as the database answers them, each once. */
export function distinctIds(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
