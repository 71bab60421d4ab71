import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model } from './model.ts';

/** Hedra: talking videos of a person in a picture, from audio or text. None of its models takes a video. */
export const hedra: readonly ModelLimits[] = [
  avatar('hedra-avatar', 'Hedra Avatar'),
  // v3 alone.
  avatar('hedra-character-3', 'Hedra Character 3'),
  // The older API alone.
  avatar('hedra-omnia', 'Hedra Omnia'),
];

function avatar(id: string, name: string): ModelLimits {
  return model(id, name, {
    category: 'avatar',
    kinds: ['LIP_SYNC'],
    inputs: ['image', 'audio', 'text', 'voiceId', 'prompt', 'aspectRatio', 'resolution'],
    needs: ['image'],
    sizes: ['720p', '540p', '1080p'],
    aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21'],
    pictureDecidesShape: false,
    maxPrompt: 5_000,
  });
}
