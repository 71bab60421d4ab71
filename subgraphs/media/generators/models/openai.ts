import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model, VIDEO_INPUTS } from './model.ts';

/** The OpenAI wire: pictures, videos, chat. */
export const openai: readonly ModelLimits[] = [
  model('gpt-image-1', 'GPT Image 1', {
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt', 'negativePrompt', 'images', 'mask', 'aspectRatio', 'resolution', 'count'],
    sizes: ['1024x1024', '1536x1024', '1024x1536'],
    nearestRatios: ['1:1', '3:2', '2:3'],
    maxPrompt: 32_000,
    maxImages: 10,
    maxCount: 10,
  }),
  ...openaiVideos(),
  ...languageModels(),
];

/** The first two do not reason; those that do take no temperature. */
function languageModels(): readonly ModelLimits[] {
  const common = ['messages', 'system', 'maxTokens', 'tools', 'responseFormat', 'image'];
  const inputs = {
    'gpt-4o-mini': [...common, 'temperature'],
    'gpt-4o': [...common, 'temperature'],
    'gpt-5-mini': [...common, 'reasoningEffort'],
    'gpt-5': [...common, 'reasoningEffort'],
  };
  return Object.entries(inputs).map(([id, own]) =>
    model(id, `GPT-${id.slice('gpt-'.length)}`, { category: 'language', kinds: ['CHAT'], inputs: own }),
  );
}

function openaiVideos(): readonly ModelLimits[] {
  const small = ['720p', '1280x720', '720x1280'];
  const sizes = { 'sora-2': small, 'sora-2-pro': [...small, '1792x1024', '1024x1792'] };
  return Object.entries(sizes).map(([id, own]) =>
    model(id, id === 'sora-2' ? 'Sora 2' : 'Sora 2 Pro', {
      category: 'video',
      kinds: ['VIDEO'],
      inputs: [...VIDEO_INPUTS, 'negativePrompt'],
      needs: ['prompt'],
      sizes: own,
      aspectRatios: ['16:9', '9:16'],
      pictureDecidesShape: false,
      durations: [4, 8, 12],
      maxPrompt: 32_000,
    }),
  );
}
