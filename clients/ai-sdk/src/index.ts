import {
  type Experimental_VideoModelV4 as VideoModelV4,
  type ImageModelV4,
  type LanguageModelV4,
  NoSuchModelError,
  type ProviderV4,
  type SpeechModelV4,
} from '@ai-sdk/provider';
import { type ConnectionOptions, createKiln } from '@kiln/client';

import { chatModel } from './chat.ts';
import { imageModel } from './image.ts';
import { speechModel } from './speech.ts';
import { videoModel } from './video.ts';

/** The models of a Kiln. An id is a generator (`imga`) or a generator and one of its models (`union:gpt-image-2`). */
export interface KilnProvider extends ProviderV4 {
  /** Images. */
  image(modelId: string): ImageModelV4;
  /** Videos. */
  video(modelId: string): VideoModelV4;
  videoModel(modelId: string): VideoModelV4;
  /** Speech; without a voice the first of the generator speaks. */
  speech(modelId: string): SpeechModelV4;
  speechModel(modelId: string): SpeechModelV4;
  /** Language models. */
  chat(modelId: string): LanguageModelV4;
}

/**
 * Kiln as a provider of the AI SDK. `providerOptions: { kiln: { ... } }` is merged into the input of a call, with `options`
 * in the names of the model's vendor; `providerMetadata.kiln` of a result has its `taskId` and addresses.
 */
export function createKilnProvider(settings: ConnectionOptions): KilnProvider {
  const kiln = createKiln(settings);
  const image = (modelId: string) => imageModel({ kiln, modelId });
  const video = (modelId: string) => videoModel({ kiln, modelId });
  const speech = (modelId: string) => speechModel({ kiln, modelId });
  const chat = (modelId: string) => chatModel({ kiln, modelId });
  return {
    specificationVersion: 'v4',
    image,
    imageModel: image,
    video,
    videoModel: video,
    speech,
    speechModel: speech,
    chat,
    languageModel: chat,
    embeddingModel(modelId) {
      throw new NoSuchModelError({ modelId, modelType: 'embeddingModel' });
    },
  };
}
