import type { ModelWire } from '../../domain/inputs/model-wire.ts';
import type { Connection } from '../contract/provider.ts';
import { inputIn, type AddressOfInput, type FieldRequest } from '../shared/model-fields.ts';

/** One submission to fal's queue: endpoint and input. */
export interface FalCall {
  readonly endpoint: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The fields that most models have. */
const COMMON: Readonly<Record<FieldRequest['kind'], ModelWire>> = {
  IMAGE: {
    fields: {
      prompt: { name: 'prompt' },
      aspectRatio: { name: 'image_size', as: 'size' },
      count: { name: 'num_images' },
      seed: { name: 'seed' },
      images: { name: 'image_url' },
      mask: { name: 'mask_url' },
    },
  },
  VIDEO: {
    fields: {
      prompt: { name: 'prompt' },
      negativePrompt: { name: 'negative_prompt' },
      aspectRatio: { name: 'aspect_ratio' },
      resolution: { name: 'resolution' },
      // The wire expects the seconds as a text.
      duration: { name: 'duration', as: 'text' },
      seed: { name: 'seed' },
      firstFrame: { name: 'image_url' },
      lastFrame: { name: 'end_image_url' },
    },
  },
};

/** The endpoints unless the binding names a model. */
const DEFAULTS: Readonly<Record<FieldRequest['kind'], string>> = {
  IMAGE: 'fal-ai/flux/schnell',
  VIDEO: 'fal-ai/kling-video/v2.5-turbo/pro/text-to-video',
};

/** The submission of a request. Throws INVALID_INPUT for what the wire can't say. */
export async function callOf(
  { model, wire }: Pick<Connection, 'model' | 'wire'>,
  request: FieldRequest,
  addressOf: AddressOfInput,
): Promise<FalCall> {
  const own = wire ?? COMMON[request.kind];
  const input = await inputIn(own, request, addressOf);
  const hasImage = request.kind === 'IMAGE' ? request.images !== undefined : request.firstFrame !== undefined;
  const path = own.paths?.[hasImage ? 'pictures' : 'words'] ?? '';
  return { endpoint: `${model ?? DEFAULTS[request.kind]}${path}`, input };
}
