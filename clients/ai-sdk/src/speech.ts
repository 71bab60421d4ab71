import type { SpeechModelV4, SpeechModelV4CallOptions, SpeechModelV4Result } from '@ai-sdk/provider';
import { type Kiln, KilnError } from '@kiln/client';

import { download, readExtras, findKey, type ModelOptions, named, unsupported } from './shared.ts';

/** Speech. */
export function speechModel({ kiln, modelId }: ModelOptions): SpeechModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'kiln',
    modelId,
    doGenerate: (options) => speak({ kiln, modelId }, options),
  };
}

async function speak(
  { kiln, modelId }: ModelOptions,
  options: SpeechModelV4CallOptions,
): Promise<SpeechModelV4Result> {
  const { text, voice, outputFormat, speed, instructions, language, abortSignal: signal, headers } = options;
  const from = named(modelId);
  const input = {
    ...from,
    text,
    voiceId: voice ?? (await firstVoice(kiln, from.generator)),
    speed,
    format: outputFormat,
    ...readExtras(options.providerOptions),
  };
  const { id } = await kiln.generate('speech', input, { ...findKey(headers), signal });
  const { outputs } = await kiln.result(id, { signal });
  const [recording] = outputs;
  if (recording === undefined) throw new KilnError('BAD_ANSWER', `task ${id} has no recording`);
  return {
    audio: await download(recording, signal),
    warnings: unsupported({ instructions, language }),
    response: { timestamp: new Date(), modelId },
    providerMetadata: { kiln: { taskId: id, url: recording.url } },
  };
}

async function firstVoice(kiln: Kiln, generator: string): Promise<string> {
  const { voices } = await kiln.request('query($generator:String!){voices(generator:$generator){id}}', {
    generator,
  });
  const [first] = voices as readonly { readonly id: string }[];
  if (first === undefined) throw new KilnError('NOT_FOUND', `${generator} has no voices`);
  return first.id;
}
