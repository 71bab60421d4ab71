import type { Route, Section } from '../../rest-compat/route/route.ts';
import { comparisons } from '../../test/documented-operations/comparison/differences.ts';
import { toKey, type Documented } from '../../test/documented-operations/documents/operation.ts';
import { paramMutations } from './param-mutations.ts';
import { routeMutations, type RouteMutation } from './route-mutations.ts';

/**
 * Every single change of the route tables that a caller could feel, one at a time, and whether the comparisons of the
 * documented-operations test notice it.
 */
export interface MutationReport {
  readonly count: number;
  /** Changes by what was changed. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Changes that a comparison should have noticed and did not, and what it notices without any change, in words. */
  readonly survivors: readonly string[];
}

/** Changes the tables (in memory, one change at a time) and compares each with its document. */
export function mutationReport(
  sections: readonly Section[],
  operations: readonly Documented[],
): MutationReport {
  const documentedAs = new Map(operations.map((operation) => [toKey(operation), operation]));
  const kinds = new Map<string, number>();
  const survivors: string[] = [];
  for (const section of sections) {
    for (const route of section.routes) {
      const operation = documentedAs.get(toKey(route));
      survivors.push(...findDifferences(route, section, operation));
      for (const mutation of [...routeMutations(route, section), ...paramMutations(route)]) {
        kinds.set(mutation.kind, (kinds.get(mutation.kind) ?? 0) + 1);
        const place = `${section.title}, ${toKey(route)}: ${mutation.title}`;
        survivors.push(...blindTo(mutation, section, operation).map((name) => `${place} (${name})`));
      }
    }
  }
  return { count: [...kinds.values()].reduce((sum, count) => sum + count, 0), kinds, survivors };
}

/** A comparison that fails by itself would notice everything. */
function findDifferences(
  route: Route,
  section: Section,
  operation: Documented | undefined,
): readonly string[] {
  return Object.entries(comparisons)
    .filter(
      ([, isSame]) => !isSame([{ ...section, routes: [route] }], operation === undefined ? [] : [operation]),
    )
    .map(([name]) => `${toKey(route)} differs without any change (${name})`);
}

/** The comparisons that should notice a change and do not. */
function blindTo(
  { routes, section, seenBy }: RouteMutation,
  own: Section,
  operation: Documented | undefined,
): readonly string[] {
  const changed = [{ ...own, ...section, routes }];
  const operations = operation === undefined ? [] : [operation];
  return seenBy.filter((name) => comparisons[name](changed, operations));
}
