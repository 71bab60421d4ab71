import { z } from 'zod';

import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import type { CallContext, Handle, JobCapability, JobStatus, StartContext } from '../contract/provider.ts';
import { readInput, type Exchange } from '../shared/exchange.ts';
import { number, optionalListOf, text } from '../shared/reader.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import {
  toRemoteFiles,
  isAboutContent,
  read,
  refusedContent,
  throwRefusal,
  throwStartRefusal,
} from './wire.ts';

/**
 * Videos by the Interactions API (the Omni models): an interaction in the background, polled until it has ended. Nothing finds it by our
 * reference; it is not cancelled, as Veo's operations can't be either.
 */
export function interactionJob(
  exchange: Exchange,
): Required<Pick<JobCapability<VideoRequest>, 'start' | 'status' | 'erase'>> {
  return {
    start: (request, context) => start(exchange, request, context),
    status: (handle, context) => status(exchange, handle, context),
    erase: async (handle, context) => {
      const path = `/interactions/${encodeURIComponent(readId(handle))}`;
      const answer = await exchange(context, { method: 'DELETE', path, retry: 'safe' });
      // The Developer API has answered 501: it keeps them for as long as its terms say.
      if (answer.status !== 404 && answer.status !== 501) throwRefusal(answer);
    },
  };
}

/** Whether a model makes videos by interactions; the others by long-running operations. */
export function isInteractive(model: string): boolean {
  return model.includes('-omni-');
}

const START_TIMEOUT_MS = 120_000;
/** A finished interaction may have its video in it. */
const MAX_BYTES = 128 << 20;

const rpcStatus = z.looseObject({ code: number, message: z.string().nullish() });
const interaction = z.object({
  id: z.string().min(1),
  status: text,
  error: rpcStatus.nullish().catch(null),
  steps: optionalListOf(
    z.object({
      type: text,
      error: rpcStatus.nullish().catch(null),
      content: optionalListOf(z.object({ type: text, uri: text, data: text, mime_type: text, text })),
    }),
  ),
});
type Interaction = z.output<typeof interaction>;

async function start(exchange: Exchange, request: VideoRequest, context: StartContext): Promise<Handle> {
  const answer = await exchange(context, {
    method: 'POST',
    path: '/interactions',
    json: withVendorOptions(request, { model: context.connection.model, ...(await buildBody(request)) }),
    timeoutMs: START_TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  throwStartRefusal(answer);
  return { interaction: read(interaction, answer).id };
}

async function buildBody(request: VideoRequest): Promise<object> {
  const { prompt, negativePrompt, firstFrame, lastFrame, aspectRatio, resolution, duration, seed } = request;
  if (prompt === undefined) throw invalidInput('prompt', 'this model makes videos from words');
  if (lastFrame !== undefined) throw invalidInput('lastFrame', 'this model takes no last frame');
  const text = negativePrompt === undefined ? prompt : `${prompt}\n\nAvoid: ${negativePrompt}`;
  return {
    input: [...(firstFrame === undefined ? [] : [await toImage(firstFrame)]), { type: 'text', text }],
    background: true,
    store: true,
    response_format: {
      type: 'video',
      aspect_ratio: aspectRatio,
      resolution: resolution && (RESOLUTIONS[resolution] ?? resolution),
      duration: duration === undefined ? undefined : `${duration}s`,
      delivery: 'uri',
    },
    ...(seed !== undefined && { generation_config: { seed } }),
  };
}

const RESOLUTIONS: Readonly<Record<string, string>> = {
  '1280x720': '720p',
  '1920x1080': '1080p',
  '3840x2160': '4k',
};

async function toImage(file: InputFile): Promise<object> {
  const data = (await readInput(file, 'image')).toString('base64');
  return { type: 'image', data, mime_type: file.contentType };
}

async function status(exchange: Exchange, handle: Handle, context: CallContext): Promise<JobStatus> {
  const path = `/interactions/${encodeURIComponent(readId(handle))}`;
  const answer = await exchange(context, { method: 'GET', path, retry: 'safe', maxBytes: MAX_BYTES });
  throwRefusal(answer);
  const found = read(interaction, answer);
  switch (found.status) {
    case 'queued':
      return { state: 'queued' };
    case 'completed':
      return finished(found, context);
    case 'cancelled': {
      const message = 'the interaction was cancelled at gemini';
      return { state: 'failed', error: new UpstreamError('LOST', message, { retryable: false }) };
    }
    case 'failed':
    case 'incomplete':
    case 'budget_exceeded':
      return { state: 'failed', error: toFailure(found) };
    default:
      return { state: 'running', progress: null };
  }
}

function finished(found: Interaction, context: CallContext): JobStatus {
  const videos = findContent(found).filter(({ type }) => type === 'video');
  const files = videos.flatMap(({ uri, data, mime_type: type }) => {
    if (data) return [{ content: Buffer.from(data, 'base64'), contentType: type ?? 'video/mp4' }];
    return uri ? toRemoteFiles(uri, context) : [];
  });
  if (files.length > 0) return { state: 'finished', outcome: { files, texts: [] } };
  return { state: 'failed', error: toFailure(found) };
}

function findContent({ steps }: Interaction) {
  const outputs = (steps ?? []).filter(({ type }) => type === 'model_output');
  return outputs.flatMap(({ content }) => content ?? []);
}

function toFailure(found: Interaction): UpstreamError {
  const error = found.error ?? found.steps?.find((step) => step.error)?.error;
  const said = error?.message ?? findContent(found).find(({ text }) => text)?.text;
  const message = `gemini: ${said ?? `the interaction is ${found.status} without a video`}`.slice(0, 500);
  if (isAboutContent(message)) return refusedContent(message);
  if (found.status === 'budget_exceeded') return new UpstreamError('OUT_OF_CREDIT', message);
  if (error?.code === 3) return new UpstreamError('INVALID_INPUT', message);
  return new UpstreamError(error?.code === 8 ? 'RATE_LIMITED' : 'UNAVAILABLE', message);
}

function readId({ interaction: id }: Handle): string {
  if (typeof id === 'string') return id;
  throw new UpstreamError('LOST', 'gemini: the handle names no interaction');
}
