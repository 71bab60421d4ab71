import { z } from 'zod';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { ModelWire } from '../../domain/inputs/model-limits.ts';
import type { Handle, JobCapability, Provider, StartContext, CallContext } from '../contract/provider.ts';
import { beforeStart, createExchange, type Exchange, dataUri, readInput } from '../shared/exchange.ts';
import { inputIn, type AddressOfInput, type FieldRequest } from '../shared/model-fields.ts';
import { withVendorOptions, encodeForm } from '../shared/request-body.ts';
import { describeModel, findModels } from './describe.ts';
import { webhookCheck } from './webhooks.ts';
import { asPrediction, jobStatus, throwRefusal, read } from './wire.ts';

/**
 * Replicate's predictions: of a model by its name, or of one of its versions (`owner/name:version`). The API has no
 * field for our reference. Outputs are deleted an hour after the end; like all results they are downloaded at once.
 */
export function createReplicate(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const steps = sharedSteps(exchange);
  return {
    name: 'replicate',
    jobs: {
      IMAGE: { ...steps, start: (request, context) => start(exchange, request, context) },
      VIDEO: { ...steps, pollMs: 2_000, start: (request, context) => start(exchange, request, context) },
    },
    describeModel: (name, context) => describeModel(exchange, name, context),
    findModels: (words, context) => findModels(exchange, words, context),
    verifyWebhook: webhookCheck(exchange),
  };
}

/** After this time the vendor cancels a prediction by itself, also one that never started. */
const CANCEL_AFTER = '30m';
/** A prediction repeats its input, with the images that were sent in it. */
const MAX_BYTES = 32 << 20;

async function start(exchange: Exchange, request: FieldRequest, context: StartContext): Promise<Handle> {
  const { model, input } = await beforeStart(buildInput(exchange, request, context));
  const { webhookUrl } = context;
  const answer = await exchange(context, {
    method: 'POST',
    ...pathOfModel(model),
    json: {
      ...readVersion(model),
      input: withVendorOptions(request, input),
      ...(webhookUrl !== undefined && { webhook: webhookUrl, webhook_events_filter: ['completed'] }),
    },
    headers: { 'cancel-after': CANCEL_AFTER },
    maxBytes: MAX_BYTES,
  });
  return { id: asPrediction(answer, 'start').id };
}

async function buildInput(exchange: Exchange, request: FieldRequest, context: StartContext) {
  const resolveAddress: AddressOfInput = (file, field) => addressOfInput(exchange, { file, field }, context);
  const { model: named, wire } = context.connection;
  const model = wire?.version ?? named ?? DEFAULT_MODELS[request.kind];
  return { model, input: await inputIn(wire ?? COMMON[request.kind], request, resolveAddress) };
}

/** A version is requested by its id; a model without one by its name. */
function readVersion(model: string): { readonly version?: string } {
  return model.includes(':') || !model.includes('/') ? { version: model } : {};
}

function pathOfModel(model: string): { readonly path: string } {
  if (readVersion(model).version !== undefined) return { path: '/predictions' };
  const [owner = '', name = ''] = model.split('/');
  return { path: `/models/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/predictions` };
}

function sharedSteps(exchange: Exchange): Omit<JobCapability, 'start'> {
  return {
    pollMs: 1_000,
    async status(handle, context) {
      const answer = await exchange(context, {
        method: 'GET',
        path: formatPath(handle),
        retry: 'safe',
        maxBytes: MAX_BYTES,
      });
      return jobStatus(asPrediction(answer, 'prediction'));
    },
    async cancel(handle, context) {
      const answer = await exchange(context, {
        method: 'POST',
        path: `${formatPath(handle)}/cancel`,
        maxBytes: MAX_BYTES,
      });
      if (answer.status === 404) return 'too-late';
      throwRefusal(answer, 'prediction');
      const { status } = asPrediction(answer, 'prediction');
      return status === 'succeeded' || status === 'failed' ? 'too-late' : 'cancelled';
    },
  };
}

function formatPath({ id }: Handle): string {
  if (typeof id === 'string') return `/predictions/${encodeURIComponent(id)}`;
  throw new UpstreamError('LOST', 'replicate: the handle names no prediction');
}

/** The fields that most models at Replicate have. */
const COMMON: Readonly<Record<FieldRequest['kind'], ModelWire>> = {
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
const DEFAULT_MODELS = {
  IMAGE: 'black-forest-labs/flux-schnell',
  VIDEO: 'bytedance/seedance-1-lite',
} as const;

/** Largest file sent as a data: URI, as the vendor recommends. */
const MAX_INLINE = 256 * 1024;
const UPLOAD_TIMEOUT_MS = 120_000;

const uploaded = z.object({ urls: z.object({ get: z.string().min(1) }) });

/** The URL of an input for a model: ours when it is public, a data: URI when it is small, else a file at Replicate. */
async function addressOfInput(
  exchange: Exchange,
  { file, field }: { readonly file: InputFile; readonly field: string },
  context: CallContext,
): Promise<string> {
  if (file.publicUrl !== null) return file.publicUrl;
  if (file.bytes <= MAX_INLINE) return dataUri(file, field);
  const form = new FormData();
  const bytes = new Uint8Array(await readInput(file, field));
  form.append('content', new Blob([bytes], { type: file.contentType }), file.name);
  const answer = await exchange(context, {
    method: 'POST',
    path: '/files',
    ...(await encodeForm(form)),
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  throwRefusal(answer, 'account');
  return read(uploaded, answer, 'a file').urls.get;
}
