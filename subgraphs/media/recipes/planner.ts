import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { bindingsTaking } from '../generators/limits/limits.ts';
import type { RecipeOptions } from './recipe.ts';

/** Generators of the steps of recipes: the same for the service that accepts a task and the worker that does it. */
export interface RecipeGenerators {
  /** Describes and makes images (default agg/imga). */
  readonly recipeGenerator?: string;
  /** Makes the video of a vlog (default agg/vidb). */
  readonly recipeVideoGenerator?: string;
}

/** What recipes can do with the generators that there are. */
export function recipeOptionsOf(
  registry: GeneratorRegistry,
  { recipeGenerator = 'agg/imga', recipeVideoGenerator = 'agg/vidb' }: RecipeGenerators,
): RecipeOptions {
  return {
    generator: recipeGenerator,
    video: {
      generator: recipeVideoGenerator,
      takes: (input) => bindingsTaking(registry, input).length > 0,
    },
  };
}
