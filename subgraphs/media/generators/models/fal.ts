import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model, VIDEO_INPUTS, videoModel } from './model.ts';

/** fal's catalog is open; these are some of its pictures and videos, with the limits of their endpoints' schemas. */
export const fal: readonly ModelLimits[] = [
  ...Object.entries({ 'fal-ai/flux/schnell': 'FLUX.1 schnell', 'fal-ai/flux/dev': 'FLUX.1 dev' }).map(
    ([id, name]) =>
      model(id, `${name} at fal`, {
        category: 'image',
        kinds: ['IMAGE'],
        inputs: ['prompt', 'aspectRatio', 'count', 'seed'],
        aspectRatios: ['1:1', '4:3', '3:4', '16:9', '9:16'],
        maxCount: 4,
      }),
  ),
  model('fal-ai/nano-banana', 'Nano Banana at fal', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'images', 'aspectRatio', 'count', 'seed'],
    aspectRatios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '5:4', '4:5', '21:9'],
    maxCount: 4,
    maxImages: 10,
  }),
  model('fal-ai/flux-pro/v1/fill', 'FLUX.1 Fill pro at fal', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'images', 'mask', 'count', 'seed'],
    needs: ['images', 'mask'],
    maxCount: 4,
    maxImages: 1,
  }),
  videoModel('fal-ai/kling-video/v2.5-turbo/pro', 'Kling 2.5 Turbo Pro at fal', {
    inputs: [...VIDEO_INPUTS.filter((name) => name !== 'resolution'), 'lastFrame', 'negativePrompt'],
    aspectRatios: ['16:9', '9:16', '1:1'],
    durations: [5, 10],
    maxPrompt: 2_500,
  }),
  videoModel('fal-ai/bytedance/seedance/v1/lite', 'Seedance 1.0 Lite at fal', {
    inputs: [...VIDEO_INPUTS, 'lastFrame', 'seed'],
    sizes: ['480p', '720p', '1080p'],
    aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21'],
    durations: [5, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12],
  }),
];
