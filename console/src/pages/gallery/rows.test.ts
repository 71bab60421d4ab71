import { describe, expect, it } from 'vitest';

import { fillRows, measureShape, pieceBeside } from './rows.ts';

const space = { width: 400, target: 200, gap: 0, heading: 30 };
const square = (createdAt: string) => ({ media: { width: 10, height: 10, createdAt } });

it('fills rows of each day, the last of which keeps its height, under the name of the day', () => {
  const today = [0, 1, 2].map((second) => square(`2026-11-23T12:00:0${second}.000Z`));
  const before = square('2026-11-20T12:00:00.000Z');
  const rows = fillRows([...today, before], space);
  expect(rows.map(({ day, pieces, height }) => [day, pieces.length, height])).toEqual([
    ['2026-11-23T12:00:00.000Z', 0, 30],
    [null, 2, 200],
    [null, 1, 200],
    ['2026-11-20T12:00:00.000Z', 0, 30],
    [null, 1, 200],
  ]);
});

const SPACE = { width: 1_000, target: 200, gap: 10, heading: 30 };
const noon = (day: number) => new Date(2026, 10, day, 12).toISOString();
const piece = (width: number | null, height: number | null, createdAt = noon(27)) => ({
  media: { width, height, createdAt },
});

describe('rows of pieces', () => {
  it('are filled until they are about as high as wished, the last one not beyond that', () => {
    const pieces = Array.from({ length: 8 }, () => piece(200, 200));
    const rows = fillRows(pieces, SPACE);
    expect(rows.map((row) => [row.day, row.pieces.length, Math.round(row.height)])).toEqual([
      [noon(27), 0, 30],
      [null, 5, 192],
      [null, 3, 200],
    ]);
    // One more would be 158 pixels high, which is less than 85 % of 200.
    expect(fillRows(pieces.slice(0, 5), SPACE).map((row) => Math.round(row.height))).toEqual([30, 192]);
    expect(fillRows([], SPACE)).toEqual([]);
    const [, wide, narrow] = fillRows([piece(10_000, 100), piece(100, 100)], SPACE);
    expect([wide?.height, narrow?.height]).toEqual([10, 200]);
  });

  it('begin anew with every day', () => {
    const days = [noon(27), noon(27), noon(26), noon(24)];
    const rows = fillRows(
      days.map((day) => piece(100, 100, day)),
      SPACE,
    );
    expect(rows.map(({ day, pieces }) => day ?? pieces.length)).toEqual([
      noon(27),
      2,
      noon(26),
      1,
      noon(24),
      1,
    ]);
  });

  it('have a day from its first to its last moment in the time of the reader', () => {
    const at = (day: number, ...time: [number, number, number, number]) =>
      piece(100, 100, new Date(2026, 10, day, ...time).toISOString());
    const pieces = [
      at(27, 23, 59, 59, 999),
      at(27, 0, 0, 0, 0),
      at(26, 23, 59, 59, 999),
      at(26, 0, 30, 30, 30),
    ];
    expect(
      fillRows(pieces, SPACE).map(({ day, pieces: own }) => (day === null ? own.length : 'day')),
    ).toEqual(['day', 2, 'day', 2]);
    expect(fillRows(pieces.slice(1), SPACE)[0]?.day).toBe(pieces[1]?.media.createdAt);
  });

  it('give what has no image the shape of a card', () => {
    expect([piece(300, 200), piece(null, 200), piece(300, null), piece(300, 0)].map(measureShape)).toEqual([
      1.5, 1.6, 1.6, 1.6,
    ]);
  });

  it('lead by where the middle of a piece is, of whatever shape it and its row are', () => {
    const wide = [piece(300, 100), piece(100, 100), piece(100, 100)];
    const below = [100, 100, 300].map((width) => piece(width, 100, noon(26)));
    const rows = fillRows([...wide, ...below], SPACE);
    const down = wide.map((one) => below.indexOf(pieceBeside(rows, one, 1) ?? one));
    expect(down).toEqual([1, 2, 2]);
  });

  it('lead up and down to the piece whose middle is nearest, past the names of days', () => {
    const pieces = [noon(27), noon(27), noon(27), noon(26), noon(26)].map((day) => piece(100, 100, day));
    const rows = fillRows(pieces, SPACE);
    const beside = (index: number, step: -1 | 1) => {
      const found = pieces[index] && pieceBeside(rows, pieces[index], step);
      return found === undefined ? null : pieces.indexOf(found);
    };
    expect([0, 1, 2].map((index) => beside(index, 1))).toEqual([3, 4, 4]);
    expect([3, 4].map((index) => beside(index, -1))).toEqual([0, 1]);
    expect([beside(0, -1), beside(4, 1), pieceBeside(rows, piece(1, 1), 1)]).toEqual([null, null, undefined]);
  });
});
