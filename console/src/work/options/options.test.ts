import { describe, expect, it } from 'vitest';

import { chooseControl, fits, type OptionSchema } from './control.ts';
import {
  listLeaves,
  makeOptionFields,
  countSet,
  optionProblems,
  optionRows,
  sentOptions,
  withOption,
} from './fields.ts';

const schema = {
  type: 'object',
  properties: {
    moderation: { type: 'string', enum: ['auto', 'low'], default: 'auto', title: 'Moderation' },
    user: { type: 'string', maxLength: 512 },
    quality: { type: 'string', enum: ['auto', 'low', 'high'], 'x-input': 'quality' },
    seed: { type: 'integer', 'x-input': 'seed' },
    spoken: { type: 'boolean', 'x-kinds': ['SPEECH'] },
    voice: {
      type: 'object',
      properties: { pitch: { type: 'integer', minimum: -100, maximum: 100 }, latex: { type: 'boolean' } },
    },
    stop: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    tags: { type: 'array', items: { type: 'string' } },
    rules: { type: 'array', items: { type: 'object' } },
  },
};
const fields = makeOptionFields({ kind: 'IMAGE', schema, members: ['prompt', 'seed'] });

it('an option that is needed and has no default is marked, and stands first', () => {
  const needed = { ...schema, required: ['tags', 'moderation'] };
  const { first, more } = makeOptionFields({ kind: 'IMAGE', schema: needed, members: [] });
  const marked = [...first, ...more].filter(({ isRequired }) => isRequired);
  expect([first[0]?.path[0], marked.map(({ path }) => path[0])]).toEqual(['moderation', ['tags']]);
});

describe('the control of an option', () => {
  it.each<[string, OptionSchema, object]>([
    ['a choice', { type: 'string', enum: ['a', 'b'] }, { kind: 'choice', values: ['a', 'b'] }],
    ['a choice without null', { enum: [1, 2, null] }, { kind: 'choice', values: [1, 2] }],
    ['a switch', { type: ['boolean', 'null'] }, { kind: 'switch' }],
    ['a slider', { type: 'integer', minimum: 0, maximum: 9 }, { kind: 'range', least: 0, most: 9, step: 1 }],
    [
      'a fine slider',
      { type: 'number', minimum: 0, maximum: 1 },
      { kind: 'range', least: 0, most: 1, step: 0.01 },
    ],
    [
      'a number, where a slider has too many steps',
      { type: 'integer', minimum: 0, maximum: 4_294_967_295 },
      { kind: 'number', least: 0, most: 4_294_967_295, step: 1 },
    ],
    ['a number', { type: 'number' }, { kind: 'number', step: 'any' }],
    [
      'a number, where there is but one',
      { type: 'integer', minimum: 1, maximum: 1 },
      { kind: 'number', least: 1, most: 1, step: 1 },
    ],
    ['a text', { type: 'string', maxLength: 40 }, { kind: 'text', most: 40 }],
    ['lines', { type: 'array', items: { type: 'string' } }, { kind: 'lines' }],
    ['JSON', { type: 'object', additionalProperties: true } as OptionSchema, { kind: 'json' }],
    [
      'the choice of several alternatives',
      { anyOf: [{ type: 'object' }, { enum: ['square', 'wide'] }] },
      { kind: 'choice', values: ['square', 'wide'] },
    ],
    ['JSON, where a type is not told', {}, { kind: 'json' }],
  ])('is %s', (_, option, control) => {
    expect(chooseControl(option)).toEqual(control);
  });

  it('does not fit what an alternative of it takes', () => {
    const control = chooseControl(schema.properties.stop);
    expect([fits(control, 'END'), fits(control, ['END'])]).toEqual([true, false]);
  });
});

describe('the fields of a model', () => {
  it('are the shared and simple ones first, without those of typed inputs and of other kinds of work', () => {
    const names = (some: typeof fields.first) => some.map(({ path }) => path.join('.'));
    expect(names(fields.first)).toEqual(['quality', 'moderation']);
    expect(names(fields.more)).toEqual(['user', 'voice', 'stop', 'tags', 'rules']);
    expect(names(listLeaves(fields.more))).toContain('voice.pitch');
    expect(fields.first[1]).toMatchObject({ title: 'Moderation', standard: 'auto', description: null });
  });

  it('are none where the API tells no schema', () => {
    expect(makeOptionFields({ kind: 'IMAGE', schema: null, members: [] })).toEqual({ first: [], more: [] });
  });
});

describe('what is set', () => {
  it('is an object in the names of the vendor, and what is taken away leaves no empty group', () => {
    const set = withOption(withOption(undefined, ['voice', 'pitch'], 3), ['user'], 'a');
    expect(set).toEqual({ voice: { pitch: 3 }, user: 'a' });
    expect(withOption(set, ['voice', 'pitch'], null)).toEqual({ user: 'a' });
  });

  it('is sent as far as this model has it', () => {
    const options = { quality: 'xhigh', moderation: 'low', voice: { latex: false }, other: 1, stop: ['a'] };
    expect(sentOptions(options, fields)).toEqual({
      moderation: 'low',
      voice: { latex: false },
      stop: ['a'],
    });
    expect(countSet(options, fields.more)).toBe(2);
    expect(sentOptions({ other: 1 }, fields)).toBeUndefined();
  });

  it('is listed by path', () => {
    expect(optionRows({ a: 1, b: { c: [2], d: {} } })).toEqual([
      ['a', 1],
      ['b.c', [2]],
      ['b.d', {}],
    ]);
  });

  it('shows what the server says at the field that its path goes through', () => {
    const problems = {
      prompt: 'must not be empty',
      'options.voice.pitch': 'must be a whole number from -100 to 100',
      'options.rules.0.category': 'must be a text',
      'options.style': 'is not taken by this model',
    };
    expect(optionProblems(problems, fields)).toEqual({
      'options.voice.pitch': 'must be a whole number from -100 to 100',
      'options.rules': 'must be a text',
      options: 'style is not taken by this model',
    });
  });
});
