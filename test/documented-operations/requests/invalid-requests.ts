import type { ProblemType } from '../../../rest-compat/route/values.ts';
import type { Documented, Field } from '../documents/operation.ts';
import { findCarrier, unfitting, type Unfit } from '../documents/values.ts';
import type { Sent } from './send.ts';

/** One thing wrong with a request, as the answer names it. */
export interface Wrong {
  readonly loc: readonly (string | number)[];
  readonly type: ProblemType;
}

/** A request with one mistake. */
export interface Mistake {
  readonly kind: Unfit['kind'] | 'body' | 'twice';
  readonly title: string;
  readonly spoil: (sound: Sent) => Sent;
  /** Everything that is wrong then. */
  readonly wrong: readonly Wrong[];
}

/** Everything that a request to this operation can have wrong by itself. */
export function listMistakes(operation: Documented): readonly Mistake[] {
  const { params, body } = operation;
  return [
    ...params.flatMap((field) => mistakesOfField(operation, field)),
    ...params.filter(({ in: place }) => place === 'path').map(undecodable),
    ...(body?.fields ?? []).flatMap((field) => mistakesOfField(operation, field)),
    ...(body?.type === 'application/json' ? mistakesOfJson(operation) : []),
    ...(body?.required === true && body.type !== 'raw' ? [noBody(operation)] : []),
    ...(operation.service === 'workflow' ? mistakesOfStrictness(operation) : []),
  ];
}

function mistakesOfField(operation: Documented, field: Field): readonly Mistake[] {
  const place = field.in ?? 'body';
  return unfitting(field, findCarrier(operation, field))
    .filter(({ value }) => value !== null || operation.service === 'media')
    .map(({ kind, title, value, problem }) => ({
      kind,
      title: `${field.name} ${title}`,
      spoil: (sound) => withField(sound, field, value),
      wrong: [{ loc: [place, field.name], type: problem }],
    }));
}

/** The request with another value of one field; undefined leaves it out. */
export function withField(sent: Sent, { name, in: place }: Pick<Field, 'name' | 'in'>, value: unknown): Sent {
  if (place !== undefined) return { ...sent, params: { ...sent.params, [name]: value as string } };
  const { [name]: _, ...others } = typeof sent.body === 'object' ? (sent.body ?? {}) : {};
  return { ...sent, body: value === undefined ? others : { ...others, [name]: value } };
}

function undecodable(field: Field): Mistake {
  return {
    kind: 'type',
    title: `${field.name} as %FF`,
    spoil: (sound) => ({ ...sound, params: { ...sound.params, [field.name]: { raw: '%FF' } } }),
    wrong: [{ loc: ['path', field.name], type: field.type === 'integer' ? 'int_type' : 'string_type' }],
  };
}

function mistakesOfJson({ body }: Documented): readonly Mistake[] {
  const [field = { name: 'any' }] = body?.fields ?? [];
  const as = (title: string, text: string, wrong: Wrong): Mistake => ({
    kind: 'body',
    title,
    spoil: (sound) => ({ ...sound, body: text }),
    wrong: [wrong],
  });
  return [
    as('a body that is cut off', '{"a":', { loc: ['body', 5], type: 'json_invalid' }),
    as('a list as its body', '["a"]', { loc: ['body'], type: 'dict_type' }),
    as('a text as its body', '"a"', { loc: ['body'], type: 'dict_type' }),
    as('half a character in its body', String.raw`{"${field.name}":"\ud800"}`, {
      loc: ['body'],
      type: 'value_error',
    }),
  ];
}

/** Every needed field is named; without any, the body as a whole. */
function noBody({ body }: Documented): Mistake {
  const needed = (body?.fields ?? []).filter(({ required }) => required);
  const isForm = body?.type !== 'application/json';
  const locs = isForm && needed.length > 0 ? needed.map(({ name }) => ['body', name]) : [['body']];
  return {
    kind: 'body',
    title: 'no body',
    spoil: (sound) => ({ ...sound, body: null }),
    wrong: locs.map((loc) => ({ loc, type: 'missing' })),
  };
}

/** The workflow service takes a query parameter once, and null for nothing. */
function mistakesOfStrictness({ params, body }: Documented): readonly Mistake[] {
  const twice = params
    .filter(({ in: place }) => place === 'query')
    .map((field): Mistake => ({
      kind: 'twice',
      title: `${field.name} twice`,
      spoil: (sound) => ({ ...sound, params: { ...sound.params, [field.name]: ['a', 'b'] } }),
      wrong: [{ loc: ['query', field.name], type: 'value_error' }],
    }));
  const nothing = (body?.type === 'application/json' ? (body.fields ?? []) : [])
    .filter(({ required }) => required)
    .map((field): Mistake => ({
      kind: 'missing',
      title: `${field.name} as null`,
      spoil: (sound) => withField(sound, field, null),
      wrong: [{ loc: ['body', field.name], type: 'missing' }],
    }));
  return [...twice, ...nothing];
}
