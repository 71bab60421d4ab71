import type { ModelWire } from '../../domain/inputs/model-wire.ts';
import type { FieldRequest } from '../shared/model-fields.ts';

/** The fields that most models at Replicate have. */
export const COMMON: Readonly<Record<FieldRequest['kind'], ModelWire>> = {
  IMAGE: {
    fields: {
      prompt: { name: 'prompt' },
      aspectRatio: { name: 'aspect_ratio' },
      count: { name: 'num_outputs' },
      seed: { name: 'seed' },
      images: { name: 'image' },
      mask: { name: 'mask' },
    },
  },
  VIDEO: {
    fields: {
      prompt: { name: 'prompt' },
      negativePrompt: { name: 'negative_prompt' },
      aspectRatio: { name: 'aspect_ratio' },
      resolution: { name: 'resolution' },
      duration: { name: 'duration' },
      seed: { name: 'seed' },
      references: { name: 'reference_images', as: 'list' },
      firstFrame: { name: 'image' },
      lastFrame: { name: 'last_frame_image' },
    },
  },
};

/** The models unless the binding names one. */
export const DEFAULT_MODELS = {
  IMAGE: 'black-forest-labs/flux-schnell',
  VIDEO: 'bytedance/seedance-1-lite',
} as const;
