import { afterEach, expect, it } from 'vitest';

import {
  derivedId,
  isUuid,
  markId,
  newId,
  newTraceId,
  readCell,
  readOtherCell,
  setCellOfNewIds,
} from './ids.ts';

afterEach(() => setCellOfNewIds(0));

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

it('marks new ids with the cell of the process, and tells those of other cells', () => {
  const first = newId();
  expect(readOtherCell(first)).toBeNull();
  setCellOfNewIds(18);
  const other = newId();
  expect([readCell(other), readOtherCell(other), readOtherCell(first)]).toEqual([18, null, 0]);
  setCellOfNewIds(0);
  expect(readOtherCell(other)).toBe(18);
  expect(readOtherCell('abc')).toBeNull();
});

it('derives the same UUID from the same text', () => {
  const id = derivedId('a text');
  expect(id).toBe('734194ed-e5b0-83e6-84d6-3cb95a682ca1');
  expect(isUuid(id)).toBe(true);
  expect(derivedId('another')).not.toBe(id);
});

it('draws a trace id anew each time, of 32 hexadecimal digits', () => {
  const ids = Array.from({ length: 1_000 }, newTraceId);
  expect(ids.filter((id) => !/^[0-9a-f]{32}$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(1_000);
});
