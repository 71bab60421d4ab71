import { expect, it } from 'vitest';

import type { Choice, Model } from '../../../work/work.ts';
import { listAxes, modelRuns, sheetRuns, parseValues } from './axes.ts';

const model = {
  generator: 'g',
  model: 'm',
  inputs: ['prompt', 'aspectRatio', 'resolution', 'seed'],
  aspectRatios: ['1:1', '16:9'],
  sizes: ['1K'],
  optionsSchema: {
    properties: {
      quality: { type: 'string', enum: ['low', 'high'] },
      seed: { type: 'integer', 'x-input': 'seed' },
      steps: { type: 'integer', minimum: 1, maximum: 50 },
    },
  },
} as unknown as Model;
const choice: Choice = { key: 'IMAGE g m', kind: 'IMAGE', model };

it('what a form shows can be varied: by its words, its lists, its seed and its options', () => {
  const axes = listAxes(choice, { prompt: 'a fox' });
  expect(axes.map(({ name, kind }) => [name, kind])).toEqual([
    ['prompt', 'lines'],
    ['aspectRatio', 'choice'],
    ['seed', 'numbers'],
    ['options.quality', 'choice'],
    ['options.steps', 'numbers'],
  ]);
  expect(axes[0]?.values).toEqual(['a fox']);
});

it('numbers are written by commas and ranges, words one a line, and there are eight at most', () => {
  expect(parseValues('numbers', '1, 2，5-7 x 2')).toEqual([1, 2, 5, 6, 7]);
  expect(parseValues('numbers', '1-900')).toHaveLength(8);
  expect(parseValues('numbers', '9-3')).toEqual([]);
  expect(parseValues('lines', ' a fox \n\na crane\na fox')).toEqual(['a fox', 'a crane']);
});

it('a sheet starts one result for each pair of values, row by row', () => {
  const axes = listAxes(choice, {});
  const [, shape, seed, quality] = axes;
  if (shape === undefined || seed === undefined || quality === undefined) throw new Error('no axes');
  const values = { prompt: 'a', count: 4, options: { steps: 3 } };
  const runs = sheetRuns(
    { choice, values },
    { axis: seed, values: [1, 2] },
    { axis: quality, values: ['low', 'high'] },
    's',
  );
  expect(runs.map((run) => run.values)).toEqual([
    { prompt: 'a', count: 1, seed: 1, options: { steps: 3, quality: 'low' } },
    { prompt: 'a', count: 1, seed: 2, options: { steps: 3, quality: 'low' } },
    { prompt: 'a', count: 1, seed: 1, options: { steps: 3, quality: 'high' } },
    { prompt: 'a', count: 1, seed: 2, options: { steps: 3, quality: 'high' } },
  ]);
  expect(sheetRuns({ choice, values }, { axis: shape, values: ['1:1'] }, null, 's')[0]?.cell).toEqual({
    sheet: 's',
    x: { name: 'aspectRatio', value: '1:1' },
  });
});

it('the same form is started once on each model', () => {
  const other: Choice = { ...choice, key: 'IMAGE g n' };
  const runs = modelRuns([choice, other], { prompt: 'a', count: 3 }, 's');
  expect(runs.map(({ choice: { key }, values, cell }) => [key, values['count'], cell?.x.value])).toEqual([
    ['IMAGE g m', 1, 'IMAGE g m'],
    ['IMAGE g n', 1, 'IMAGE g n'],
  ]);
});
