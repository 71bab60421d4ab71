import type { ModelLimits } from '../../domain/inputs/model-limits.ts';

/** The defaults: no limits. */
const NO_LIMITS = {
  needs: [],
  sizes: null,
  aspectRatios: null,
  durations: null,
  formats: null,
  ranges: {},
  maxPrompt: null,
  maxCount: null,
  counts: null,
  nearestRatios: null,
  lastFrameSizes: null,
  pictureDecidesShape: true,
  maxImages: null,
} as const satisfies Partial<ModelLimits>;

/** What nearly every model of videos takes; `image` and `firstFrame` are the same to most wires. */
export const VIDEO_INPUTS = ['prompt', 'image', 'firstFrame', 'aspectRatio', 'resolution', 'duration'];

/** A model's entry; what it leaves out is not limited. */
type ModelEntry = Partial<ModelLimits> & Pick<ModelLimits, 'category' | 'kinds' | 'inputs'>;

/** One model of the catalog. */
export function model(id: string, name: string, entry: ModelEntry): ModelLimits {
  return { ...NO_LIMITS, id, name, ...entry };
}

/** The kinds of a model of videos: those that take a last frame also make videos between two frames. */
export function videoKinds(inputs: readonly string[]): readonly string[] {
  return inputs.includes('lastFrame') ? ['VIDEO', 'FRAME_VIDEO'] : ['VIDEO'];
}

/** A model of videos that needs a prompt, and may take a first and a last frame. */
export function videoModel(
  id: string,
  name: string,
  entry: Partial<ModelLimits> & Pick<ModelLimits, 'inputs'>,
): ModelLimits {
  return model(id, name, { category: 'video', kinds: videoKinds(entry.inputs), needs: ['prompt'], ...entry });
}
