import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import type { CallContext, Handle, JobCapability, JobStatus, StartContext } from '../contract/provider.ts';
import { buildUrl, readInput, type Exchange } from '../shared/exchange.ts';
import { encodeForm, formValue, withVendorOptions } from '../shared/request-body.ts';
import { throwRefusal, throwStartRefusal, videoFailure, parseVideo } from './wire.ts';

/**
 * Videos (/videos): started, then polled until their content can be downloaded with the key. OpenAI has deprecated
 * these operations, but aggregators offer the same format. The wire cancels no video, and finds none by our reference.
 */
export function videoJob(exchange: Exchange, dialect: VideoDialect = {}): JobCapability<VideoRequest> {
  return {
    pollMs: 3_000,
    start: (request, context) => start(exchange, request, { ...context, dialect }),
    status: (handle, context) => status(exchange, handle, context),
    erase: async (handle, context) => {
      const path = `/videos/${encodeURIComponent(readId(handle))}`;
      const answer = await exchange(context, { method: 'DELETE', path, retry: 'safe' });
      if (answer.status !== 404) throwRefusal(answer);
    },
  };
}

/** What differs between servers of this wire. */
interface VideoDialect {
  /** Whether a size is sent only when a resolution or a shape was asked for (default: always). */
  readonly isSizeOptional?: boolean;
}

const DEFAULT_MODEL = 'sora-2';
const START_TIMEOUT_MS = 120_000;

async function start(
  exchange: Exchange,
  request: VideoRequest,
  context: StartContext & { readonly dialect: VideoDialect },
): Promise<Handle> {
  const { bytes, headers } = await encodeForm(await buildForm(request, context));
  const answer = await exchange(context, {
    method: 'POST',
    path: '/videos',
    bytes,
    headers: { ...headers, 'idempotency-key': context.reference },
    timeoutMs: START_TIMEOUT_MS,
  });
  throwStartRefusal(answer);
  return { id: parseVideo(answer).id };
}

async function buildForm(
  request: VideoRequest,
  { connection, dialect }: StartContext & { readonly dialect: VideoDialect },
): Promise<FormData> {
  const { prompt, negativePrompt, firstFrame, lastFrame, duration } = request;
  if (prompt === undefined) throw invalidInput('prompt', 'this model makes videos from words');
  if (lastFrame !== undefined) throw invalidInput('lastFrame', 'this model takes no last frame');
  const isShaped = request.resolution !== undefined || request.aspectRatio !== undefined;
  const fields = withVendorOptions(request, {
    model: connection.model ?? DEFAULT_MODEL,
    prompt: negativePrompt === undefined ? prompt : `${prompt}\n\nAvoid: ${negativePrompt}`,
    ...((isShaped || dialect.isSizeOptional !== true) && { size: chooseSize(request) }),
    ...(duration !== undefined && { seconds: String(duration) }),
  });
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, formValue(value));
  if (firstFrame !== undefined) {
    const bytes = new Uint8Array(await readInput(firstFrame, 'image'));
    form.append('input_reference', new Blob([bytes], { type: firstFrame.contentType }), firstFrame.name);
  }
  return form;
}

/** An explicit WxH is sent unchanged; else the size that all models support, in portrait when the aspect ratio is. */
function chooseSize({ resolution, aspectRatio }: VideoRequest): string {
  if (resolution !== undefined && /^\d{2,5}x\d{2,5}$/.test(resolution)) return resolution;
  const [width, height] = (aspectRatio ?? '16:9').split(':').map(Number) as [number, number];
  return width < height ? '720x1280' : '1280x720';
}

async function status(exchange: Exchange, handle: Handle, context: CallContext): Promise<JobStatus> {
  const path = `/videos/${encodeURIComponent(readId(handle))}`;
  const answer = await exchange(context, { method: 'GET', path, retry: 'safe' });
  throwRefusal(answer);
  const video = parseVideo(answer);
  switch (video.status) {
    case 'queued':
      return { state: 'queued' };
    case 'completed':
    case 'succeeded':
      return { state: 'finished', outcome: { files: [toContentFile(path, context)], texts: [] } };
    case 'failed':
      return { state: 'failed', error: videoFailure(video) };
    // Not OpenAI's own: other servers say so.
    case 'canceled':
    case 'cancelled':
    case 'expired': {
      const retryable = video.status === 'expired';
      const error = new UpstreamError('LOST', `openai: the video is ${video.status}`, { retryable });
      return { state: 'failed', error };
    }
    default: {
      const progress = video.progress ?? null;
      return { state: 'running', progress: progress && Math.min(100, Math.max(0, progress)) };
    }
  }
}

function readId({ id }: Handle): string {
  if (typeof id === 'string') return id;
  throw new UpstreamError('LOST', 'openai: the handle names no video');
}

/** The content is at the same origin and needs the key; redirects elsewhere are followed without it. */
function toContentFile(path: string, { connection }: CallContext) {
  return { url: buildUrl(connection, `${path}/content`), headers: connection.headers };
}
