import type { Problem } from '../../../platform/errors.ts';
import { lengthProblems, ratioProblems } from '../domain/inputs/checks.ts';
import { isVendorOption } from '../domain/inputs/vendor-options/check.ts';
import type { StepPlanner } from '../domain/task.ts';
import type { StepInput, Work } from '../domain/work/work.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { bindingsTaking, checkWork, refuseProblems, stepProblems } from '../generators/limits/limits.ts';
import { nextSteps, computeProgress, type RecipeOptions, VLOG } from './recipe.ts';

/** Generators of the steps of recipes: the same for the service that accepts a task and the worker that does it. */
export interface RecipeGenerators {
  /** Describes and makes images (default agg/imga). */
  readonly recipeGenerator?: string;
  /** Makes the video of a vlog (default agg/vidb). */
  readonly recipeVideoGenerator?: string;
}

/** Longest own prompt of a recipe: presets and description join it. */
const MAX_PROMPT = 1_500;

/** Makes the planner of tasks over the generators that there are. */
export function createStepPlanner(
  registry: GeneratorRegistry,
  { recipeGenerator = 'agg/imga', recipeVideoGenerator = 'agg/vidb' }: RecipeGenerators = {},
): StepPlanner {
  const options: RecipeOptions = {
    generator: recipeGenerator,
    video: {
      generator: recipeVideoGenerator,
      takes: (input) => bindingsTaking(registry, input).length > 0,
    },
  };
  return {
    check(work) {
      if (work.kind !== 'RECIPE') return checkWork(work, registry);
      refuseProblems(recipeProblems(work));
      // Later steps must have a binding too: better refused now than failed half-way.
      registry.bindingsFor(recipeGenerator, 'IMAGE');
      const generators = { image: recipeGenerator, video: recipeVideoGenerator };
      refuseProblems(optionProblems(work, registry, generators));
    },
    findGenerator: (work) => (work.kind === 'RECIPE' ? recipeGenerator : work.generator),
    next: (work, steps) => nextSteps(work, steps, options),
    progress: computeProgress,
  };
}

type Recipe = Extract<Work, { kind: 'RECIPE' }>;

/** Options that the steps' generators do not take, each by its path. */
function optionProblems(
  { options = {}, prompt, taskType }: Recipe,
  registry: GeneratorRegistry,
  generators: { readonly image: string; readonly video: string },
): readonly Problem[] {
  if (options.video !== undefined && taskType !== VLOG) {
    return [{ field: 'options.video', message: `is for the task type ${VLOG}, which makes a video` }];
  }
  const findStepProblems = (name: 'image' | 'video', step: StepInput): readonly Problem[] =>
    stepProblems(step, registry)
      .filter(({ field }) => isVendorOption(field))
      .map(({ field, message }) => ({ field: field.replace('options', `options.${name}`), message }));
  const { image, video } = options;
  return [
    ...(image === undefined
      ? []
      : findStepProblems('image', { kind: 'IMAGE', generator: generators.image, prompt, options: image })),
    ...(video === undefined
      ? []
      : findStepProblems('video', { kind: 'VIDEO', generator: generators.video, prompt, options: video })),
  ];
}

function recipeProblems(work: Recipe) {
  const hasPrompt = work.prompt.trim() !== '' || (work.templatePrompt ?? '').trim() !== '';
  return [
    ...(hasPrompt ? [] : [{ field: 'prompt', message: 'must not be empty' }]),
    ...lengthProblems('prompt', work.prompt, MAX_PROMPT),
    ...ratioProblems(work.aspectRatio),
  ];
}
