import type { BodySpec, Method, Route, Section } from '../../rest-compat/route/route.ts';
import type { comparisons } from '../../test/documented-operations/comparison/differences.ts';

/** One change of one table entry. */
export interface RouteMutation {
  /** What was changed: default, bound, type, ... */
  readonly kind: string;
  /** The change in words. */
  readonly title: string;
  /** The routes in place of the one that was changed. */
  readonly routes: readonly Route[];
  /** What was changed of its section. */
  readonly section?: Partial<Pick<Section, 'service' | 'title'>>;
  /** The comparisons that have to notice it, each by itself. */
  readonly seenBy: readonly (keyof typeof comparisons)[];
}

/** What is said of an operation is said in both places. */
export const saidBy = ['the tables', 'the OpenAPI documents'] as const;

/** Changes of an operation as a whole: method, path, section, flags, body. */
export function routeMutations(route: Route, section: Section): readonly RouteMutation[] {
  const { extension, deprecated, redirects } = route;
  if (extension === true)
    return [changed('extension', 'is said to be documented', without(route, 'extension'))];
  return [
    ...methods
      .filter((method) => method !== route.method)
      .map((method) => changed('method', `is ${method}`, { ...route, method })),
    ...pathsLike(route.path).map((path) => changed('path', `is at ${path}`, { ...route, path })),
    { kind: 'route', title: 'is not there', routes: [], seenBy: saidBy },
    { kind: 'route', title: 'is there twice', routes: [route, route], seenBy: ['the tables'] },
    changed('extension', 'is said to be an extension', { ...route, extension: true }),
    deprecated === true
      ? changed('deprecated', 'is not deprecated', without(route, 'deprecated'))
      : changed('deprecated', 'is deprecated', { ...route, deprecated: true }),
    {
      ...(redirects === true
        ? changed('answer', 'does not redirect', without(route, 'redirects'))
        : changed('answer', 'redirects', { ...route, redirects: true })),
      seenBy: ['the tables'],
    },
    inSection(route, { title: `${section.title} and more` }),
    inSection(route, { service: section.service === 'media' ? 'workflow' : 'media' }),
    ...bodyMutations(route),
  ];
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

function changed(kind: string, title: string, route: Route): RouteMutation {
  return { kind, title, routes: [route], seenBy: saidBy };
}

function without(route: Route, flag: 'extension' | 'deprecated' | 'redirects' | 'body'): Route {
  const { [flag]: _, ...rest } = route;
  return rest;
}

function inSection(route: Route, section: NonNullable<RouteMutation['section']>): RouteMutation {
  return {
    kind: 'section',
    title: `is in ${JSON.stringify(section)}`,
    routes: [route],
    section,
    seenBy: saidBy,
  };
}

/** A path with one segment more, with one segment less, and with each of its segments changed. */
function pathsLike(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  const replaced = segments.map((segment, index) =>
    segments.with(index, segment.endsWith('}') ? segment.replace('}', '_}') : `${segment}-`),
  );
  const shorter = path === '/' ? [] : [segments.slice(0, -1)];
  return [[...segments, 'more'], ...shorter, ...replaced].map((parts) => `/${parts.join('/')}`);
}

const bodyTypes: readonly BodySpec['type'][] = [
  'application/json',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'raw',
];

function bodyMutations(route: Route): readonly RouteMutation[] {
  const { body } = route;
  if (body === undefined) {
    const added = { type: 'application/json', required: false } as const;
    return [changed('body', 'has a body', { ...route, body: added })];
  }
  const { additionalProperties, ...plain } = body;
  const open = { ...body, additionalProperties: true } as const;
  const changes: readonly (readonly [kind: string, title: string, body: BodySpec])[] = [
    ['required', 'has another need of its body', { ...body, required: !body.required }],
    ...bodyTypes
      .filter((type) => type !== body.type)
      .map((type) => ['body', `has a body of ${type}`, { ...body, type }] as const),
    // No form is told to take more than its fields.
    ['body', 'changes whether it keeps more fields', additionalProperties === true ? plain : open],
    ...groupMutations(body),
  ];
  return [
    changed('body', 'has no body', without(route, 'body')),
    ...changes
      .filter(([, , { type }]) => body.type !== 'raw' || type !== 'raw' || !body.required)
      .map(([kind, title, other]) => changed(kind, title, { ...route, body: other })),
  ];
}

/** Each group gone, each of its members gone, another member, another order; a group more. */
function groupMutations(body: BodySpec): readonly (readonly [string, string, BodySpec])[] {
  const groups = body.oneOf ?? [];
  const like = (title: string, oneOf: readonly (readonly string[])[]) =>
    ['one of', title, { ...body, oneOf }] as const;
  return [
    like('needs one more group', [...groups, ['a', 'b']]),
    ...groups.flatMap((names, index) => [
      like(`needs none of ${names.join(', ')}`, groups.toSpliced(index, 1)),
      like(`takes one more than ${names.join(', ')}`, groups.with(index, [...names, 'more'])),
      like(`prefers the last of ${names.join(', ')}`, groups.with(index, names.toReversed())),
      ...names.map((name) =>
        like(
          `does not take ${name} for ${names.join(', ')}`,
          groups.with(
            index,
            names.filter((other) => other !== name),
          ),
        ),
      ),
    ]),
  ];
}
