import type { Param, ParamType, Params, Source } from '../../rest-compat/route/param.ts';
import type { Route } from '../../rest-compat/route/route.ts';
import type { Reading } from '../../rest-compat/route/values.ts';
import { saidBy, type RouteMutation } from './route-mutations.ts';

/** Changes of one input at a time: name, place, type, need, default, bounds, words, and how it is read. */

type AnyParam = Param<unknown>;
type Change = Partial<AnyParam>;
/** What is changed, in which words, to what. */
type ParamMutation = readonly [kind: string, title: string, change: Change];

/** Every change of every input of a route. */
export function paramMutations(route: Route): readonly RouteMutation[] {
  if (route.extension === true) return [];
  return Object.entries(route.params).flatMap(([name, param]) => [
    ...changesOfName(route, name, param),
    ...saidChanges(param).map(([kind, title, change]): RouteMutation => ({
      kind,
      title: `${name} ${title}`,
      routes: [withParam(route, name, change)],
      seenBy: saidBy,
    })),
    ...readChanges(param).map(([kind, title, change]): RouteMutation => ({
      kind,
      title: `${name} ${title}`,
      routes: [withParam(route, name, change)],
      seenBy: ['how inputs are read'],
    })),
  ]);
}

function withParam(route: Route, name: string, change: Change): Route {
  const params = Object.entries(route.params).map(([other, param]) => [
    other,
    other === name ? { ...param, ...change } : param,
  ]);
  return { ...route, params: Object.fromEntries(params) as Params };
}

/** Gone, or under another name. An extension may be both. */
function changesOfName(route: Route, name: string, param: AnyParam): readonly RouteMutation[] {
  if (param.extension === true) return [];
  const entries = Object.entries(route.params);
  const others = entries.filter(([other]) => other !== name);
  const renamed = entries.map(([other, one]) => [other === name ? `${name}_` : other, one] as const);
  return [['name', 'is not there', others] as const, ['name', 'has another name', renamed] as const].map(
    ([kind, title, params]) => ({
      kind,
      title: `${name} ${title}`,
      routes: [{ ...route, params: Object.fromEntries(params) }],
      seenBy: saidBy,
    }),
  );
}

const types: Readonly<Record<ParamType, unknown>> = {
  string: 'word',
  url: 'https://example.org/',
  'string|null': 'word',
  integer: 7,
  number: 0.5,
  boolean: true,
  json: '{}',
  object: {},
  array: [],
  file: 'word',
  'link-or-file': 'word',
};

/** Changes of what is said. */
function saidChanges(param: AnyParam): readonly ParamMutation[] {
  const { type, required, extension } = param;
  const need: ParamMutation = ['required', required ? 'is optional' : 'is required', { required: !required }];
  if (extension === true) return [need, ['extension', 'is said to be documented', { extension: undefined }]];
  const otherTypes = (Object.keys(types) as ParamType[]).filter((other) => other !== type);
  return [
    need,
    ['extension', 'is said to be an extension', { extension: true, required: false }],
    ...otherTypes.map((other): ParamMutation => ['type', `is of type ${other}`, { type: other }]),
    ...defaultChanges(param),
    ...boundChanges('minimum', param),
    ...boundChanges('maximum', param),
    ...wordChanges('enum', param),
    ...wordChanges('known', param),
    ...(param.in === 'file' ? wordChanges('accepts', param) : []),
  ];
}

function defaultChanges({ type, fallback }: AnyParam): readonly ParamMutation[] {
  if (fallback === undefined) return [['default', 'has a default', { fallback: types[type] }]];
  return [
    ['default', 'has no default', { fallback: undefined }],
    ['default', 'has another default', { fallback: another(fallback) }],
    ['default', 'has null as its default', { fallback: null }],
  ];
}

function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : `${String(value)}-`;
}

function boundChanges(end: 'minimum' | 'maximum', param: AnyParam): readonly ParamMutation[] {
  const bound = param[end];
  if (bound === undefined) {
    const isNumber = param.type === 'integer' || param.type === 'number';
    return isNumber ? [['bound', `has a ${end}`, { [end]: 1 }]] : [];
  }
  return [undefined, bound - 1, bound + 1].map((other): ParamMutation => [
    'bound',
    `has ${other ?? 'no'} ${end}`,
    { [end]: other },
  ]);
}

function wordChanges(list: 'enum' | 'known' | 'accepts', param: AnyParam): readonly ParamMutation[] {
  const words = param[list];
  const change = (title: string, other: readonly string[] | undefined): ParamMutation => [
    list,
    title,
    { [list]: other },
  ];
  if (words === undefined) return [change(`has a list (${list})`, ['image/one'])];
  return [
    change(`has no list (${list})`, undefined),
    change(`has one word more (${list})`, [...words, 'more']),
    ...words.flatMap((word, index) => [
      change(`does not list ${word} (${list})`, words.toSpliced(index, 1)),
      change(`misspells ${word} (${list})`, words.with(index, `${word}-`)),
    ]),
  ];
}

const sources: readonly Source[] = ['query', 'path', 'form', 'json', 'file'];

/** Changes of how an input is read, with nothing else changed. */
function readChanges(param: AnyParam): readonly ParamMutation[] {
  if (param.extension === true) return [];
  const { clamp } = param;
  const clamps = [clamp === undefined ? [1, 9] : undefined, ...(clamp === undefined ? [] : nearby(clamp))];
  return [
    ...sources
      .filter((source) => source !== param.in)
      .map((source): ParamMutation => ['place', `is looked for in ${source}`, { in: source }]),
    ...clamps.map((other): ParamMutation => [
      'clamp',
      `is moved into ${JSON.stringify(other)}`,
      { clamp: other as AnyParam['clamp'] },
    ]),
    ...(param.type === 'file' ? [] : readerChanges(param)),
  ];
}

function nearby([lowest, highest]: readonly [number, number]): readonly (readonly number[])[] {
  return [
    [lowest - 1, highest],
    [lowest + 1, highest],
    [lowest, highest - 1],
    [lowest, highest + 1],
  ];
}

/** Readers that take everything, take nothing, and that have each bound or word wrong. */
function readerChanges(param: AnyParam): readonly ParamMutation[] {
  const { minimum, maximum, enum: words = [] } = param;
  const reader = (title: string, read: AnyParam['read']): ParamMutation => ['reader', title, { read }];
  const takes = (value: unknown) =>
    reader(`takes ${String(value)}`, (raw) =>
      String(raw) === String(value) ? { value: raw } : param.read(raw),
    );
  const refuses = (value: unknown) =>
    reader(`refuses ${String(value)}`, (raw) => (String(raw) === String(value) ? refused : param.read(raw)));
  return [
    reader('takes everything', (raw) => ({ value: raw })),
    reader('takes nothing', () => refused),
    ...(param.in === 'json' && param.type !== 'string|null' ? [takes(null)] : []),
    ...(param.type === 'string|null' ? [refuses(null)] : []),
    ...(minimum === undefined ? [] : [takes(minimum - 1), refuses(minimum)]),
    ...(maximum === undefined ? [] : [takes(maximum + 1), refuses(maximum)]),
    ...words.map(refuses),
    ...(words.length === 0 ? [] : [takes('coffee')]),
  ];
}

const refused: Reading<unknown> = { problem: { type: 'value_error', msg: 'refused' } };
