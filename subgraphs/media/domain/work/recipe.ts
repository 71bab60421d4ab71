import { badInput } from '../../../../platform/errors.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { checkedOptions } from '../inputs/vendor-options/check.ts';

/** What the models of a recipe's steps take besides, by what the step makes, in the names of their vendors. */
export interface StepOptions {
  readonly image?: JsonObject;
  readonly video?: JsonObject;
}

/** Work in several steps, with the texts of its template at submission: a task stores its own copy of what it used. */
export interface RecipeWork<File = InputRef> {
  readonly kind: 'RECIPE';
  readonly taskType: string;
  readonly prompt: string;
  readonly image?: File;
  readonly aspectRatio: string;
  /** The video template's preset prompts. */
  readonly presetPrompts: readonly string[];
  /** The template's own prompt, when it has one. */
  readonly templatePrompt: string | null;
  readonly options?: StepOptions;
}

/** Options of steps as they are kept; undefined when there are none. BAD_USER_INPUT when they are of another shape. */
export function checkedStepOptions(options: unknown): StepOptions | undefined {
  const given = checkedOptions(options);
  if (given === undefined) return undefined;
  const { image, video, ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw badInput(`options.${unknown}`, `options.${unknown}: a recipe has options of image and of video`);
  }
  const [ofImage, ofVideo] = [ofStep('image', image), ofStep('video', video)];
  return { ...(ofImage && { image: ofImage }), ...(ofVideo && { video: ofVideo }) };
}

function ofStep(name: 'image' | 'video', value: unknown): JsonObject | undefined {
  if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    throw badInput(`options.${name}`, `options.${name} must be an object: the vendor's names and values`);
  }
  return checkedOptions(value);
}
