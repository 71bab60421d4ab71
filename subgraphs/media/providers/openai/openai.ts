import type { HttpClient } from '../../../../platform/http-client.ts';
import { createExchange, readInput, type Exchange, type ExchangeRequest } from '../exchange.ts';
import {
  UpstreamError,
  type CallContext,
  type ChatOutcome,
  type ChatRequest,
  type Outcome,
  type Provider,
  type StartContext,
  type WorkRequest,
} from '../provider.ts';
import { chatOutcome, imageFiles, throwRefusal } from './wire.ts';

/**
 * The OpenAI wire, spoken by OpenAI and by everything compatible: chat completions, image generations and edits. Both
 * are short calls that answer with the result. Kiln's reference travels as Idempotency-Key.
 */
export function createOpenai(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  return {
    name: 'openai',
    calls: { IMAGE: { call: (request, context) => makeImages(exchange, request, context) } },
    chat: (request, context) => chat(exchange, request, context),
  };
}

type ImageRequest = Extract<WorkRequest, { kind: 'IMAGE' }>;

const IMAGE_TIMEOUT_MS = 180_000;
const IMAGE_MAX_BYTES = 96 << 20;
const DEFAULT_IMAGE_MODEL = 'gpt-image-1';
const DEFAULT_CHAT_MODEL = 'gpt-4o-mini';

async function makeImages(exchange: Exchange, request: WorkRequest, context: StartContext): Promise<Outcome> {
  if (request.kind !== 'IMAGE') {
    throw new UpstreamError('INVALID_INPUT', `openai does not make ${request.kind}`, { retryable: false });
  }
  const fields = imageFields(request, context.connection.model ?? DEFAULT_IMAGE_MODEL);
  const sent = request.images.length === 0 ? generation(fields) : await edit(fields, request);
  const answer = await exchange(context, {
    ...sent,
    method: 'POST',
    headers: { ...sent.headers, 'idempotency-key': context.reference },
    timeoutMs: IMAGE_TIMEOUT_MS,
    maxBytes: IMAGE_MAX_BYTES,
  });
  throwRefusal(answer);
  return { files: imageFiles(answer), texts: [] };
}

function imageFields(request: ImageRequest, model: string): Record<string, string | number> {
  const avoided = request.negativePrompt === null ? '' : `\n\nAvoid: ${request.negativePrompt}`;
  return {
    model,
    prompt: request.prompt + avoided,
    n: request.count ?? 1,
    size: sizeOf(request),
    output_format: 'png',
  };
}

/** The three sizes that the image models take; the nearest in shape wins. An explicit WxH is passed on as it is. */
const SIZES = [
  ['1024x1024', 1],
  ['1536x1024', 1.5],
  ['1024x1536', 1 / 1.5],
] as const;

function sizeOf(request: ImageRequest): string {
  if (request.resolution !== null && /^\d{2,5}x\d{2,5}$/.test(request.resolution)) return request.resolution;
  const [width = 1, height = 1] = (request.aspectRatio ?? '1:1').split(':').map(Number);
  const distance = (shape: number) => Math.abs(Math.log(shape / (width / height)));
  return SIZES.reduce((best, size) => (distance(size[1]) < distance(best[1]) ? size : best))[0];
}

function generation(
  fields: Record<string, string | number>,
): Pick<ExchangeRequest, 'path' | 'json' | 'headers'> {
  return { path: '/images/generations', json: fields, headers: {} };
}

async function edit(
  fields: Record<string, string | number>,
  request: ImageRequest,
): Promise<Pick<ExchangeRequest, 'path' | 'bytes' | 'headers'>> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  for (const image of request.images) {
    const bytes = new Uint8Array(await readInput(image, 'images'));
    form.append('image[]', new Blob([bytes], { type: image.contentType }), image.name);
  }
  // Node's own encoder writes the multipart body and names its boundary.
  const encoded = new Response(form);
  return {
    path: '/images/edits',
    bytes: new Uint8Array(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? 'multipart/form-data' },
  };
}

async function chat(exchange: Exchange, request: ChatRequest, context: CallContext): Promise<ChatOutcome> {
  const history = Array.isArray(request.messages) ? request.messages : [];
  const answer = await exchange(context, {
    method: 'POST',
    path: '/chat/completions',
    json: {
      model: context.connection.model ?? DEFAULT_CHAT_MODEL,
      messages: request.system === null ? history : [{ role: 'system', content: request.system }, ...history],
      ...(request.temperature !== null && { temperature: request.temperature }),
      ...(request.maxTokens !== null && { max_completion_tokens: request.maxTokens }),
    },
    timeoutMs: 120_000,
    maxBytes: 8 << 20,
  });
  throwRefusal(answer);
  return chatOutcome(answer);
}
