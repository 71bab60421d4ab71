import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model } from './model.ts';

/** The midjourney wire: one model of pictures, one of videos. */
export const midjourney: readonly ModelLimits[] = [
  model('midjourney', 'Midjourney', {
    category: 'image',
    kinds: ['IMAGE', 'DESCRIPTION'],
    inputs: ['prompt', 'negativePrompt', 'images', 'image', 'aspectRatio', 'seed', 'speedMode'],
    maxPrompt: 4_000,
  }),
  model('midjourney-video', 'Midjourney Video', {
    category: 'video',
    kinds: ['VIDEO', 'FRAME_VIDEO'],
    inputs: ['prompt', 'image', 'firstFrame', 'lastFrame', 'resolution', 'duration'],
    needs: ['prompt'],
    sizes: ['480p', '720p'],
    durations: [5],
    maxPrompt: 4_000,
  }),
];
