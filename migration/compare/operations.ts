import { getOperationAST, OperationTypeNode } from 'graphql';

import { SIGN_INS, WRITES } from '../../platform/access/root-field-rates.ts';
import { createMatcher } from '../../rest-compat/route/match.ts';
import { findRateClass, type Route, type Section } from '../../rest-compat/route/route.ts';

/** Which documented operation a request means, and what sending it again would do. */

/** `start` runs work; `write` changes data, money or sign-in; `read` changes nothing. */
type Effect = 'read' | 'start' | 'write';

/** A documented operation. */
export interface OperationMatch {
  /** Such as `GET /task/{taskId}`. */
  readonly name: string;
  readonly service: Section['service'];
  readonly effect: Effect;
  readonly route: Route;
}

/** Finds the operation of a method and a path; null when no document has it. */
export type FindOperation = (method: string, path: string) => OperationMatch | null;

/** Prepares the search. */
export function createFindOperation(sections: readonly Section[]): FindOperation {
  const match = createMatcher(sections.flatMap(({ routes }) => routes));
  const sectionOf = new Map(sections.flatMap((section) => section.routes.map((route) => [route, section])));
  return (method, path) => {
    const found = match(method, path);
    if (found === null || !('route' in found)) return null;
    const { route } = found;
    const section = sectionOf.get(route);
    const service = section?.service ?? 'media';
    return { name: `${route.method} ${route.path}`, service, effect: classifyEffect(route, service), route };
  };
}

function classifyEffect(route: Route, service: Section['service']): Effect {
  if (route.path.startsWith('/auth/')) return 'write';
  const documents = [route.document, route.first?.document].filter((document) => document != null);
  const changes = documents.some(
    (document) => getOperationAST(document)?.operation === OperationTypeNode.MUTATION,
  );
  if (!changes) return route.document === null && route.method !== 'GET' ? 'write' : 'read';
  if (service === 'media')
    return findRateClass(route, { writes: WRITES, signIns: SIGN_INS }) === 'start' && !isCatalog(route)
      ? 'start'
      : 'write';
  return route.path === '/task' || route.path.startsWith('/templates/execute/') ? 'start' : 'write';
}

function isCatalog({ path }: Route): boolean {
  return path.startsWith('/api/template/');
}
