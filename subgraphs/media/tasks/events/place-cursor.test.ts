import { expect, it } from 'vitest';

import { newId } from '../../../../platform/ids.ts';
import { MAX_PLACES, readCursor, writeCursor } from './place-cursor.ts';

const NOW = Date.UTC(2026, 10, 24);
const createSeqs = (seqs: readonly number[]) => new Map(seqs.map((seq) => [newId(), seq]));
const EMPTY = writeCursor({ madeAt: NOW, beganAt: 0, floor: 0, seqs: new Map() });

it('says of each task how far its log was read', () => {
  const places = {
    madeAt: NOW,
    beganAt: NOW - 2,
    floor: NOW - 1,
    seqs: createSeqs([0, 1, 127, 128, 70_000, 2 ** 31 - 1]),
  };
  expect(readCursor(writeCursor(places))).toEqual(places);
});

it('names no task where none is open', () => {
  const places = { madeAt: NOW, beganAt: NOW - 1, floor: 7, seqs: new Map<string, number>() };
  expect(readCursor(writeCursor(places))).toEqual(places);
});

it('is no longer than a header may be, and safe in one', () => {
  const seqs = createSeqs(Array.from({ length: MAX_PLACES }, () => 5_000));
  const cursor = writeCursor({ madeAt: NOW, beganAt: 0, floor: 0, seqs });
  expect(cursor.length).toBeLessThan(6_500);
  expect(cursor).toMatch(/^p[\w-]+$/);
  expect(readCursor(cursor).seqs.size).toBe(MAX_PLACES);
  const more = writeCursor({ madeAt: NOW, beganAt: 0, floor: 0, seqs: new Map([...seqs, [newId(), 1]]) });
  expect(() => readCursor(more)).toThrow('must be the cursor');
});

const bytes = (...more: readonly number[]) => {
  const head = Buffer.from(EMPTY.slice(1), 'base64url');
  return `p${Buffer.concat([head, Buffer.alloc(16), Buffer.from(more)]).toString('base64url')}`;
};
const LATER_VERSION = `p${Buffer.from([2, ...Buffer.from(EMPTY.slice(1), 'base64url').subarray(1)]).toString('base64url')}`;

it('has numbers of five bytes at most, each to its end', () => {
  const five = [255, 255, 255, 255];
  expect([...readCursor(bytes(...five, 15)).seqs.values()]).toEqual([2 ** 32 - 1]);
  for (const broken of [bytes(), bytes(...five), bytes(...five, 255, 0)])
    expect(() => readCursor(broken)).toThrow('must be the cursor');
});

it.each(['', 'p', LATER_VERSION, '12', 'pAQ', `q${EMPTY.slice(1)}`, `${EMPTY}AAAA`])('is not %j', (text) => {
  expect(() => readCursor(text)).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT', field: 'after' }) as Error,
  );
});
