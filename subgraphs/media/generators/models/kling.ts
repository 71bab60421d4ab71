import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model, VIDEO_INPUTS, videoKinds } from './model.ts';

/** Kling's videos. */
export const kling: readonly ModelLimits[] = ['kling-v2-5-turbo', 'kling-v1-6', 'kling-v2-1-master'].map(
  (id) =>
    model(id, `Kling ${id.slice('kling-'.length)}`, {
      category: 'video',
      kinds: videoKinds(inputsOf(id)),
      inputs: inputsOf(id),
      sizes: ['720p', '1080p'],
      // Only its mode `pro` takes a last frame.
      lastFrameSizes: ['1080p'],
      aspectRatios: ['16:9', '9:16', '1:1'],
      durations: [5, 10],
      maxPrompt: 2_500,
    }),
);

function inputsOf(id: string): readonly string[] {
  return [...VIDEO_INPUTS, 'negativePrompt', ...(id === 'kling-v2-1-master' ? [] : ['lastFrame'])];
}
