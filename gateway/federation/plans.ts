import {
  DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES,
  type Operation,
  operationFromDocument,
  removeAllCoreFeatures,
  removeInaccessibleElements,
  type Schema,
  Supergraph,
} from '@apollo/federation-internals';
import { type FetchNode, type QueryPlan, QueryPlanner } from '@apollo/query-planner';
import { type DocumentNode, OperationTypeNode } from 'graphql';

import { type CoerceVariables, compileVariables } from '../../platform/graphql/execution/variables.ts';
import { once } from '../../platform/once.ts';
import { compilePlan, type CompiledPlan } from './compiled/compile-plan.ts';
import { withoutDefer } from './deferred/deferred-form.ts';
import { createPartPlanner } from './deferred/plan-parts.ts';
import { planOfOneSubgraph } from './operation/one-subgraph.ts';
import { operationContext, type OperationContext } from './operation/operation-context.ts';
import { type OwnNames, withOwnNames } from './operation/own-names.ts';
import { withRequiredNames } from './operation/required-names.ts';
import { splitRequirements } from './operation/split-requirements.ts';
import { readRequirements, withResolvableKeys } from './operation/supergraph.ts';
import { refuseUnplanned } from './operation/unplanned.ts';

/** The supergraph, and the plans of operations over it. */
export type Planner = ReturnType<typeof createPlanner>;

/** How an operation is run: fetched from subgraphs, or subscribed at one of them. */
export type OperationPlan = RequestPlan | SubscriptionPlan;

interface PlannedOperation {
  readonly operation: OperationContext;
  /** Tells what is wrong with the variables of a request. */
  readonly coerceVariables: CoerceVariables;
  /** The result of the plan under the names that the caller gave; compiled plans do so themselves. */
  readonly restore: OwnNames['restore'];
}

/** A query or mutation. */
interface RequestPlan extends PlannedOperation {
  readonly kind: 'request';
  readonly plan: QueryPlan;
  readonly compiled: CompiledPlan;
}

/** A subscription: the fetch that subscribes, and the plan for each event. */
export interface SubscriptionPlan extends PlannedOperation {
  readonly kind: 'subscription';
  readonly primary: FetchNode;
  /** The primary fetch (whose result is the event), then the fetches from other subgraphs. */
  readonly plan: QueryPlan;
  readonly compiled: CompiledPlan;
}

/** Each error contains the whole value: more of them would make a large response of a small request. */
const MAX_VARIABLE_ERRORS = 5;

/** Alternatives that are compared for one operation: beyond them planning would take seconds, for plans that are hardly better. */
const PLANNING_LIMITS = { maxEvaluatedPlans: 1_000, pathsLimit: 1_000 };

/** Looking for fragments of the document that fit into fetches would take half of the time of a document that has some. */
const PLANNING = { exposeDocumentNodeInFetchNode: true, reuseQueryFragments: false, debug: PLANNING_LIMITS };

export interface PlannerOptions {
  /** Whether the SDL is one that this version was built with (default: no): not validated, and read when first used. */
  readonly isChecked?: boolean;
  /** Whether operations may defer parts of their answers (default: no). */
  readonly defers?: boolean | undefined;
}

/** What supergraphs may use: what Apollo's gateway knows, what is enforced here, and costs. */
const SUPPORTED_FEATURES = new Set([
  ...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES,
  'https://specs.apollo.dev/authenticated/v0.1',
  'https://specs.apollo.dev/requiresScopes/v0.1',
  'https://specs.apollo.dev/policy/v0.1',
  'https://specs.apollo.dev/cost/v0.1',
]);

/** Makes the planner of a supergraph; throws when the SDL is invalid. */
export function createPlanner(supergraphSdl: string, options: PlannerOptions = {}) {
  const { isChecked = false, defers = false } = options;
  const parts = once(() => readParts(supergraphSdl, { isChecked, defers }));
  if (!isChecked) parts();
  // Bounded by the document cache; a document has only as many plans as operations.
  const plans = new WeakMap<DocumentNode, Map<string, OperationPlan>>();

  const kept = keepPlans(plans, createMakePlan(parts, defers));
  return {
    /** Whether that plan has been made. */
    hasPlan: (document: DocumentNode, operationName: string | undefined) =>
      plans.get(document)?.has(operationName ?? '') === true,
    /** The schema that callers see, for graphql-js and for Apollo's planner. */
    get apiSchema() {
      return parts().apiSchema;
    },
    get apiModel() {
      return parts().apiModel;
    },
    /** The whole schema with its @inaccessible parts and join directives. */
    get supergraphSchema() {
      return parts().supergraphSchema;
    },
    /** The subgraphs of the supergraph, with their routing URLs. */
    get subgraphs() {
      return parts().subgraphs;
    },
    /**
     * The plan of one operation of a validated document, cached as long as the document object lives. Throws a
     * GraphQLError with code BAD_USER_INPUT when the document has no such operation.
     */
    findPlan: (document: DocumentNode, operationName: string | undefined) =>
      kept(document, operationName, document),
    /** The plan of an operation that fetches only what a part of it asks for; its answers have the shape of the whole. Kept as long as the part. */
    planOfPart: kept,
    /** The plan of an operation whose answer comes in parts; null where nothing of it is deferred, or nothing can be. */
    planParts: defers ? createPartPlanner(parts) : () => null,
    /** The names of a document's operations that have plans; empty for the only one without a name. */
    plannedNames: (document: DocumentNode) => [...(plans.get(document)?.keys() ?? [])],
    /** Makes what the first plan would have to wait for. */
    warmUp: () => void parts(),
  };
}

/** Makes what plans an operation. */
function createMakePlan(parts: () => ReturnType<typeof readParts>, defers: boolean): MakePlan {
  return (given, operationName, givenPart) => {
    const asked = answeredAtOnce(given, defers);
    const part = givenPart === given ? asked : answeredAtOnce(givenPart, defers);
    const { planner, planOfOne, apiModel, apiSchema, supergraphSchema, requirements } = parts();
    const { document, restore } = withOwnNames(asked, requirements);
    const operation = operationContext({ schema: apiSchema, document, operationName });
    const named = operationName === undefined ? {} : { operationName };
    const model = operationFromDocument(apiModel, document, { ...named, validate: false });
    const fetched = part === asked ? document : withOwnNames(part, requirements).document;
    const ofPart =
      part === asked ? undefined : operationContext({ schema: apiSchema, document: fetched, operationName });
    const fetchedModel = () =>
      part === asked ? model : operationFromDocument(apiModel, fetched, { ...named, validate: false });
    const isWhole = document === asked && part === asked;
    const ofOne = once(() => (isWhole ? planOfOne(operation.operation) : null));
    const makeQueryPlan = (): QueryPlan => {
      const made = ofOne() ?? planner.buildQueryPlan(fetchedModel());
      refuseUnplanned(ofPart ?? operation, made);
      return made;
    };
    const compiled = (made: QueryPlan): CompiledPlan => {
      const isPassedOn = made === ofOne();
      const own = compilePlan({ plan: made, operation, model, supergraphSchema, isPassedOn, part: ofPart });
      return document === asked ? own : { run: async (input) => restore(await own.run(input)) };
    };
    const definitions = operation.operation.variableDefinitions ?? [];
    const coerceVariables = compileVariables(apiSchema, definitions, MAX_VARIABLE_ERRORS);
    const planned: PlannedOperation = { operation, coerceVariables, restore };
    if (asked !== given && operation.operation.operation !== OperationTypeNode.SUBSCRIPTION)
      return Object.assign(madeWhenRun(makeQueryPlan, compiled), { kind: 'request' as const, ...planned });
    const plan = makeQueryPlan();
    if (plan.node?.kind !== 'Subscription')
      return { kind: 'request', ...planned, plan, compiled: compiled(plan) };
    const { primary, rest } = plan.node;
    const nodes = rest === undefined ? [primary] : [primary, rest];
    const eventPlan: QueryPlan = { kind: 'QueryPlan', node: { kind: 'Sequence', nodes } };
    return { kind: 'subscription', ...planned, primary, plan: eventPlan, compiled: compiled(eventPlan) };
  };
}

/** Kiln's own graph is read in a shorter way, which knows nothing of @defer. */
function readParts(supergraphSdl: string, given: { readonly isChecked: boolean; readonly defers: boolean }) {
  return given.isChecked && !given.defers
    ? partsOfOwnGraph(supergraphSdl)
    : planningParts(supergraphSdl, given);
}

/** An answer at once is planned as if nothing were deferred. */
function answeredAtOnce(document: DocumentNode, defers: boolean): DocumentNode {
  return defers ? withoutDefer(document) : document;
}

/** A plan that is made when it is run first: an operation with parts has another plan for these, and often needs no more. */
function madeWhenRun(makeQueryPlan: () => QueryPlan, compile: (plan: QueryPlan) => CompiledPlan) {
  const plan = once(makeQueryPlan);
  const compiled = once(() => compile(plan()));
  return {
    get plan() {
      return plan();
    },
    compiled: { run: async (input) => compiled().run(input) } satisfies CompiledPlan,
  };
}

type MakePlan = (whole: DocumentNode, operationName: string | undefined, part: DocumentNode) => OperationPlan;

/** Makes each plan once for its document, or for the part that it fetches. */
function keepPlans(plans: WeakMap<DocumentNode, Map<string, OperationPlan>>, make: MakePlan): MakePlan {
  return (whole, operationName, part) => {
    const known = plans.get(part)?.get(operationName ?? '');
    if (known !== undefined) return known;
    const plan = make(whole, operationName, part);
    const ofDocument = plans.get(part) ?? new Map<string, OperationPlan>();
    plans.set(part, ofDocument.set(operationName ?? '', plan));
    return plan;
  };
}

/** Of checked graphs, by their SDL: a process serves one, the tests of one process a few. */
const partsBySdl = new Map<string, ReturnType<typeof planningParts>>();
const MAX_CHECKED_GRAPHS = 4;

/** Made once for all gateways of a process, which serve the same: half of what the start of one costs. */
function partsOfOwnGraph(sdl: string): ReturnType<typeof planningParts> {
  const known = partsBySdl.get(sdl);
  if (known !== undefined) return known;
  const parts = planningParts(sdl, { isChecked: true, defers: false });
  if (partsBySdl.size >= MAX_CHECKED_GRAPHS) partsBySdl.clear();
  partsBySdl.set(sdl, parts);
  return parts;
}

function planningParts(
  supergraphSdl: string,
  { isChecked, defers }: { readonly isChecked: boolean; readonly defers: boolean },
) {
  const resolvable = isChecked ? supergraphSdl : withResolvableKeys(supergraphSdl);
  const supergraph = Supergraph.build(resolvable, {
    validateSupergraph: !isChecked,
    supportedFeatures: SUPPORTED_FEATURES,
  });
  if (isChecked) skipValidationOfApi(supergraph.schema);
  const apiModel = supergraph.apiSchema();
  const { supergraphSdl: plannedSdl, findNeeds } = withRequiredNames(resolvable);
  const planned =
    plannedSdl === resolvable
      ? supergraph
      : Supergraph.build(plannedSdl, { validateSupergraph: false, supportedFeatures: SUPPORTED_FEATURES });
  const planner = new QueryPlanner(planned, { ...PLANNING, incrementalDelivery: { enableDefer: defers } });
  return {
    apiModel,
    apiSchema: apiModel.toGraphQLJSSchema({ includeDefer: defers }),
    planner: {
      buildQueryPlan(operation: Operation): QueryPlan {
        const plan = planner.buildQueryPlan(operation);
        return planned === supergraph ? plan : splitRequirements(plan, findNeeds);
      },
    },
    planOfOne: planOfOneSubgraph(supergraphSdl),
    supergraphSchema: planned.schema.toGraphQLJSSchema(),
    subgraphs: supergraph.subgraphsMetadata(),
    requirements: readRequirements(supergraphSdl),
  };
}

/** As Schema.toAPISchema, without validating what comes of it: that takes longer than everything else. */
function skipValidationOfApi(schema: Schema): void {
  const api = schema.clone(undefined, false);
  removeInaccessibleElements(api);
  removeAllCoreFeatures(api);
  api.assumeValid();
  schema.toAPISchema = () => api;
}
