import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { CHAT_INPUTS } from './inputs-of-kinds.ts';
import { model, VIDEO_INPUTS } from './model.ts';

/** Gemini: pictures, Veo videos, chat and analyses. */
export const gemini: readonly ModelLimits[] = [
  model('gemini-2.5-flash-image', 'Gemini 2.5 Flash Image', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'negativePrompt', 'images', 'aspectRatio', 'seed'],
    aspectRatios: ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
    maxPrompt: 20_000,
    maxImages: 3,
    maxCount: 1,
  }),
  model('veo-3.1-generate-preview', 'Veo 3.1', {
    category: 'video',
    kinds: ['VIDEO', 'FRAME_VIDEO'],
    inputs: [...VIDEO_INPUTS, 'negativePrompt', 'lastFrame', 'seed'],
    needs: ['prompt'],
    sizes: ['720p', '1080p'],
    aspectRatios: ['16:9', '9:16'],
    pictureDecidesShape: false,
    durations: [4, 6, 8],
    maxPrompt: 4_000,
  }),
  ...['gemini-2.5-flash', 'gemini-2.5-pro'].map((id) =>
    model(id, `Gemini ${id.slice('gemini-'.length).replaceAll('-', ' ')}`, {
      category: 'language',
      kinds: ['CHAT', 'ANALYSIS'],
      inputs: [...CHAT_INPUTS, 'media', 'prompt'],
      maxPrompt: 100_000,
    }),
  ),
];
