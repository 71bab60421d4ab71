import type { Operation } from '@apollo/federation-internals';
import {
  type ConditionNode,
  type DeferNode,
  evaluateCondition,
  type PlanNode,
  type QueryPlan,
} from '@apollo/query-planner';
import { type ExecutionResult, type GraphQLSchema, OperationTypeNode } from 'graphql';

import { answerBytes, noteAnswered } from '../../../platform/graphql/operations/answers.ts';
import type { OperationContext } from '../operation/operation-context.ts';
import { compileEntityFetch } from './entity-fetch.ts';
import type { EntityFetch } from './entity-requests.ts';
import { compileRootFetch, compileSend, type FetchPlace, usedVariables } from './fetch.ts';
import { createEntityCache } from './known-entities.ts';
import { linkNarrowerFetches } from './narrower-fetches.ts';
import { type ResponsePath, valuesAt } from './response-path.ts';
import type { Run, RunInput, Step } from './run.ts';
import { askedData } from './shape/asked-data.ts';
import { compileShaper } from './shape/shape-result.ts';

/** A plan made ready to be run often. */
export interface CompiledPlan {
  /** Runs it. What a subgraph fails at, or gives in a wrong shape, is in the result. */
  run(input: RunInput): Promise<ExecutionResult>;
}

export interface PlanToCompile {
  readonly plan: QueryPlan;
  readonly operation: OperationContext;
  /** The operation as the planner has read it. */
  readonly model: Operation;
  readonly supergraphSchema: GraphQLSchema;
  /** Whether its only fetch sends the operation as it is, to a subgraph that has all of it: what that answers is the answer. */
  readonly isPassedOn?: boolean;
  /** The part of the operation that is fetched, where its caller may not see all of it (default: all). */
  readonly part?: OperationContext | undefined;
}

/** Compiles a plan: its nodes become functions, its answer's shape is known beforehand. */
export function compilePlan(options: PlanToCompile): CompiledPlan {
  const { plan, operation, model, supergraphSchema, isPassedOn = false, part } = options;
  const shape = compileShaper(model, operation);
  const { node } = plan;
  if (node?.kind === 'Subscription') throw new Error('a subscription has a plan for each of its events');
  const step = compileSteps(node, { model, supergraphSchema });
  const only = isPassedOn && node?.kind === 'Fetch' ? node : null;
  const send = only === null ? null : compileSend(only);
  return {
    async run(input) {
      let run = createRun(input, operation);
      if (only !== null && send !== null) {
        const result = await send(run, usedVariables(only, run));
        if (answerBytes(result) !== undefined) return result;
        run = { ...run, answered: { fetch: only, result } };
      }
      await step?.(run, [run.data]);
      const result = shape(part === undefined ? run : { ...run, data: askedData(run.data, part) });
      if (run.isAnswered && result.errors !== undefined && result.data) noteAnswered(result.data);
      return result;
    },
  };
}

/** Makes the run of a plan for one request. */
export function createRun(input: RunInput, { operation }: OperationContext): Run {
  return {
    ...input,
    data: {},
    errors: [],
    isShared: false,
    isAnswered: false,
    shared: new WeakSet(),
    places: new Map(),
    answers: operation.operation === OperationTypeNode.QUERY ? createEntityCache() : null,
  };
}

/** Compiles the nodes of a plan, whose paths begin at the root. */
export function compileSteps(
  node: PlanNode | undefined,
  compiling: Pick<PlanToCompile, 'model' | 'supergraphSchema'>,
): Step | null {
  if (node === undefined) return null;
  const entityFetches: EntityFetch[] = [];
  const step = compileNode(node, [], { ...compiling, entityFetches });
  linkNarrowerFetches(entityFetches);
  return step;
}

interface Compiling {
  readonly model: Operation;
  readonly supergraphSchema: GraphQLSchema;
  readonly entityFetches: EntityFetch[];
}

function compileNode(node: PlanNode, path: ResponsePath, compiling: Compiling): Step {
  const { supergraphSchema, entityFetches } = compiling;
  const inner = (one: PlanNode) => compileNode(one, path, compiling);
  switch (node.kind) {
    case 'Sequence':
      return sequence(node.nodes.map(inner));
    case 'Parallel':
      return parallel(node.nodes.map(inner));
    case 'Flatten': {
      const further = node.path.map(String);
      const whole = [...path, ...further];
      const step = compileNode(node.node, whole, compiling);
      const place = whole.join('.');
      return (run, objects) => {
        const known = run.places.get(place);
        const found = known ?? valuesAt(objects, further, run);
        if (known === undefined) run.places.set(place, found);
        return step(run, found);
      };
    }
    case 'Fetch':
      return fetchStep({ fetch: node, path, supergraphSchema }, entityFetches);
    case 'Defer':
      return deferStep(node, inner);
    default:
      return conditionStep(node, compiling, inner);
  }
}

function conditionStep(
  node: ConditionNode,
  { model: { variableDefinitions } }: Compiling,
  inner: (node: PlanNode) => Step,
): Step {
  const yes = node.ifClause === undefined ? null : inner(node.ifClause);
  const no = node.elseClause === undefined ? null : inner(node.elseClause);
  return (run, objects) => {
    const holds = evaluateCondition(node, variableDefinitions, { ...run.variables });
    return (holds ? yes : no)?.(run, objects);
  };
}

/** Runs what is not deferred, and begins the parts that are. */
function deferStep({ primary, deferred }: DeferNode, inner: (node: PlanNode) => Step): Step {
  const first = primary.node === undefined ? null : inner(primary.node);
  const parts = deferred.map(({ label = '', depends, node }) => ({
    key: label,
    depends: depends.map(({ id }) => id),
    step: node === undefined ? null : inner(node),
  }));
  return async (run, objects) => {
    const done = (async () => await first?.(run, objects))();
    for (const { key, depends, step } of parts)
      run.deferral?.begin({ key, depends, primary: done, run: async (own) => await step?.(own, objects) });
    await done;
  };
}

function sequence(steps: readonly Step[]): Step {
  return async (run, objects) => {
    for (const step of steps) await step(run, objects);
  };
}

function parallel(steps: readonly Step[]): Step {
  return async (run, objects) => {
    // Async, so that one that throws at once leaves no other's failure unheard.
    await Promise.all(steps.map(async (step) => await step(run, objects)));
  };
}

/** What a fetch throws becomes an error of the result; the results of the others stay. */
function fetchStep(place: FetchPlace, planned: EntityFetch[]): Step {
  const step =
    place.fetch.requires === undefined ? compileRootFetch(place) : compileEntityFetch(place, planned);
  const { id } = place.fetch;
  return async (run, objects) => {
    if (objects.length === 0) return;
    try {
      await step(run, objects);
    } catch (thrown) {
      run.errors.push(...(run.failure(thrown).errors ?? []));
    }
    if (id !== undefined) run.deferral?.done(id);
  };
}
