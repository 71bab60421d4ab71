import type { CompiledQuery } from 'kysely';
import { beforeEach, expect, it } from 'vitest';

import { taskNames } from '../../database/columns.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { createTaskReader } from './task-reader.ts';

/** What statements a reader sends: what the rows hold is tried with the whole engine. */

const asked: { readonly sql: string; readonly ids: readonly string[] }[] = [];
const database = {
  withoutPlugins: () => ({
    executeQuery({ sql, parameters }: CompiledQuery) {
      const [ids] = parameters as [readonly string[]];
      asked.push({ sql, ids });
      return Promise.resolve({ rows: ids.map((id) => ({ id })) });
    },
  }),
} as unknown as MediaDatabase;
beforeEach(() => void asked.splice(0));

const needs = (name: string) => ({ isNeeded: (member: string) => member === name });

it('sends one statement for all who need the same at the same time', async () => {
  const read = createTaskReader(database);
  const rows = await Promise.all([read(['a'], needs('state')), read(['b'], needs('state'))]);
  expect(asked.map(({ ids }) => ids)).toEqual([['a', 'b']]);
  expect(rows.map((found) => found.size)).toEqual([2, 2]);
});

it('prepares the first kinds of reads alone, and plans later ones each time', async () => {
  const read = createTaskReader(database);
  const names = taskNames.filter((name) => name !== 'id' && name !== 'owner');
  const kinds: string[][] = names
    .slice(0, 6)
    .flatMap((one) => names.slice(6, 12).map((other) => [one, other]));
  for (const kind of kinds) await read(['a'], { isNeeded: (member) => kind.includes(member) });
  const prepared = asked.map(({ sql }) => sql.startsWith('/* prepared: tasks.read-shared */'));
  // One of them is the read of everything.
  expect(prepared.filter(Boolean)).toHaveLength(31);
  expect(prepared.at(-1)).toBe(false);
  expect(asked.at(-1)?.sql).toMatch(/^\/\* tasks\.read-shared \*\//);
});
