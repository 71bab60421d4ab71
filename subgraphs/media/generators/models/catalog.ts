import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { workKinds, type StepKind } from '../../domain/work/work.ts';
import { comfyui } from './comfyui.ts';
import { fal } from './fal.ts';
import { gemini } from './gemini.ts';
import { hedra } from './hedra.ts';
import { higgsfield } from './higgsfield.ts';
import { inputsOf } from './inputs-of-kinds.ts';
import { kling } from './kling.ts';
import { midjourney } from './midjourney.ts';
import { minimax } from './minimax.ts';
import { model } from './model.ts';
import { openai } from './openai.ts';
import { replicate } from './replicate.ts';
import { stableDiffusionWebui } from './stable-diffusion-webui.ts';
import { volcengine } from './volcengine.ts';

/**
 * The models that Kiln knows, by the wire that speaks for them (models/), with the limits their vendors publish. The
 * first of a kind is the default. A model of a bindings file that is not here has only the limits
 * of the file.
 *
 * A combination that only some values allow (MiniMax: 1080P in 6 s alone) is left to the vendor, who refuses it free of
 * charge. An option that a model does not list is refused: it would be dropped without a word.
 */
const catalog: Readonly<Record<string, readonly ModelLimits[]>> = {
  midjourney,
  minimax,
  kling,
  openai,
  gemini,
  comfyui,
  hedra,
  higgsfield,
  fal,
  replicate,
  volcengine,
  'stable-diffusion-webui': stableDiffusionWebui,
};

/** The known models of a wire. */
export function modelsOf(provider: string): readonly ModelLimits[] {
  return Object.hasOwn(catalog, provider) ? (catalog[provider] ?? []) : [];
}

const UNNAMED: ReadonlySet<string> = new Set(['midjourney', 'comfyui']);

/** Whether this wire carries a model's name; the others have but one model, or graphs that name theirs. */
export function namesModel(provider: string): boolean {
  return !UNNAMED.has(provider);
}

/** The category of a model that does this kind of work. */
function categoryOf(kind = ''): string {
  if (kind === 'CHAT') return 'language';
  return Object.hasOwn(workKinds, kind) ? workKinds[kind as StepKind].category : 'other';
}

/** A model that Kiln does not know: it takes every input of its kinds, within no limits but those that all have. */
export function unknownModel(id: string, kinds: readonly string[]): ModelLimits {
  const category = categoryOf(kinds[0]);
  return model(id, id, { category, kinds, inputs: inputsOf(kinds) });
}
