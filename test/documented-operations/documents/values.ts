import type { ProblemType } from '../../../rest-compat/route/values.ts';
import type { Documented, Field } from './operation.ts';

/** Values of documented inputs: what fits, and what does not, with the problem that it is. */

/** What an input travels in. */
export type Carrier = 'query' | 'path' | 'form' | 'json';

/** A value that does not fit. */
export interface Unfit {
  /** What is wrong with it, to be read behind the name of the input. */
  readonly title: string;
  /** Undefined: the input is left out. */
  readonly value: unknown;
  readonly problem: ProblemType;
  readonly kind: 'missing' | 'type' | 'bound' | 'enum';
}

/** What the inputs of an operation travel in: a part of the path, the query, or its body. */
export function findCarrier({ body }: Documented, field: Field): Carrier {
  if (field.in !== undefined) return field.in;
  return body?.type === 'application/json' ? 'json' : 'form';
}

const unfitTexts: Readonly<Record<string, readonly (readonly [value: string, problem: ProblemType])[]>> = {
  string: [['a\0b', 'value_error']],
  url: [['http://a\0b', 'value_error']],
  'link-or-file': [['http://a\0b', 'value_error']],
  integer: [
    ['many', 'int_parsing'],
    ['1.5', 'int_parsing'],
  ],
  number: [
    ['many', 'float_parsing'],
    ['NaN', 'float_parsing'],
  ],
  boolean: [['maybe', 'bool_parsing']],
  json: [['{"a":', 'json_invalid']],
  // A text where a file part is to be.
  file: [['a text', 'value_error']],
};

const unfitJson: Readonly<Record<string, readonly (readonly [value: unknown, problem: ProblemType])[]>> = {
  string: [
    [7, 'string_type'],
    [['a'], 'string_type'],
    [null, 'string_type'],
  ],
  'string|null': [[7, 'string_type']],
  url: [
    [7, 'string_type'],
    [null, 'string_type'],
  ],
  integer: [
    ['many', 'int_parsing'],
    [1.5, 'int_type'],
    [true, 'int_type'],
    [null, 'int_type'],
  ],
  boolean: [
    ['maybe', 'bool_parsing'],
    [null, 'bool_parsing'],
  ],
  object: [
    ['text', 'dict_type'],
    [null, 'dict_type'],
    [['a'], 'dict_type'],
  ],
  array: [
    ['text', 'list_type'],
    [null, 'list_type'],
    [[7], 'list_type'],
  ],
};

/** Values that an input takes: one at each end of its bounds, each allowed word, or one of its type. */
export function fitting(field: Field, carrier: Carrier): readonly unknown[] {
  const { type, minimum, maximum, enum: allowed } = field;
  if (allowed !== undefined) return allowed;
  const ends = [minimum, maximum].filter((end) => end !== undefined);
  if (ends.length > 0) return carrier === 'json' ? ends : ends.map(String);
  if (carrier === 'json') return JSON_VALUES[type] ?? [];
  return TEXTS[type] ?? ['some words'];
}

const TEXTS: Readonly<Record<string, readonly unknown[]>> = {
  integer: ['1', '1.0', ' 1 '],
  number: ['1', '0.5'],
  boolean: ['true', 'FALSE', '0', 'on'],
  json: ['{"a":[1]}'],
};

const JSON_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  string: ['some words'],
  url: ['https://example.org/a.png'],
  'string|null': ['some words', null],
  integer: [1, '1'],
  boolean: [true, 'no'],
  object: [{ a: [1] }],
  array: [['a', 'b'], []],
};

/** Everything that does not fit an input by itself. */
export function unfitting(field: Field, carrier: Carrier): readonly Unfit[] {
  const { type, required, minimum, maximum, enum: allowed } = field;
  const isMissing = { title: 'left out', value: undefined, problem: 'missing', kind: 'missing' } as const;
  const texts = carrier === 'json' ? unfitJson : unfitTexts;
  const ofType = (allowed === undefined ? (texts[type] ?? []) : []).map(([value, problem]): Unfit => ({
    title: `as ${JSON.stringify(value)}`,
    value,
    problem,
    kind: 'type',
  }));
  const words = carrier === 'json' ? ['coffee', 7, null] : ['coffee', ''];
  // An empty field of a form counts as absent.
  const unlisted = words.filter((word) => carrier !== 'form' || word !== '');
  return [
    // A part of the path can not be left out: that is another path.
    ...(required && carrier !== 'path' ? [isMissing] : []),
    ...ofType,
    ...(minimum === undefined ? [] : [beyond(minimum - 1, 'greater_than_equal')]),
    ...(maximum === undefined ? [] : [beyond(maximum + 1, 'less_than_equal')]),
    ...(allowed === undefined ? [] : unlisted.map((value) => unlistedAs(value))),
  ];
}

function beyond(value: number, problem: ProblemType): Unfit {
  return { title: `as ${value}, beyond its bound`, value: String(value), problem, kind: 'bound' };
}

function unlistedAs(value: unknown): Unfit {
  return {
    title: `as ${JSON.stringify(value)}, which is not listed`,
    value,
    problem: 'literal_error',
    kind: 'enum',
  };
}
