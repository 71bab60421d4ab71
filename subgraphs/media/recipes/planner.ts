import { lengthProblems, ratioProblems } from '../domain/inputs/checks.ts';
import type { StepPlanner } from '../domain/steps.ts';
import type { Work } from '../domain/work/work.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { bindingsTaking, checkWork, refuseProblems } from '../generators/limits/limits.ts';
import { nextSteps, progressOf, type RecipeOptions } from './recipe.ts';

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
    },
    generatorOf: (work) => (work.kind === 'RECIPE' ? recipeGenerator : work.generator),
    next: (work, steps) => nextSteps(work, steps, options),
    progress: progressOf,
  };
}

function recipeProblems(work: Extract<Work, { kind: 'RECIPE' }>) {
  const hasPrompt = work.prompt.trim() !== '' || (work.templatePrompt ?? '').trim() !== '';
  return [
    ...(hasPrompt ? [] : [{ field: 'prompt', message: 'must not be empty' }]),
    ...lengthProblems('prompt', work.prompt, MAX_PROMPT),
    ...ratioProblems(work.aspectRatio),
  ];
}
