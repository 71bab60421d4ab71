import { expect, it } from 'vitest';

import type { MediaPartsFragment, TaskPartsFragment } from '../../../api/documents/operations.ts';
import type { Batch, Cell } from '../../../work/batches.ts';
import { arrangeGrid } from './sheet.tsx';
import { chosenShot, isWorking, shotBeside, listShots, shownBatches } from './shots.ts';

const batch = (id: string, tasks: readonly string[], cell?: Cell): Batch => ({
  id,
  owner: 'anon',
  kind: 'IMAGE',
  generator: 'g',
  model: 'm',
  modelName: 'Model',
  values: {},
  tasks,
  at: '2026-11-26T00:00:00Z',
  ...(cell === undefined ? {} : { cell }),
});

/** As much of a task as the stage looks at. */
const task = (id: string, state: string, outputs: readonly string[]) =>
  ({
    id,
    state,
    outputs: outputs.map((media) => ({ id: media }) as MediaPartsFragment),
  }) as unknown as TaskPartsFragment;

it('every result is a shot of its own, and work that has none is one', () => {
  const tasks = new Map([
    ['t1', { task: task('t1', 'SUCCEEDED', ['f1', 'f2']) }],
    ['t2', { task: task('t2', 'RUNNING', []) }],
  ]);
  const shots = listShots([batch('b2', ['t2', 't3']), batch('b1', ['t1'])], tasks);
  expect(shots.map(({ id }) => id)).toEqual(['t2', 't3', 'f1', 'f2']);
  expect(shots.map(isWorking)).toEqual([true, true, false, false]);
  expect(shotBeside(shots, 'f1', 1)?.id).toBe('f2');
  expect(shotBeside(shots, 'f2', 1)).toBeUndefined();
});

it('what was chosen while it was made is still chosen when it is there; what is gone gives way to the newest', () => {
  const tasks = new Map([['t1', { task: task('t1', 'SUCCEEDED', ['f1', 'f2']) }]]);
  const shots = listShots([batch('b1', ['t1'])], tasks);
  expect(chosenShot(shots, 't1')?.id).toBe('f1');
  expect(chosenShot(shots, 'f2')?.id).toBe('f2');
  expect([chosenShot(shots, null)?.id, chosenShot(shots, 'deleted')?.id]).toEqual(['f1', 'f1']);
});

const cell = (x: unknown, y: unknown): Cell => ({
  sheet: 's',
  x: { name: 'seed', value: x },
  y: { name: 'aspectRatio', value: y },
});

it('a sheet counts as one submission, and each of its results has a column and a row', () => {
  const sheet = [
    batch('1', ['a'], cell(1, '1:1')),
    batch('2', ['b'], cell(2, '1:1')),
    batch('3', ['c'], cell(2, '3:2')),
  ];
  expect(shownBatches([...sheet, batch('4', ['d']), batch('5', ['e'])], 2).map(({ id }) => id)).toEqual([
    '1',
    '2',
    '3',
    '4',
  ]);
  const { columns, rows } = arrangeGrid(listShots(sheet, new Map()));
  expect(columns.map(({ varied }) => varied.value)).toEqual([1, 2]);
  expect(rows.map(({ varied, shots }) => [varied?.value, ...shots.map((shot) => shot?.taskId)])).toEqual([
    ['1:1', 'a', 'b'],
    ['3:2', undefined, 'c'],
  ]);
});
