import { ERRORS } from '@apollo/federation-internals';
import { applyRewrites } from '@apollo/gateway/dist/dataRewrites.js';
import type { FetchNode } from '@apollo/query-planner';
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';

import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import { realName } from '../operation/required-names.ts';
import { merge, share } from './merge.ts';
import type { ResponsePath } from './response-path.ts';
import type { Run, RunInput } from './run.ts';
import type { Members } from './shape/shapes.ts';

/** Runs a fetch for the objects at its path. */
export type FetchStep = (run: Run, objects: readonly unknown[]) => Promise<void>;

/** What fetches are compiled with. */
export interface FetchPlace {
  readonly fetch: FetchNode;
  readonly path: ResponsePath;
  readonly supergraphSchema: GraphQLSchema;
}

/** Asks the subgraph of a fetch; never rejects. */
export type Send = (run: Run, variables: Members) => Promise<ExecutionResult>;

/** Compiles the request that a fetch sends to its subgraph. */
export function compileSend(fetch: FetchNode): Send {
  const request = constantRequest(fetch);
  return async (run, variables) => {
    if (run.answered?.fetch === fetch) return run.answered.result;
    try {
      // A context of its own for each fetch: a subgraph makes its loaders per request.
      return await linkTo(fetch, run).execute({ ...request, variables, context: { ...run.context } });
    } catch (thrown) {
      return run.failure(thrown);
    }
  };
}

/** Subscribes with the first fetch of a subscription's plan. */
export function subscribeTo(fetch: FetchNode, input: RunInput): ReturnType<SubgraphLink['subscribe']> {
  const variables = usedVariables(fetch, input);
  return linkTo(fetch, input).subscribe({
    ...constantRequest(fetch),
    variables,
    context: { ...input.context },
  });
}

function constantRequest({ operation: query, operationName, operationDocumentNode: document }: FetchNode) {
  return { query, operationName, ...(document === undefined ? {} : { document }) };
}

function linkTo({ serviceName }: FetchNode, { links }: RunInput): SubgraphLink {
  const link = links[serviceName];
  if (link === undefined) throw new Error(`there is no way to subgraph ${serviceName}`);
  return link;
}

/** Those of the request's variables that a fetch uses. */
export function usedVariables({ variableUsages = [] }: FetchNode, { variables }: RunInput): Members {
  // Without a prototype: `__proto__` is the name of a variable like any other.
  const used = Object.create(null) as Members;
  for (const name of variableUsages) {
    if (Object.hasOwn(variables, name) && variables[name] !== undefined) used[name] = variables[name];
  }
  return used;
}

/** A fetch of root fields: what is answered is merged into every object at its path. */
export function compileRootFetch({ fetch, path, supergraphSchema }: FetchPlace): FetchStep {
  const send = compileSend(fetch);
  const { serviceName, outputRewrites } = fetch;
  return async (run, objects) => {
    const { data, errors = [] } = await send(run, usedVariables(fetch, run));
    for (const error of errors) {
      const at = error.path === undefined ? undefined : [...path, ...error.path];
      run.errors.push(toCallerError(error, serviceName, at));
    }
    if (data === null || data === undefined) return;
    if (typeof data !== 'object' || Array.isArray(data))
      throw new Error('Expected "data" in response to be an object');
    run.isAnswered ||= hasAnswer(data, errors);
    applyRewrites(supergraphSchema, outputRewrites, data);
    if (objects.length > 1) {
      run.isShared = true;
      share(Object.values(data), run.shared);
    }
    run.places.clear();
    for (const object of objects) merge(object as Members, data, undefined, run.shared);
  };
}

/** Whether a root field has a value, or is null without an error that says why. */
function hasAnswer(data: Members, errors: readonly GraphQLError[]): boolean {
  const isFailed = (name: string) => errors.some(({ path }) => path === undefined || path[0] === name);
  return Object.entries(data).some(([name, value]) => value !== null || !isFailed(name));
}

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
  extensions['code'] ||= ERRORS.DOWNSTREAM_SERVICE_ERROR.code;
  // What only a requirement asks for may have a name of the plan's (required-names.ts).
  const shown = path?.map((step) => (typeof step === 'string' ? realName(step) : step));
  return new GraphQLError(message, { originalError: error, path: shown ?? null, extensions });
}

/**
 * Where each of these objects stands in the data so far, in the order of the places. A path of a plan leaves out the
 * indices of lists; here they are. One object may stand at several places.
 */
export function findPaths(
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
