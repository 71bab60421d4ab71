import { getOperationAST, OperationTypeNode } from 'graphql';

import type { Method, Route } from './route.ts';

/** Finds the route of a method and path. Static paths come before those with `{parameters}`. Pure. */

/** What a route is found by. */
export type Findable = Pick<Route, 'method' | 'path'> & Partial<Pick<Route, 'document' | 'first'>>;

/** Parameter values are percent-encoded, as in the request. */
type Match<Found extends Findable> =
  | { readonly route: Found; readonly pathParams: Readonly<Record<string, string>> }
  /** The path is known from `sibling`, but not the method. */
  | { readonly allow: readonly string[]; readonly sibling: Found }
  /** The path is not one of ours. */
  | null;

/** Finds the route of a method and a path. */
export type Matcher<Found extends Findable = Route> = (method: string, path: string) => Match<Found>;

interface Entry<Found> {
  readonly segments: readonly string[];
  readonly methods: Map<string, Found>;
}

/** Prepares a matcher. Throws when two routes have the same method and path. */
export function createMatcher<Found extends Findable>(routes: readonly Found[]): Matcher<Found> {
  const entries = new Map<string, Entry<Found>>();
  for (const route of routes) {
    const entry = entries.get(route.path) ?? {
      segments: route.path.split('/'),
      methods: new Map<string, Found>(),
    };
    if (entry.methods.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    entries.set(route.path, entry.methods.set(route.method, route) && entry);
  }
  const patterns = [...entries.values()].filter(({ segments }) => segments.some(isParameter));
  return (method, rawPath) => {
    const path = withoutTrailingSlash(rawPath);
    const fixed = entries.get(path);
    if (fixed !== undefined && !fixed.segments.some(isParameter)) return matchMethod(fixed, method, {});
    const segments = path.split('/');
    for (const entry of patterns) {
      const pathParams = matchSegments(entry.segments, segments);
      if (pathParams !== null) return matchMethod(entry, method, pathParams);
    }
    return null;
  };
}

function matchMethod<Found extends Findable>(
  entry: Entry<Found>,
  method: string,
  pathParams: Readonly<Record<string, string>>,
): Match<Found> {
  const wanted: string = method === 'HEAD' ? ('GET' satisfies Method) : method;
  const route = entry.methods.get(wanted);
  const isTaken = route !== undefined && (method !== 'HEAD' || takesHead(route));
  if (isTaken) return { route, pathParams };
  const allow = [...entry.methods].flatMap(([known, of]) => (takesHead(of) ? [known, 'HEAD'] : [known]));
  const [sibling] = entry.methods.values();
  return sibling === undefined ? null : { allow, sibling };
}

/** HEAD is for GET routes that change nothing: mail scanners and link previews must not use up a login code. */
function takesHead({ method, document, first }: Findable): boolean {
  const changes = [document, first?.document].some(
    (document) => document && getOperationAST(document)?.operation === OperationTypeNode.MUTATION,
  );
  return method === 'GET' && !changes;
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const pathParams: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (isParameter(expected)) {
      if (segment === '') return null;
      pathParams[expected.slice(1, -1)] = segment;
    } else if (segment !== expected) {
      return null;
    }
  }
  return pathParams;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
