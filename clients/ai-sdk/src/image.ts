import type { ImageModelV4, ImageModelV4CallOptions, ImageModelV4Result } from '@ai-sdk/provider';
import type { Kiln } from '@kiln/client';

import {
  download,
  readExtras,
  inputFile,
  findKey,
  type ModelOptions,
  named,
  createResponse,
} from './shared.ts';

/** Images. */
export function imageModel({ kiln, modelId }: ModelOptions): ImageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'kiln',
    modelId,
    maxImagesPerCall: () => mostImages(kiln, modelId),
    doGenerate: (options) => generate({ kiln, modelId }, options),
  };
}

async function generate(
  { kiln, modelId }: ModelOptions,
  options: ImageModelV4CallOptions,
): Promise<ImageModelV4Result> {
  const { prompt, n, size, aspectRatio, seed, files = [], mask, abortSignal: signal, headers } = options;
  const images = await Promise.all(files.map((file) => inputFile(kiln, file, signal)));
  const input = {
    ...named(modelId),
    prompt: prompt ?? '',
    ...(n > 1 ? { count: n } : {}),
    resolution: size,
    aspectRatio,
    seed,
    ...(images.length > 0 ? { images } : {}),
    ...(mask ? { mask: await inputFile(kiln, mask, signal) } : {}),
    ...readExtras(options.providerOptions),
  };
  const { id } = await kiln.generate('image', input, { ...findKey(headers), signal });
  const { outputs } = await kiln.result(id, { signal });
  return {
    images: await Promise.all(outputs.map((output) => download(output, signal))),
    warnings: [],
    response: createResponse(modelId),
    providerMetadata: { kiln: { images: outputs.map(({ url, sha256 }) => ({ taskId: id, url, sha256 })) } },
  };
}

const MODELS = 'query($generator:String!){models(generator:$generator){model isDefault kinds maxCount}}';

interface ModelFacts {
  readonly model: string;
  readonly isDefault: boolean;
  readonly kinds: readonly string[];
  readonly maxCount: number | null;
}

/** Most images of one task; the SDK makes several tasks for more. */
async function mostImages(kiln: Kiln, modelId: string): Promise<number> {
  const { generator, model } = named(modelId);
  const { models } = await kiln.request(MODELS, { generator });
  const found = (models as readonly ModelFacts[]).find((one) =>
    model === undefined ? one.isDefault && one.kinds.includes('IMAGE') : one.model === model,
  );
  return found?.maxCount ?? 1;
}
