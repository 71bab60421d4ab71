import { describe, expect, it } from 'vitest';

import { batchReads } from './batched-reads.ts';

interface Row {
  readonly id: string;
}

/** A read whose statements the test answers itself, in the order they came. */
function manualRead() {
  const statements: { ids: readonly string[]; resolve(rows: Row[]): void; reject(error: Error): void }[] = [];
  const read = (ids: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    statements.push({ ids, resolve, reject });
    return promise;
  };
  const answer = (index: number) => {
    const statement = statements[index];
    statement?.resolve(statement.ids.filter((id) => id !== 'none').map((id) => ({ id })));
  };
  return { statements, read, answer };
}

const readId = ({ id }: Row): string => id;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('shared reads', () => {
  it('answers everybody of one turn from one statement that names each id once', async () => {
    const { statements, read, answer } = manualRead();
    const share = batchReads({ read, readId });
    const asked = [share(['a']), share(['b', 'a']), share(['none'])];
    await turn();
    expect(statements.map(({ ids }) => ids)).toEqual([['a', 'b', 'none']]);
    answer(0);
    const [one, two, three] = await Promise.all(asked);
    expect(one?.get('a')).toBe(two?.get('a'));
    expect(two?.get('b')).toEqual({ id: 'b' });
    expect(three?.get('none')).toBeUndefined();
  });

  it('lets who comes while enough statements run share the next, which begins after they asked', async () => {
    const { statements, read, answer } = manualRead();
    const share = batchReads({ read, readId, maxRunning: 1 });
    const first = share(['a']);
    await turn();
    const later = [share(['a']), share(['b'])];
    await turn();
    expect(statements).toHaveLength(1);
    answer(0);
    await first;
    await expect.poll(() => statements.length).toBe(2);
    expect(statements[1]?.ids).toEqual(['a', 'b']);
    answer(1);
    expect((await Promise.all(later)).map((rows) => [...rows.keys()])).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('gathers while a statement for many runs, and begins at once beside one for few', async () => {
    const { statements, read, answer } = manualRead();
    const share = batchReads({ read, readId });
    const few = share(['a']);
    await turn();
    const many = ['b', 'c', 'd'].map((id) => share([id]));
    await turn();
    expect(statements.map(({ ids }) => ids.length)).toEqual([1, 3]);
    answer(0);
    await few;
    const later = ['e', 'f'].map((id) => share([id]));
    await turn();
    expect(statements).toHaveLength(2);
    answer(1);
    await Promise.all(many);
    await expect.poll(() => statements.length).toBe(3);
    answer(2);
    expect((await Promise.all(later)).map((rows) => [...rows.keys()])).toEqual([
      ['e', 'f'],
      ['e', 'f'],
    ]);
  });

  it('does not wait for a statement that takes long', async () => {
    const { statements, read, answer } = manualRead();
    const share = batchReads({ read, readId });
    const slow = ['a', 'b', 'c'].map((id) => share([id]));
    await turn();
    const other = share(['d']);
    await expect.poll(() => statements.length).toBe(2);
    answer(1);
    expect([...(await other).keys()]).toEqual(['d']);
    answer(0);
    await Promise.all(slow);
  });

  it('splits what is too much for one statement, and passes a single large request whole', async () => {
    const { statements, read, answer } = manualRead();
    const share = batchReads({ read, readId, maxIds: 3, maxRunning: 9 });
    const asked = [share(['a', 'b', 'c', 'd', 'e']), share(['f', 'g']), share(['h']), share(['i'])];
    await expect.poll(() => statements.length).toBe(3);
    expect(statements.map(({ ids }) => ids)).toEqual([['a', 'b', 'c', 'd', 'e'], ['f', 'g', 'h'], ['i']]);
    for (const index of [0, 1, 2]) answer(index);
    expect((await Promise.all(asked)).map((rows) => rows.size)).toEqual([5, 3, 3, 1]);
  });

  it('fails those of a broken statement only, and goes on', async () => {
    const { statements, read, answer } = manualRead();
    const share = batchReads({ read, readId });
    const broken = [share(['a']), share(['b'])];
    await turn();
    statements[0]?.reject(new Error('the connection broke'));
    for (const promise of broken) await expect(promise).rejects.toThrow('the connection broke');
    const next = share(['a']);
    await turn();
    answer(1);
    expect((await next).get('a')).toEqual({ id: 'a' });
  });

  it('refuses requests beyond its bound, and asks nothing for no ids', async () => {
    const { statements, read, answer } = manualRead();
    const share = batchReads({ read, readId, maxWaiting: 2 });
    expect((await share([])).size).toBe(0);
    const asked = [share(['a']), share(['b'])];
    await expect(share(['c'])).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
    await turn();
    answer(0);
    await Promise.all(asked);
    expect(statements).toHaveLength(1);
  });
});
