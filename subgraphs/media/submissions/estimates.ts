import { AppError, badInput } from '../../../platform/errors.ts';
import type { Attempt } from '../domain/attempt.ts';
import { sumCosts, type Cost } from '../domain/cost.ts';
import { checkedOptions, vendorOptionProblems } from '../domain/inputs/vendor-options/check.ts';
import { type StepPlanner, type StepSoFar, isFinal, type Task, type TaskOutcome } from '../domain/task.ts';
import { checkedStepOptions } from '../domain/work/recipe.ts';
import { findRules, type StepInput, type StepKind, type Work } from '../domain/work/work.ts';
import { inOrderFor } from '../generators/bindings/batched.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { learnModel } from '../generators/bindings/find-models.ts';
import { listFallbacks } from '../generators/bindings/registry.ts';
import { modelFor, refuseProblems } from '../generators/limits/limits.ts';
import { expectedCost } from '../generators/prices/cost.ts';
import type { VideoTemplateService } from '../video-templates/video-template.ts';

/** What work will cost, and what it has cost. */
export type Estimates = ReturnType<typeof createEstimates>;

/** The inputs that prices depend on. */
interface EstimateRequest {
  readonly kind: StepKind | 'RECIPE';
  readonly generator?: string | null | undefined;
  readonly model?: string | null | undefined;
  /** Of a recipe. */
  readonly taskType?: string | null | undefined;
  /** Whether a recipe begins with an image, which is described first. */
  readonly hasImage?: boolean | null | undefined;
  readonly text?: string | null | undefined;
  readonly count?: number | null | undefined;
  readonly resolution?: string | null | undefined;
  /** Seconds. */
  readonly duration?: number | null | undefined;
  readonly quality?: string | null | undefined;
  readonly generateAudio?: boolean | null | undefined;
  /** Whether it may wait for a batch of its vendor. */
  readonly batch?: boolean | null | undefined;
  /** In the vendor's names, as JSON; of a recipe by what its steps make. */
  readonly options?: unknown;
}

interface EstimateDependencies {
  readonly registry: GeneratorRegistry;
  readonly planner: StepPlanner;
  readonly videoTemplates: Pick<VideoTemplateService, 'living'>;
}

/** Makes the estimates over the generators that there are. */
export function createEstimates({ registry, planner, videoTemplates }: EstimateDependencies) {
  const expected = (work: Work): Cost => {
    const costs = expectedSteps({ registry, planner }, work).map(({ cost }) => cost);
    return { ...sumCosts(costs, null), estimated: true };
  };
  return {
    /** Before anything is spent. BAD_USER_INPUT or NOT_CONFIGURED when there is no such work here. */
    async estimate(request: EstimateRequest): Promise<Cost> {
      if (request.kind !== 'RECIPE') {
        const work = toWork({ ...request, kind: request.kind });
        await learnModel(registry, work);
        return expected(work);
      }
      const template = await videoTemplates.living(request.taskType ?? '');
      if (template === null) throw badInput('taskType', 'there is no video template with this task type');
      const options = checkedStepOptions(request.options);
      const work: Work = {
        kind: 'RECIPE',
        taskType: template.taskType,
        prompt: 'any',
        aspectRatio: '1:1',
        presetPrompts: template.presetPrompts,
        templatePrompt: template.prompt,
        ...(request.hasImage === true && { image: { fileId: ANY_FILE } }),
        ...(options && { options }),
      };
      planner.check(work);
      return expected(work);
    },
    /** The sum of its attempts when it has ended; before that what it is expected to cost. */
    ofTask(task: Task, attempts: readonly Attempt[]): Cost {
      if (!isFinal(task.state)) return unlessGone(() => expected(task.input as unknown as Work));
      return sumCosts(
        attempts.map(({ cost }) => cost ?? UNSETTLED),
        null,
      );
    },
  };
}

/** What accepted work is expected to cost; unknown where its generator or model has left the configuration since. */
function unlessGone(expect: () => Cost): Cost {
  try {
    return expect();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return UNSETTLED;
  }
}

/** A step of work, and what it is expected to cost; in the sandbox, what it would cost. */
interface ExpectedStep {
  readonly generator: string;
  readonly cost: Cost;
  readonly sandbox: boolean;
}

/** What each step of work is expected to cost, at which generator. */
export function expectedSteps(
  { registry, planner }: Pick<EstimateDependencies, 'registry' | 'planner'>,
  work: Work,
): readonly ExpectedStep[] {
  const steps = work.kind === 'RECIPE' ? allSteps(planner, work) : [work];
  return steps.map((input) => ({ generator: input.generator, ...expectedAt(registry, input) }));
}

const ANY_FILE = '00000000-0000-0000-0000-000000000000';
/** An attempt whose cost is not known (yet): it still runs upstream, or is older than the accounts. */
const UNSETTLED: Cost = { microUnits: null, currency: null, units: {}, estimated: true };

/** At the first binding asked whose model has its options. BAD_USER_INPUT where none has. */
function expectedAt(registry: GeneratorRegistry, input: StepInput): Omit<ExpectedStep, 'generator'> {
  const bindings = registry.bindingsFor(input.generator, input.kind, input.model);
  const problems = bindings.map((binding) =>
    vendorOptionProblems(input, modelFor(binding, input)?.options ?? null),
  );
  const taking = bindings.filter((_, index) => problems[index]?.length === 0);
  const [binding] = inOrderFor(input, listFallbacks(taking));
  if (binding === undefined) refuseProblems(problems[0] ?? []);
  if (binding === undefined) return { cost: UNSETTLED, sandbox: false };
  return { cost: expectedCost(binding, input), sandbox: binding.sandbox };
}

function toWork(request: EstimateRequest & { readonly kind: StepKind }): StepInput {
  const { kind, generator, options, ...rest } = request;
  // Graphs are priced by the time that their machine takes, whatever their name.
  if (kind === 'COMFY_WORKFLOW') delete (rest as { model?: unknown }).model;
  const named = generator ?? findRules({ kind }).generator;
  if (named === undefined) throw badInput('generator', 'is needed: nobody does this unless named');
  const all = { ...rest, options: checkedOptions(options) };
  const present = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return { kind, generator: named, ...Object.fromEntries(present) } as unknown as StepInput;
}

const DONE: TaskOutcome = { mediaIds: [ANY_FILE], texts: ['any'], notes: [], facts: {} };
/** Most rounds of steps of one task. */
const MAX_ROUNDS = 10;

/** Every step that a recipe will have when each succeeds. */
function allSteps(planner: StepPlanner, work: Work): readonly StepInput[] {
  const steps: StepSoFar[] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = planner.next(work, steps);
    if (next.kind !== 'start') break;
    for (const { input } of next.steps) {
      steps.push({ input, state: 'SUCCEEDED', progress: 100, outcome: DONE });
    }
  }
  return steps.map(({ input }) => input);
}
