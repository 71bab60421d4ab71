import { expect, it } from 'vitest';

import { fillRows } from './rows.ts';

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
