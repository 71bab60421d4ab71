import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model, VIDEO_INPUTS, videoModel } from './model.ts';

const ASPECT_RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '5:4', '4:5', '21:9'];

/** Replicate's catalog is open; these are some of its pictures and videos, with the limits of their input schemas. */
export const replicate: readonly ModelLimits[] = [
  model('black-forest-labs/flux-schnell', 'FLUX.1 schnell at Replicate', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'aspectRatio', 'count', 'seed'],
    aspectRatios: [...ASPECT_RATIOS, '9:21'],
    maxCount: 4,
  }),
  model('black-forest-labs/flux-kontext-pro', 'FLUX.1 Kontext pro at Replicate', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'images', 'aspectRatio', 'seed'],
    aspectRatios: [...ASPECT_RATIOS, '9:21', '2:1', '1:2'],
    maxImages: 1,
  }),
  model('black-forest-labs/flux-fill-pro', 'FLUX.1 Fill pro at Replicate', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'images', 'mask', 'seed'],
    needs: ['images', 'mask'],
    maxImages: 1,
  }),
  model('google/nano-banana', 'Nano Banana at Replicate', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'images', 'aspectRatio'],
    aspectRatios: ASPECT_RATIOS,
    maxImages: 10,
  }),
  videoModel('bytedance/seedance-1-lite', 'Seedance 1.0 Lite at Replicate', {
    inputs: [...VIDEO_INPUTS, 'lastFrame', 'seed'],
    sizes: ['480p', '720p', '1080p'],
    aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21'],
    durations: [5, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12],
  }),
  videoModel('kwaivgi/kling-v2.5-turbo-pro', 'Kling 2.5 Turbo Pro at Replicate', {
    inputs: [...VIDEO_INPUTS.filter((name) => name !== 'resolution'), 'lastFrame', 'negativePrompt'],
    aspectRatios: ['16:9', '9:16', '1:1'],
    durations: [5, 10],
    maxPrompt: 2_500,
  }),
];
