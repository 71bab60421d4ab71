import type { ModelLimits } from '../../domain/inputs/model-limits.ts';

/** What is not said is not limited. */
const NO_LIMITS = {
  needs: [],
  sizes: null,
  aspectRatios: null,
  durations: null,
  formats: null,
  ranges: {},
  maxPrompt: null,
  maxCount: null,
  maxImages: null,
} as const satisfies Partial<ModelLimits>;

/** What nearly every model of videos takes; `image` and `firstFrame` are the same to most wires. */
export const VIDEO_INPUTS = ['prompt', 'image', 'firstFrame', 'aspectRatio', 'resolution', 'duration'];

/** What a model's entry must tell; the rest is not limited unless it says so. */
type Told = Partial<ModelLimits> & Pick<ModelLimits, 'category' | 'kinds' | 'inputs'>;

/** One model of the catalog. */
export function model(id: string, name: string, told: Told): ModelLimits {
  return { ...NO_LIMITS, id, name, ...told };
}

/** The kinds of a model of videos: those that take a last frame also make videos between two frames. */
export function videoKinds(inputs: readonly string[]): readonly string[] {
  return inputs.includes('lastFrame') ? ['VIDEO', 'FRAME_VIDEO'] : ['VIDEO'];
}

/** A model of videos that needs words, and may take a first frame and a last one besides. */
export function videoModel(
  id: string,
  name: string,
  told: Partial<ModelLimits> & Pick<ModelLimits, 'inputs'>,
): ModelLimits {
  return model(id, name, { category: 'video', kinds: videoKinds(told.inputs), needs: ['prompt'], ...told });
}
