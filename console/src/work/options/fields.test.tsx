import { describe, expect, it } from 'vitest';

import { chooseControl, fits, type OptionSchema } from './control.ts';
import {
  countSet,
  listLeaves,
  makeOptionFields,
  optionAt,
  optionProblems,
  optionRows,
  readOptionValue,
  sentOptions,
  withOption,
} from './fields.ts';

describe('the control of an option', () => {
  it.each<[OptionSchema, object]>([
    [{ type: 'boolean' }, { kind: 'switch' }],
    [{ type: ['null', 'boolean'] }, { kind: 'switch' }],
    [{ type: 'string' }, { kind: 'text', most: null }],
    [
      { type: 'string', maxLength: 9 },
      { kind: 'text', most: 9 },
    ],
    [{ enum: ['a', 1, null, true] }, { kind: 'choice', values: ['a', 1] }],
    [{ type: 'boolean', enum: [true] }, { kind: 'switch' }],
    [{ type: 'array', items: { type: 'string' } }, { kind: 'lines' }],
    [{ type: 'array', items: { type: 'string', enum: ['a'] } }, { kind: 'json' }],
    [{ type: 'array', items: { type: 'number' } }, { kind: 'json' }],
    [{ type: 'array' }, { kind: 'json' }],
    [{ type: 'object' }, { kind: 'json' }],
    [{ type: ['string', 'number'] }, { kind: 'json' }],
    [{}, { kind: 'json' }],
    [{ type: 'integer' }, { kind: 'number', step: 1 }],
    [{ type: 'number' }, { kind: 'number', step: 'any' }],
    [{ type: ['integer', 'number'] }, { kind: 'number', step: 'any' }],
    [
      { type: 'number', minimum: 2 },
      { kind: 'number', least: 2, step: 'any' },
    ],
    [
      { type: 'integer', maximum: 9, multipleOf: 3 },
      { kind: 'number', most: 9, step: 3 },
    ],
    [
      { type: 'integer', minimum: 0, maximum: 500 },
      { kind: 'range', least: 0, most: 500, step: 1 },
    ],
    [
      { type: 'integer', minimum: 0, maximum: 501 },
      { kind: 'number', least: 0, most: 501, step: 1 },
    ],
    [
      { type: 'number', minimum: 1, maximum: 1 },
      { kind: 'number', least: 1, most: 1, step: 'any' },
    ],
    [
      { type: 'number', minimum: 0, maximum: 1 },
      { kind: 'range', least: 0, most: 1, step: 0.01 },
    ],
    [
      { type: 'number', minimum: -25, maximum: 25 },
      { kind: 'range', least: -25, most: 25, step: 1 },
    ],
    [
      { type: 'number', minimum: 0, maximum: 49 },
      { kind: 'range', least: 0, most: 49, step: 0.1 },
    ],
    [
      { anyOf: [{ type: 'object' }, { type: 'integer' }, { enum: ['a'] }] },
      { kind: 'choice', values: ['a'] },
    ],
    [{ anyOf: [{}, { type: 'object' }, { type: 'boolean' }] }, { kind: 'switch' }],
    [{ anyOf: [{ type: 'null' }, { type: 'object' }] }, { kind: 'json' }],
  ])('%j is %j', (schema, control) => {
    expect(chooseControl(schema)).toEqual(control);
  });

  it('shows the values that fit it', () => {
    const values = [['a'], ['a', 1], true, 1, 'a', 'b', null];
    const shown = (schema: OptionSchema) => values.map((value) => fits(chooseControl(schema), value));
    expect(shown({ type: 'array', items: { type: 'string' } })).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(shown({ type: 'boolean' })).toEqual([false, false, true, false, false, false, false]);
    expect(shown({ type: 'number' })).toEqual([false, false, false, true, false, false, false]);
    expect(shown({ type: 'integer', minimum: 0, maximum: 9 })).toEqual([
      false,
      false,
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(shown({ type: 'string' })).toEqual([false, false, false, false, true, true, false]);
    expect(shown({ enum: ['a', 1] })).toEqual([false, false, false, true, true, false, false]);
    expect(shown({})).toEqual(Array(7).fill(true));
  });
});

const schema: OptionSchema = {
  required: ['must', 'given'],
  properties: {
    seed: { type: 'integer' },
    mode: { enum: ['fast', 'good'], title: 'Mode', description: 'How', default: 'good' },
    size: { type: 'string', 'x-input': 'size' },
    ratio: { type: 'string', 'x-input': 'aspectRatio' },
    video: { type: 'boolean', 'x-kinds': ['VIDEO'] },
    both: { type: 'boolean', 'x-kinds': ['VIDEO', 'IMAGE'] },
    must: { type: 'object' },
    given: { type: 'string', default: 'x' },
    camera: { properties: { zoom: { type: 'number' }, typed: { 'x-input': 'size' } } },
    empty: { properties: { typed: { 'x-input': 'size' } } },
    noise: { type: 'number', minimum: 0, maximum: 1 },
  },
};
const fields = makeOptionFields({ kind: 'IMAGE', schema, members: ['size'] });
const names = (list: readonly { readonly path: readonly string[] }[]) =>
  list.map(({ path }) => path.join('.'));

describe('the fields of a model', () => {
  it('are what must be set first, then what has a typed name, then what is set at a glance', () => {
    expect(names(fields.first)).toEqual(['must', 'given', 'ratio', 'mode']);
    expect(names(fields.more)).toEqual(['seed', 'both', 'camera', 'noise']);
    expect(names(listLeaves(fields.more))).toEqual(['seed', 'both', 'camera.zoom', 'noise']);
    expect(fields.first.map(({ isRequired }) => isRequired)).toEqual([true, undefined, undefined, undefined]);
    expect(fields.first[3]).toMatchObject({ title: 'Mode', description: 'How', standard: 'good' });
    expect(fields.more[0]).toMatchObject({ title: null, description: null, standard: undefined });
    const ofVideo = makeOptionFields({ kind: 'VIDEO', schema, members: [] });
    expect(names([...ofVideo.first, ...ofVideo.more])).toEqual(
      expect.arrayContaining(['video', 'both', 'size', 'empty']),
    );
    expect(makeOptionFields({ kind: 'IMAGE', schema: null, members: [] })).toEqual({ first: [], more: [] });
  });

  it('are read, set and taken away by their path, with groups that are empty', () => {
    const options = { camera: { zoom: 2 }, seed: 1 };
    expect([optionAt(options, ['camera', 'zoom']), optionAt(options, ['camera', 'toString'])]).toEqual([
      2,
      undefined,
    ]);
    expect([optionAt(options, ['seed', 'x']), optionAt(options, []), optionAt(null, ['a'])]).toEqual([
      undefined,
      options,
      undefined,
    ]);
    expect(withOption(options, ['camera', 'zoom'], 3)).toEqual({ camera: { zoom: 3 }, seed: 1 });
    expect(withOption(options, ['camera', 'pan'], 1)).toEqual({ camera: { zoom: 2, pan: 1 }, seed: 1 });
    expect(withOption(options, ['camera', 'zoom'], null)).toEqual({ seed: 1 });
    expect(withOption(options, ['seed'], undefined)).toEqual({ camera: { zoom: 2 } });
    expect(withOption([1], ['seed'], {})).toEqual({ seed: {} });
  });

  it('are sent as far as they are shown and set, but for words of another model', () => {
    const options = {
      mode: 'slow',
      seed: 0,
      both: false,
      given: '',
      camera: { zoom: 2 },
      other: 1,
      must: null,
    };
    expect(sentOptions(options, fields)).toEqual({ seed: 0, both: false, camera: { zoom: 2 } });
    expect(sentOptions({ other: 1 }, fields)).toBeUndefined();
    expect([countSet(options, fields.more), countSet(options, fields.first)]).toEqual([3, 0]);
    const [, , , mode] = fields.first;
    if (mode === undefined) throw new Error('no field');
    const shown = ['fast', 'slow', { odd: 1 }, ''].map((value) => readOptionValue({ mode: value }, mode));
    expect(shown).toEqual(['fast', undefined, { odd: 1 }, undefined]);
  });

  it('are listed one by one', () => {
    expect(optionRows({ a: 1, b: { c: [1], d: {} }, e: null })).toEqual([
      ['a', 1],
      ['b.c', [1]],
      ['b.d', {}],
      ['e', null],
    ]);
    expect([optionRows(null), optionRows([1]), optionRows('x')]).toEqual([[], [], []]);
  });

  it('say what the server says of them, and the form says the rest', () => {
    const problems = {
      'options.camera.zoom.x': 'is wrong',
      'options.seed': 'is too large',
      'options.zoom': 'is not known',
      optionsX: 'is another',
      prompt: 'is empty',
    };
    expect(optionProblems(problems, fields)).toEqual({
      'options.camera.zoom': 'is wrong',
      'options.seed': 'is too large',
      options: 'zoom is not known',
    });
    expect(optionProblems({ options: 'are wrong' }, fields)).toEqual({ options: 'are wrong' });
  });
});
