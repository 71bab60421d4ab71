import { describe, expect, it } from 'vitest';

import { kept, merged } from './arrivals.ts';

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
