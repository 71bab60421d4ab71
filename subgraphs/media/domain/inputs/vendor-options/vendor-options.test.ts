import { describe, expect, it } from 'vitest';

import { checkedOptions, hasOption, vendorOptionProblems } from './check.ts';
import { optionsSchema, type OptionSchema, type OptionsSchema } from './schema.ts';
import { withTranslations } from './translated.ts';

const createSchema = (properties: Readonly<Record<string, OptionSchema>>): OptionsSchema => ({
  type: 'object',
  properties,
});

/** What is said of one option. */
function said(option: OptionSchema, value: unknown): string | undefined {
  const work = { kind: 'IMAGE', options: { it: value } as never };
  const problems = vendorOptionProblems(work, createSchema({ it: option }));
  return problems.length === 0
    ? undefined
    : problems.map(({ field, message }) => `${field} ${message}`).join('; ');
}

describe('an option', () => {
  it.each<[string, OptionSchema, unknown, unknown, string]>([
    [
      'a choice',
      { type: 'string', enum: ['low', 'high'] },
      'low',
      'max',
      'options.it must be one of low, high',
    ],
    ['one value', { type: 'string', enum: ['low'] }, 'low', 'high', 'options.it must be low'],
    [
      'a whole number',
      { type: 'integer', minimum: 1, maximum: 4 },
      4,
      4.5,
      'options.it must be a whole number from 1 to 4',
    ],
    ['a least number', { type: 'number', minimum: 0 }, 0, -1, 'options.it must be a number of at least 0'],
    ['a most number', { type: 'number', maximum: 1 }, 1, 1.1, 'options.it must be a number of at most 1'],
    [
      'a step',
      { type: 'number', multipleOf: 0.5 },
      1.5,
      0.3,
      'options.it must be a number, a multiple of 0.5',
    ],
    ['a switch', { type: 'boolean' }, false, 'no', 'options.it must be true or false'],
    [
      'a text',
      { type: 'string', maxLength: 2 },
      'ab',
      'abc',
      'options.it must be a text of from 0 to 2 characters',
    ],
    ['null', { type: ['integer', 'null'] }, null, 'x', 'options.it must be a whole number, or null'],
    [
      'a list',
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a'],
      ['a', 'b'],
      'options.it must be a list of values that are each a text, their number from 0 to 1',
    ],
    [
      'an item',
      { type: 'array', items: { type: 'integer' } },
      [1],
      [1, 'x'],
      'options.it.1 must be a whole number',
    ],
    [
      'either',
      { anyOf: [{ type: 'string', enum: ['auto'] }, { type: 'integer' }] },
      7,
      'x',
      'options.it must be auto, or a whole number',
    ],
    [
      'a member',
      { type: 'object', properties: { of: { type: 'integer' } } },
      { of: 1 },
      { of: 'x' },
      'options.it.of must be a whole number',
    ],
    [
      'a member that is needed',
      { type: 'object', properties: { of: { type: 'integer' } }, required: ['of'] },
      { of: 1 },
      {},
      'options.it.of must be a whole number',
    ],
    [
      'no other member',
      { type: 'object', properties: { of: { type: 'integer' } } },
      {},
      { or: 1 },
      'options.it.or is not taken by this model; it takes of',
    ],
    [
      'members of any name',
      { type: 'object', additionalProperties: { type: 'string' } },
      { any: 'x' },
      { any: 1 },
      'options.it.any must be a text',
    ],
  ])(
    'that is %s is taken as its schema says, and told what it must be otherwise',
    (_, option, right, wrong, words) => {
      expect(said(option, right)).toBeUndefined();
      expect(said(option, wrong)).toBe(words);
    },
  );

  it('without a name in the schema is not taken, __proto__ neither', () => {
    const options = JSON.parse('{"__proto__": {"it": 1}, "other": 1}') as never;
    const problems = vendorOptionProblems(
      { kind: 'IMAGE', options },
      createSchema({ it: { type: 'integer' } }),
    );
    expect(problems.map(({ field }) => field)).toEqual(['options.__proto__', 'options.other']);
  });

  it('is refused where the model has none', () => {
    expect(vendorOptionProblems({ kind: 'IMAGE', options: { it: 1 } }, null)).toEqual([
      { field: 'options', message: 'is not taken by this model' },
    ]);
  });

  it('of another kind of work is not taken', () => {
    const schema = createSchema({ it: { type: 'integer', 'x-kinds': ['SPEECH'] } });
    expect(vendorOptionProblems({ kind: 'SPEECH', options: { it: 1 } }, schema)).toEqual([]);
    expect(vendorOptionProblems({ kind: 'VOICE_CLONE', options: { it: 1 } }, schema)).toHaveLength(1);
  });

  it('that says what a typed input says too is refused, by its path', () => {
    const seed: OptionSchema = { type: 'integer', 'x-input': 'seed' };
    const schema = createSchema({ config: { type: 'object', properties: { seed } } });
    const work = { kind: 'IMAGE', seed: 1, options: { config: { seed: 2 } } };
    expect(vendorOptionProblems(work, schema)).toEqual([
      { field: 'options.config.seed', message: 'says what seed says too: send one of them' },
    ]);
    expect(hasOption(schema, 'options.config.seed', 'IMAGE')).toBe(true);
    expect(hasOption(schema, 'options.seed', 'IMAGE')).toBe(false);
  });

  it('gets no default: that is the vendor’s', () => {
    const schema = createSchema({ it: { type: 'integer', default: 3 } });
    expect(withTranslations({ kind: 'IMAGE', options: { it: 1 } }, schema).options).toEqual({ it: 1 });
    expect(vendorOptionProblems({ kind: 'IMAGE', options: { it: 'x' } }, schema)).toHaveLength(1);
  });
});

describe('a typed input of several vendors', () => {
  const schema = createSchema({
    format: { type: 'string', enum: ['jpg', 'PNG'], 'x-input': 'outputFormat' },
  });

  it('is sent as the option of the model that says the same, in its words', () => {
    const work = { kind: 'IMAGE', prompt: 'a fox', outputFormat: 'jpeg' };
    expect(withTranslations(work, schema)).toEqual({
      kind: 'IMAGE',
      prompt: 'a fox',
      options: { format: 'jpg' },
    });
    expect(vendorOptionProblems(work, schema)).toEqual([]);
    expect(withTranslations({ kind: 'IMAGE', outputFormat: 'png' }, schema)).toMatchObject({
      options: { format: 'PNG' },
    });
    const sound = createSchema({
      sound: { type: 'string', enum: ['on', 'off'], 'x-input': 'generateAudio' },
    });
    const video = { kind: 'VIDEO', generateAudio: false };
    expect(withTranslations(video, sound)).toEqual({ kind: 'VIDEO', options: { sound: 'off' } });
    expect(vendorOptionProblems(video, sound)).toEqual([]);
  });

  it('is told under its own name, and not taken where the model has no such option', () => {
    const work = { kind: 'IMAGE', outputFormat: 'webp', quality: 'high' };
    expect(vendorOptionProblems(work, schema)).toEqual([
      { field: 'quality', message: 'is not taken by this model' },
      { field: 'outputFormat', message: 'must be one of jpg, PNG' },
    ]);
    expect(vendorOptionProblems({ kind: 'IMAGE', quality: 'high' } as never, null)).toEqual([
      { field: 'quality', message: 'is not taken by this model' },
    ]);
  });
});

describe('options as a whole', () => {
  it('are an object within bounds, and absent when empty', () => {
    expect(checkedOptions({})).toBeUndefined();
    expect(checkedOptions(null)).toBeUndefined();
    expect(checkedOptions({ a: 1 })).toEqual({ a: 1 });
    const deep = JSON.parse(`${'{"a":'.repeat(9)}1${'}'.repeat(9)}`) as unknown;
    for (const wrong of [[1], 'x', 1, deep, { a: 'x'.repeat(40_000) }]) {
      expect(() => checkedOptions(wrong)).toThrow(
        expect.objectContaining({ code: 'BAD_USER_INPUT', field: 'options' }),
      );
    }
  });
});

describe('a schema of options', () => {
  it.each([
    ['a pattern', { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } }],
    ['a reference', { type: 'object', properties: { a: { $ref: '#' } } }],
    ['no properties', { type: 'object' }],
    ['another type', { type: 'array', properties: {} }],
    ['an empty choice', { type: 'object', properties: { a: { enum: [] } } }],
    [
      'too many levels',
      { type: 'object', properties: { a: JSON.parse(`${'{"items":'.repeat(2_000)}{}${'}'.repeat(2_000)}`) } },
    ],
    [
      'too many members',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, {}])),
      },
    ],
  ])('with %s is refused', (_, schema) => {
    expect(optionsSchema.safeParse(schema).success).toBe(false);
  });
});
