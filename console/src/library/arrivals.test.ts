import { describe, expect, it } from 'vitest';

import { kept, merged } from './arrivals.ts';

const at = (second: number) => ({
  id: `id_${String(second).padStart(3, '0')}`,
  createdAt: new Date(Date.UTC(2026, 10, 24, 20, 0, second)).toISOString(),
});
const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

describe('what arrives by a feed', () => {
  it('stands in its place in whatever order it comes, and once', () => {
    const listed = [at(3), at(1)];
    const arrived = [at(5), at(2), at(4), at(3)];
    const { items, added } = merged(listed, arrived, false);
    expect(ids(items)).toEqual(ids([at(5), at(4), at(3), at(2), at(1)]));
    expect(added).toBe(3);
  });

  it('is by id where it was made in one moment', () => {
    const one = { ...at(1), id: 'a' };
    const other = { ...at(1), id: 'b' };
    expect(ids(merged([], [one, other], false).items)).toEqual(['b', 'a']);
    // Else by its time, whatever its id.
    const [early, late] = [
      { ...at(1), id: 'z' },
      { ...at(2), id: 'a' },
    ];
    expect(ids(merged([], [early, late], false).items)).toEqual(['a', 'z']);
  });

  it('is left out where it belongs to a page that is not loaded yet', () => {
    expect(merged([at(9), at(8)], [at(2)], true)).toEqual({ items: [at(9), at(8)], added: 0 });
    expect(merged([at(9), at(8)], [at(2)], false).added).toBe(1);
  });

  it('leaves the list the object it is where nothing is new', () => {
    const listed = [at(1)];
    expect(merged(listed, [at(1)], false).items).toBe(listed);
  });

  it('is kept as it was last, and no more of it than the bound', () => {
    const before = new Map([at(1), at(2)].map((item) => [item.id, { ...item, state: 'QUEUED' }]));
    const after = kept(
      before,
      [
        { ...at(2), state: 'RUNNING' },
        { ...at(3), state: 'QUEUED' },
      ],
      2,
    );
    expect([...after.values()].map(({ id, state }) => [id, state])).toEqual([
      [at(3).id, 'QUEUED'],
      [at(2).id, 'RUNNING'],
    ]);
  });
});

describe('what arrives while a list is read', () => {
  const at = (id: string, createdAt: string) => ({ id, createdAt });
  const listed = [at('d', '4'), at('b', '2')];

  it('is put where it belongs, but for what is older than a list that has more', () => {
    const arrived = [at('a', '1'), at('b', '2'), at('c', '3'), at('e', '4'), at('f', '5')];
    expect(merged(listed, arrived, false)).toEqual({
      items: [at('f', '5'), at('e', '4'), at('d', '4'), at('c', '3'), at('b', '2'), at('a', '1')],
      added: 4,
    });
    const cut = merged(listed, arrived, true);
    expect([cut.items.map(({ id }) => id).join(''), cut.added]).toEqual(['fedcb', 3]);
    expect(merged(listed, [at('b', '9')], false)).toEqual({ items: listed, added: 0 });
    expect(merged([], [at('a', '1')], true).added).toBe(1);
  });

  it('is kept up to a bound, the newest', () => {
    const before = new Map(listed.map((one) => [one.id, one]));
    const ids = (map: ReadonlyMap<string, { readonly id: string }>) => [...map.keys()].join('');
    expect(ids(kept(before, [at('a', '1')], 3))).toBe('dba');
    expect(ids(kept(before, [at('c', '3'), at('a', '1')], 3))).toBe('dcb');
    expect(kept(before, [at('b', '7')], 3).get('b')).toEqual(at('b', '7'));
  });
});
