import { errorCodeDef, ERRORS } from '@apollo/federation-internals';
import { GraphQLError } from 'graphql';

import { realName } from '../operation/required-names.ts';
import type { ResponsePath } from './response-path.ts';
import type { Run } from './run.ts';

/** A path in the answer. */
export type ErrorPath = readonly (string | number)[];

/** An error of a subgraph as callers see it, at its path in the whole result; without a path when it has none. */
export function toCallerError(
  error: GraphQLError,
  serviceName: string,
  path: ErrorPath | undefined,
): GraphQLError {
  const message =
    error.message === '' ? `Error while fetching subquery from service "${serviceName}"` : error.message;
  // Which subgraph it was is nobody's business outside.
  const { serviceName: _serviceName, ...extensions } = error.extensions;
  const known = errorCodeDef(error);
  if (known !== undefined || !extensions['code']) {
    extensions['code'] = (known ?? ERRORS.DOWNSTREAM_SERVICE_ERROR).code;
  }
  // What only a requirement asks for may have a name of the plan's (required-names.ts).
  const shown = path?.map((step) => (typeof step === 'string' ? realName(step) : step));
  return new GraphQLError(message, { originalError: error, path: shown ?? null, extensions });
}

/**
 * Where each of these objects stands in the data so far, in the order of the places. A path of a plan leaves out the
 * indices of lists; here they are. One object may stand at several places.
 */
export function pathsOf(
  objects: ReadonlySet<unknown>,
  path: ResponsePath,
  run: Run,
): Map<unknown, ErrorPath[]> {
  const places = new Map<unknown, ErrorPath[]>();
  const walk = (value: unknown, at: number, parent: ErrorPath): void => {
    if (value === null || value === undefined) return;
    const step = path[at];
    if (Array.isArray(value)) {
      // A list that the path does not know of is walked as well; with Apollo its elements have places, too.
      for (const [index, element] of value.entries())
        walk(element, step === '@' ? at + 1 : at, [...parent, index]);
    } else if (step === undefined) {
      if (!objects.has(value)) return;
      const known = places.get(value);
      if (known === undefined) places.set(value, [parent]);
      else known.push(parent);
    } else if (Object.hasOwn(value, step))
      walk((value as Record<string, unknown>)[step], at + 1, [...parent, step]);
  };
  walk(run.data, 0, []);
  return places;
}
