import { operationFromDocument, type Schema } from '@apollo/federation-internals';
import type { QueryPlanner } from '@apollo/query-planner';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';

import type { AnswerParts, IncrementalPart } from '../../../platform/graphql/operations/answers.ts';
import { compileSteps, createRun } from '../compiled/compile-plan.ts';
import type { Run, RunInput } from '../compiled/run.ts';
import { compileShaper } from '../compiled/shape/shape-result.ts';
import { operationContext } from '../operation/operation-context.ts';
import { type OwnNames, ownName, withOwnNames } from '../operation/own-names.ts';
import type { Requirements } from '../operation/supergraph.ts';
import { refuseUnplanned } from '../operation/unplanned.ts';
import { answerParts } from './answer-parts.ts';
import { createPartRuns, type PartRuns } from './deferral.ts';
import { deferConditions, deferredForm, onlyOperation, withoutDefer } from './deferred-form.ts';

interface PlannedParts {
  /** Runs it. Its first part is there when the promise ends. */
  run(input: RunInput): Promise<RunningParts>;
}

/** The parts of one answer, and the whole of what was fetched until now. */
export interface RunningParts {
  readonly parts: AnswerParts;
  readonly whole: () => ExecutionResult;
}

interface Planning {
  /** Made for @defer. */
  readonly planner: Pick<QueryPlanner, 'buildQueryPlan'>;
  readonly apiModel: Schema;
  readonly apiSchema: GraphQLSchema;
  readonly supergraphSchema: GraphQLSchema;
  readonly requirements: Requirements;
}

/** Plans an operation in parts; null where nothing of it is deferred with these variables. Kept as long as its document. */
export type PlanParts = (
  document: DocumentNode,
  operationName: string | undefined,
  variables: RunInput['variables'],
) => PlannedParts | null;

/** Most plans of one operation, by the values of its `@defer(if:)`; with others it is answered at once. */
const MAX_VARIANTS = 16;

interface KeptPlans {
  /** The variables that decide on its @defer; null where it has none. */
  readonly conditions: readonly string[] | null;
  readonly plans: Map<string, PlannedParts | null>;
}

interface OperationInput {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: RunInput['variables'];
}

/** Makes what plans them. */
export function createPartPlanner(planning: () => Planning): PlanParts {
  const known = new WeakMap<DocumentNode, KeptPlans>();
  return (document, operationName, variables) => {
    const kept = known.get(document) ?? {
      conditions: deferConditions(document),
      plans: new Map<string, PlannedParts | null>(),
    };
    known.set(document, kept);
    if (kept.conditions === null) return null;
    const values = kept.conditions.map((name) => String(variables[name]));
    const key = JSON.stringify([operationName, ...values]);
    const plan = kept.plans.get(key);
    if (plan !== undefined) return plan;
    if (kept.plans.size >= MAX_VARIANTS) return null;
    const made = planParts(planning(), { document, operationName, variables });
    kept.plans.set(key, made);
    return made;
  };
}

function planParts(
  { planner, apiModel, apiSchema, supergraphSchema, requirements }: Planning,
  { document: asked, operationName, variables }: OperationInput,
): PlannedParts | null {
  const { document, restore } = withOwnNames(asked, requirements);
  const context = operationContext({ schema: apiSchema, document, operationName });
  const form = deferredForm(context, variables);
  if (form === null) return null;
  const model = operationFromDocument(apiModel, form.planned, { validate: false });
  const plan = planner.buildQueryPlan(model);
  if (plan.node?.kind === 'Subscription') return null;
  const operation = onlyOperation(context, form.planned);
  refuseUnplanned(operation, plan);
  const step = compileSteps(plan.node, { model, supergraphSchema });
  const compilePart = (part: DocumentNode) =>
    compileShaper(operationFromDocument(apiModel, part, { validate: false }), onlyOperation(context, part));
  const shapeFirst = compilePart(form.first);
  const shapeWhole = compilePart(withoutDefer(form.planned));
  const parts = form.parts.map((part) => ({ ...part, shape: compilePart(part.document) }));
  return {
    async run(input) {
      const runs: PartRuns = createPartRuns(() => run);
      const run: Run = { ...createRun(input, operation), deferral: runs };
      await step?.(run, [run.data]);
      return {
        parts: restoredParts(answerParts({ run, runs, shapeFirst, parts }), restore),
        whole: () => restore(shapeWhole(run)),
      };
    },
  };
}

/** The parts under the names that the caller gave. */
async function* restoredParts(parts: AnswerParts, restore: OwnNames['restore']): AnswerParts {
  for await (const { hasNext, incremental, ...part } of parts) {
    const restored = incremental?.map((one) => ({
      ...one,
      ...(restore(one) as IncrementalPart),
      path: one.path.map((step) => (typeof step === 'string' ? ownName(step) : step)),
    }));
    yield { ...restore(part), ...(restored !== undefined && { incremental: restored }), hasNext };
  }
}

/** The parts, the last one with what the whole is completed by. */
export async function* completedParts(
  { parts, whole }: RunningParts,
  complete: (result: ExecutionResult) => ExecutionResult,
): AnswerParts {
  for await (const part of parts) {
    const { extensions } = part.hasNext ? {} : complete({ data: whole().data ?? null });
    yield extensions === undefined ? part : { ...part, extensions: { ...part.extensions, ...extensions } };
  }
}
