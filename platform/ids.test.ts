import { expect, it } from 'vitest';

import { readCell, derivedId, markId, newId } from './ids.ts';

it('gives ids without a mark to the first cell', () => {
  expect(readCell(newId())).toBe(0);
});

it('reads the cell that an id carries', () => {
  for (const cell of [1, 15, 16, 255]) expect(readCell(markId(newId(), cell))).toBe(cell);
});

it('keeps the order of time in marked ids', () => {
  const ids = Array.from({ length: 100 }, () => newId());
  const marked = ids.map((id) => markId(id, 7));
  expect(marked.map((id) => id.slice(0, 13))).toEqual(ids.map((id) => id.slice(0, 13)));
});

it('knows no cell of ids that Kiln does not draw', () => {
  for (const id of [derivedId('a text'), crypto.randomUUID(), 'abc', '']) expect(readCell(id)).toBeNull();
});
