import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model } from './model.ts';

/** Higgsfield's Soul: characters made from pictures, and pictures of them. */
export const higgsfield: readonly ModelLimits[] = [
  model('higgsfield-ai/soul/standard', 'Higgsfield Soul', {
    category: 'image',
    kinds: ['CHARACTER', 'CHARACTER_IMAGE'],
    inputs: ['name', 'images', 'characterId', 'prompt', 'aspectRatio', 'resolution', 'count', 'seed'],
    sizes: ['720p', '1080p'],
    aspectRatios: ['9:16', '16:9', '4:3', '3:4', '1:1', '2:3', '3:2'],
    maxCount: 4,
    counts: [1, 4],
    maxImages: 100,
    maxPrompt: 5_000,
  }),
];
