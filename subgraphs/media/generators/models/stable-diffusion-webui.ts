import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model } from './model.ts';

/** Stable Diffusion web UI: the checkpoint that the server has loaded. Others are named in GENERATORS_FILE. */
export const stableDiffusionWebui: readonly ModelLimits[] = [
  model('stable-diffusion-webui', 'Stable Diffusion web UI', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'negativePrompt', 'images', 'mask', 'aspectRatio', 'resolution', 'count', 'seed'],
    maxCount: 10,
    maxImages: 1,
  }),
];
