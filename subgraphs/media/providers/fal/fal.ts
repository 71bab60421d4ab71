import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { ModelWire } from '../../domain/inputs/model-limits.ts';
import type {
  CallContext,
  Handle,
  JobCapability,
  JobStatus,
  Provider,
  StartContext,
  WatchedProgress,
  Connection,
} from '../contract/provider.ts';
import { createEventStream, type EventStream } from '../shared/event-stream.ts';
import { beforeStart, createExchange, type Exchange } from '../shared/exchange.ts';
import { type AddressOfInput, type FieldRequest, inputIn } from '../shared/model-fields.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { describeModel, findModels } from './describe.ts';
import { addressOfInput, LIFECYCLE } from './storage.ts';
import { webhookCheck } from './webhooks.ts';
import {
  cancelVerdict,
  completedStatus,
  readProgress,
  queueStatus,
  statusEvent,
  submittedRequest,
  throwRefusal,
  waitingStatus,
} from './wire.ts';

/**
 * fal's queue: requests are submitted to a model's endpoint, then polled at the path that the answer names (status and
 * cancel omit the endpoint's sub-path), always at our own base URL. The wire has no field for our reference and no list
 * of requests. Its status can be streamed, and it sends signed webhooks.
 */
export function createFal(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const steps = sharedSteps(exchange, createEventStream(options.http));
  const parts = { http: options.http, exchange };
  return {
    name: 'fal',
    jobs: {
      IMAGE: { ...steps, start: (request, context) => start(parts, request, context) },
      VIDEO: { ...steps, pollMs: 2_000, start: (request, context) => start(parts, request, context) },
    },
    describeModel: (name, context) => describeModel(exchange, name, context),
    findModels: (words, context) => findModels(exchange, words, context),
    verifyWebhook: webhookCheck(exchange),
  };
}

interface Parts {
  readonly http: HttpClient;
  readonly exchange: Exchange;
}

async function start(parts: Parts, request: FieldRequest, context: StartContext): Promise<Handle> {
  const resolveAddress: AddressOfInput = (file, field) => addressOfInput(parts, { file, field }, context);
  const { endpoint, input } = await beforeStart(buildCall(context.connection, request, resolveAddress));
  const { webhookUrl } = context;
  const query = webhookUrl === undefined ? '' : `?fal_webhook=${encodeURIComponent(webhookUrl)}`;
  const answer = await parts.exchange(context, {
    method: 'POST',
    path: `/${endpoint}${query}`,
    json: withVendorOptions(request, input),
    headers: LIFECYCLE,
  });
  const { id, url } = submittedRequest(answer);
  return { requestId: id, path: requestPath({ id, url, endpoint }, context) };
}

/**
 * The path of a request, from the URL that fal answered. Only the path is used: credentials go to our own base URL
 * only. When the URL does not fit, the path is built as fal's own client builds it.
 */
function requestPath(
  { id, url, endpoint }: { readonly id: string; readonly url: string | null; readonly endpoint: string },
  { connection }: CallContext,
): string {
  const base = new URL(connection.baseUrl).pathname.replace(/\/+$/, '') + connection.pathPrefix;
  const named = url !== null && URL.canParse(url) ? new URL(url).pathname : '';
  const own = base !== '' && named.startsWith(`${base}/`) ? named.slice(base.length) : named;
  const tail = `/requests/${encodeURIComponent(id)}`;
  if (/^\/[\w./-]+$/.test(own) && own.endsWith(tail) && !own.includes('..')) return own;
  const [first = '', second = '', third = ''] = endpoint.split('/');
  const isNested = first === 'workflows' || first === 'comfy';
  return `/${[first, second, ...(isNested ? [third] : [])].join('/')}${tail}`;
}

function readPath({ path }: Handle): string {
  if (typeof path === 'string') return path;
  throw new UpstreamError('LOST', 'fal: the handle names no request');
}

function sharedSteps(exchange: Exchange, events: EventStream): Omit<JobCapability, 'start'> {
  return {
    pollMs: 1_000,
    status: (handle, context) => status(exchange, readPath(handle), context),
    async cancel(handle, context) {
      return cancelVerdict(await exchange(context, { method: 'PUT', path: `${readPath(handle)}/cancel` }));
    },
    watch: (handle, context, report) => watch(events, readPath(handle), context, report),
  };
}

async function status(exchange: Exchange, path: string, context: CallContext): Promise<JobStatus> {
  const answer = await exchange(context, { method: 'GET', path: `${path}/status?logs=1`, retry: 'safe' });
  throwRefusal(answer, 'request');
  const found = queueStatus(answer);
  if (found.status !== 'COMPLETED') return waitingStatus(found);
  return completedStatus(await exchange(context, { method: 'GET', path, retry: 'safe', maxBytes: 32 << 20 }));
}

/** Longest pause between two events of the stream. */
const STREAM_PAUSE_MS = 120_000;

async function watch(
  events: EventStream,
  path: string,
  context: CallContext,
  report: (progress: WatchedProgress) => void,
): Promise<void> {
  const stream = events(context, {
    method: 'GET',
    path: `${path}/status/stream?logs=1`,
    timeoutMs: STREAM_PAUSE_MS,
    onRefusal: (answer) => throwRefusal(answer, 'request'),
  });
  for await (const data of stream) {
    const found = statusEvent(data);
    if (found === null) continue;
    if (found.status === 'COMPLETED') return;
    const progress = readProgress(found);
    if (found.status === 'IN_PROGRESS' && progress !== null) report({ progress, stage: 'rendering' });
  }
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
async function buildCall(
  { model, wire }: Pick<Connection, 'model' | 'wire'>,
  request: FieldRequest,
  resolveAddress: AddressOfInput,
) {
  const own = wire ?? COMMON[request.kind];
  const input = await inputIn(own, request, resolveAddress);
  const hasImage = request.kind === 'IMAGE' ? request.images !== undefined : request.firstFrame !== undefined;
  const path = own.paths?.[hasImage ? 'pictures' : 'words'] ?? '';
  return { endpoint: `${model ?? DEFAULTS[request.kind]}${path}`, input };
}
