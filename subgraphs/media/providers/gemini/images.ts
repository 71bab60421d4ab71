import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Outcome, StartContext } from '../contract/provider.ts';
import { readInput, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { parseGenerated, throwBlocked, throwStartRefusal, unreadable } from './wire.ts';

/** Images from text and images: generateContent of a model that returns images. */

type ImageRequest = RequestOf<'IMAGE'>;

const DEFAULT_MODEL = 'gemini-3.1-flash-image';
const TIMEOUT_MS = 600_000;
const MAX_BYTES = 96 << 20;

/** Generates the image. */
export async function makeImages(
  exchange: Exchange,
  request: ImageRequest,
  context: StartContext,
): Promise<Outcome> {
  if ((request.count ?? 1) !== 1) throw invalidInput('count', 'gemini makes one image at a time');
  const answer = await exchange(context, {
    method: 'POST',
    path: `/models/${context.connection.model ?? DEFAULT_MODEL}:generateContent`,
    json: withVendorOptions(request, await buildBody(request)),
    timeoutMs: context.connection.callTimeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  throwStartRefusal(answer);
  const { files, finishReason, text } = parseGenerated(answer.json, 'prompt');
  if (files.length > 0) return { files, texts: [] };
  if (finishReason === null) throw unreadable(new Error('no candidate'));
  throwBlocked(finishReason, 'prompt');
  const reason = text === '' ? finishReason : text.slice(0, 300);
  throw new UpstreamError('UNAVAILABLE', `gemini made no image: ${reason}`);
}

async function buildBody(request: ImageRequest): Promise<Record<string, unknown>> {
  const { prompt, negativePrompt, images = [], aspectRatio, resolution = '', seed } = request;
  const inlineParts = await Promise.all(images.map((image) => inlinePart(image, 'images')));
  const imageConfig = {
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...(/^[124]K$/.test(resolution) && { imageSize: resolution }),
  };
  const text = negativePrompt === undefined ? prompt : `${prompt}\n\nAvoid: ${negativePrompt}`;
  return {
    contents: [{ role: 'user', parts: [...inlineParts, { text }] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
      seed,
    },
  };
}

/** An inline file. */
export async function inlinePart(file: InputFile, field: string): Promise<object> {
  const data = (await readInput(file, field)).toString('base64');
  return { inlineData: { mimeType: file.contentType, data } };
}
