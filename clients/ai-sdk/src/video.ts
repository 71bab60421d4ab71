import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as CallOptions,
  Experimental_VideoModelV4OperationStatusResult as StatusResult,
  JSONValue,
} from '@ai-sdk/provider';
import { isEnded, type Kiln, type Media } from '@kiln/client';

import {
  download,
  readExtras,
  inputFile,
  findKey,
  type ModelOptions,
  named,
  createResponse,
  unsupported,
} from './shared.ts';

/** Videos: started, and asked about by the id of their task, from any process. */
export function videoModel({ kiln, modelId }: ModelOptions): VideoModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'kiln',
    modelId,
    maxVideosPerCall: 1,
    async handleWebhookOption({ webhook }) {
      const { url, received } = await webhook();
      return { webhookUrl: url, received };
    },
    async doGenerate(options) {
      const { abortSignal: signal, fps } = options;
      const { id } = await start({ kiln, modelId }, options);
      const { outputs } = await kiln.result(id, { signal });
      return {
        // The bytes: the SDK itself fetches nothing from private addresses, where many a Kiln is.
        videos: await Promise.all(outputs.map((output) => downloadVideo(output, signal))),
        warnings: unsupported({ fps }),
        response: createResponse(modelId),
        providerMetadata: {
          kiln: { taskId: id, videos: outputs.map(({ url, sha256 }) => ({ url, sha256 })) },
        },
      };
    },
    async doStart(options) {
      const { id } = await start({ kiln, modelId }, options);
      const { fps } = options;
      return {
        operation: { taskId: id },
        warnings: unsupported({ fps }),
        response: createResponse(modelId),
        providerMetadata: { kiln: { taskId: id } },
      };
    },
    doStatus: ({ operation, abortSignal }) => readStatus({ kiln, modelId }, operation, abortSignal),
  };
}

async function start(
  { kiln, modelId }: ModelOptions,
  options: CallOptions & { readonly webhookUrl?: string },
) {
  const { webhookUrl, abortSignal: signal, headers } = options;
  const input = await toInput({ kiln, modelId }, options);
  const kind = 'lastFrame' in input ? 'frameVideo' : 'video';
  return kiln.generate(kind, input, { ...findKey(headers), callbackUrl: webhookUrl, signal });
}

async function downloadVideo(output: Media, signal: AbortSignal | undefined) {
  return { type: 'binary' as const, data: await download(output, signal), mediaType: output.contentType };
}

async function toInput({ kiln, modelId }: ModelOptions, options: CallOptions) {
  const { prompt, aspectRatio, resolution, duration, seed, generateAudio, abortSignal: signal } = options;
  const { image, frameImages = [], inputReferences = [] } = options;
  const frame = (wanted: string) => frameImages.find(({ frameType }) => frameType === wanted)?.image;
  const [first, last] = [image ?? frame('first_frame'), frame('last_frame')];
  const references = await Promise.all(inputReferences.map((file) => inputFile(kiln, file, signal)));
  return {
    ...named(modelId),
    prompt,
    aspectRatio: aspectRatio === 'adaptive' ? undefined : aspectRatio,
    resolution,
    duration,
    seed,
    generateAudio,
    ...(first ? { firstFrame: await inputFile(kiln, first, signal) } : {}),
    ...(last ? { lastFrame: await inputFile(kiln, last, signal) } : {}),
    ...(references.length > 0 ? { references } : {}),
    ...readExtras(options.providerOptions),
  };
}

async function readStatus(
  { kiln, modelId }: { readonly kiln: Kiln; readonly modelId: string },
  operation: JSONValue,
  signal: AbortSignal | undefined,
): Promise<StatusResult> {
  const { taskId } = operation as { readonly taskId: string };
  const task = await kiln.task(taskId, { signal });
  const { id, state, stage, progress, outputs, error } = task;
  const response = createResponse(modelId);
  const providerMetadata = { kiln: { taskId: id, state, stage, progress } };
  if (!isEnded(task)) return { status: 'pending', response, providerMetadata };
  if (state !== 'SUCCEEDED') {
    const reason = error === null ? 'CANCELLED: the task was cancelled' : `${error.code}: ${error.message}`;
    return { status: 'error', error: reason, response, providerMetadata };
  }
  const videos = outputs.map(({ url, contentType }) => ({
    type: 'url' as const,
    url,
    mediaType: contentType,
  }));
  return { status: 'completed', videos, warnings: [], response, providerMetadata };
}
