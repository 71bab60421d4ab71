import { badInput } from '../../../../platform/errors.ts';

/**
 * Where a follower of many tasks is: how far it has read each log. A cursor is opaque to clients, and small enough for a
 * header; tasks beyond `MAX_PLACES` go by one moment together.
 */
export interface Places {
  /** When it was written, in epoch milliseconds. */
  readonly madeAt: number;
  /** When its follower began, in epoch milliseconds: what had ended by then is nothing to it; 0: nobody knows of all tasks. */
  readonly beganAt: number;
  /** Of tasks that are not listed, everything up to this moment was read, in epoch milliseconds; 0: nothing. */
  readonly floor: number;
  /** Task -> the last entry that was read; 0: none yet. */
  readonly seqs: ReadonlyMap<string, number>;
}

/** Most tasks that are listed: six kilobytes of text. */
export const MAX_PLACES = 256;

const VERSION = 1;
const HEAD_BYTES = 19;
const ID_BYTES = 16;
/** Before the bytes, so that it is never taken for the number of an entry. */
const PREFIX = 'p';

/** The cursor of these places. */
export function writeCursor({ madeAt, beganAt, floor, seqs }: Places): string {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(VERSION);
  head.writeUIntBE(madeAt, 1, 6);
  head.writeUIntBE(beganAt, 7, 6);
  head.writeUIntBE(floor, 13, 6);
  const listed = [...seqs].flatMap(([id, seq]) => [idBytes(id), numberBytes(seq)]);
  return PREFIX + Buffer.concat([head, ...listed]).toString('base64url');
}

/** What a cursor says. BAD_USER_INPUT for what is none. */
export function readCursor(cursor: string): Places {
  const bytes = Buffer.from(cursor.slice(PREFIX.length), 'base64url');
  if (!cursor.startsWith(PREFIX) || bytes.length < HEAD_BYTES || bytes[0] !== VERSION) throw noCursor();
  const seqs = new Map<string, number>();
  for (let at = HEAD_BYTES; at < bytes.length;) {
    const id = bytes.toString('hex', at, at + ID_BYTES);
    const { value, end } = readNumber(bytes, at + ID_BYTES);
    seqs.set(id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'), value);
    if (seqs.size > MAX_PLACES) throw noCursor();
    at = end;
  }
  const [madeAt, beganAt, floor] = [1, 7, 13].map((at) => bytes.readUIntBE(at, 6)) as [
    number,
    number,
    number,
  ];
  return { madeAt, beganAt, floor, seqs };
}

function idBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** Seven bits a byte, the lowest first. */
function numberBytes(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start; at < Math.min(bytes.length, start + 5); at += 1) {
    const byte = bytes[at] ?? 0;
    value += (byte % 128) * 128 ** (at - start);
    if (byte < 128) return { value, end: at + 1 };
  }
  throw noCursor();
}

function noCursor(): Error {
  return badInput('after', 'after must be the cursor of an entry of tasksProgress');
}
