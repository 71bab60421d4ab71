import { expect, it } from 'vitest';

import { readSections, type Section } from './record-sections.ts';

/** A section of so many records, and with how much it was asked. */
function section(name: string, count: number): Section & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    name,
    asked,
    async read(after, limit) {
      asked.push([after, limit]);
      const from = after === null ? 0 : Number(after.split(':').at(-1)) + 1;
      const all = Array.from({ length: count }, (_, index) => ({
        kind: name,
        data: { index },
        cursor: `x:${index}`,
      }));
      return all.slice(from, from + limit);
    },
  };
}

it('records are read section by section, a page at a time, by cursors that name their section', async () => {
  const sections = [section('one', 2), section('none', 0), section('two', 3)];
  const pages: string[][] = [];
  for (let after: string | null = null, count = 0; count < 3; count += 1) {
    const page = await readSections(sections, after, 3);
    pages.push(page.map(({ cursor }) => cursor));
    after = page.at(-1)?.cursor ?? null;
  }
  expect(pages).toEqual([['one:x:0', 'one:x:1', 'two:x:0'], ['two:x:1', 'two:x:2'], []]);
  expect(sections.map(({ asked }) => asked)).toEqual([
    [[null, 3]],
    [[null, 1]],
    [
      [null, 1],
      ['x:0', 3],
      ['x:2', 3],
    ],
  ]);
  // A full page asks no further.
  const full = [section('one', 3), section('two', 1)];
  expect(await readSections(full, null, 3)).toHaveLength(3);
  expect(full[1]?.asked).toEqual([]);
  await expect(readSections(sections, 'three:0', 3)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    field: 'after',
  });
  expect(await readSections([], null, 3)).toEqual([]);
});

it('begins each further section at its beginning, and leaves what is kept as it is', async () => {
  const sections = [section('one', 2), section('two', 1)];
  expect(await readSections(sections, 'one:x:0', 5)).toEqual([
    { kind: 'one', data: { index: 1 }, cursor: 'one:x:1' },
    { kind: 'two', data: { index: 0 }, cursor: 'two:x:0' },
  ]);
  expect(sections.map(({ asked }) => asked)).toEqual([[['x:0', 5]], [[null, 4]]]);
});
