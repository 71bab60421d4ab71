import type { Operation } from '@apollo/federation-internals';
import { evaluateCondition, type PlanNode, type QueryPlan } from '@apollo/query-planner';
import { type ExecutionResult, type GraphQLSchema, OperationTypeNode } from 'graphql';

import { noteAnswered } from '../../../platform/graphql/operations/partial-data.ts';
import type { OperationContext } from '../operation/operation-context.ts';
import { createEntityCache } from './entity-cache.ts';
import { compileEntityFetch } from './entity-fetch.ts';
import { compileRootFetch, type FetchPlace } from './fetch.ts';
import { type ResponsePath, valuesAt } from './response-path.ts';
import type { Run, RunInput, Step } from './run.ts';
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
}

/** Compiles a plan: its nodes become functions, its answer's shape is known beforehand. */
export function compilePlan({ plan, operation, model, supergraphSchema }: PlanToCompile): CompiledPlan {
  const shape = compileShaper(model, operation);
  const { node } = plan;
  if (node?.kind === 'Subscription') throw new Error('a subscription has a plan for each of its events');
  const step = node === undefined ? null : compileNode(node, [], { model, supergraphSchema });
  const isQuery = operation.operation.operation === OperationTypeNode.QUERY;
  return {
    async run(input) {
      const answers = isQuery ? createEntityCache() : null;
      const run: Run = {
        ...input,
        data: {},
        errors: [],
        isShared: false,
        isAnswered: false,
        shared: new WeakSet(),
        places: new Map(),
        answers,
      };
      await step?.(run, [run.data]);
      const result = shape(run);
      if (run.isAnswered && result.errors !== undefined && result.data) noteAnswered(result.data);
      return result;
    },
  };
}

interface Compiling {
  readonly model: Operation;
  readonly supergraphSchema: GraphQLSchema;
}

function compileNode(node: PlanNode, path: ResponsePath, compiling: Compiling): Step {
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
      return fetchStep({ fetch: node, path, supergraphSchema: compiling.supergraphSchema });
    case 'Condition': {
      const yes = node.ifClause === undefined ? null : inner(node.ifClause);
      const no = node.elseClause === undefined ? null : inner(node.elseClause);
      const { variableDefinitions } = compiling.model;
      return (run, objects) => {
        const holds = evaluateCondition(node, variableDefinitions, { ...run.variables });
        return (holds ? yes : no)?.(run, objects);
      };
    }
    default:
      throw new Error(`no way to run a ${node.kind} node`);
  }
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
function fetchStep(place: FetchPlace): Step {
  const step = place.fetch.requires === undefined ? compileRootFetch(place) : compileEntityFetch(place);
  return async (run, objects) => {
    if (objects.length === 0) return;
    try {
      await step(run, objects);
    } catch (thrown) {
      run.errors.push(...(run.failure(thrown).errors ?? []));
    }
  };
}
