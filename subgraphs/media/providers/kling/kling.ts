import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import type { CallContext, Handle, Provider, StartContext, Connection } from '../contract/provider.ts';
import { createExchange, readInput, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { asTask, jobStatus, listedTasks, submittedId, type KlingTask } from './wire.ts';

/**
 * The Kling wire: videos from text (text2video) or images (image2video), each with its own status path, so the handle
 * stores which. Kiln's reference is sent as `external_task_id`, which listings return. There is no cancel.
 */
export function createKling(options: { readonly http: HttpClient }): Provider {
  const exchange = withLogin(createExchange(options.http));
  return {
    name: 'kling',
    jobs: {
      VIDEO: {
        pollMs: 2_000,
        start: (request, context) => start(exchange, request, context),
        find: (reference, context) => find(exchange, reference, context),
        async status(handle, context) {
          const path = statusPath(handle);
          return jobStatus(asTask(await exchange(context, { method: 'GET', path, retry: 'safe' })));
        },
      },
    },
  };
}

/** Adds the login headers to every request. */
function withLogin(exchange: Exchange): Exchange {
  return async (context, request) =>
    exchange(context, {
      ...request,
      headers: { ...request.headers, ...(await loginHeaders(context.connection)) },
    });
}

const ACTIONS = ['text2video', 'image2video'] as const;
const DEFAULT_MODEL = 'kling-v2-5-turbo';
const MAX_IMAGE = 10 << 20;
/** Images are sent inline: up to two of 10 MB each. */
const START_TIMEOUT_MS = 120_000;

async function start(exchange: Exchange, request: VideoRequest, context: StartContext): Promise<Handle> {
  const { firstFrame, lastFrame } = request;
  const action = firstFrame === undefined && lastFrame === undefined ? 'text2video' : 'image2video';
  const answer = await exchange(context, {
    method: 'POST',
    path: `/v1/videos/${action}`,
    json: withVendorOptions(request, {
      model_name: context.connection.model ?? DEFAULT_MODEL,
      ...settings(request, action),
      image: firstFrame && (await toImage(firstFrame, 'firstFrame')),
      image_tail: lastFrame && (await toImage(lastFrame, 'lastFrame')),
      external_task_id: context.reference,
      callback_url: context.webhookUrl,
    }),
    timeoutMs: START_TIMEOUT_MS,
  });
  return { taskId: submittedId(answer), action };
}

function settings(
  { prompt, negativePrompt, resolution, duration, aspectRatio, lastFrame }: VideoRequest,
  action: (typeof ACTIONS)[number],
): object {
  // The wire has no sizes: `std` renders 720p, `pro` 1080p, and only `pro` supports a last frame.
  const isPro = resolution === '1080p' || lastFrame !== undefined;
  return {
    prompt,
    negative_prompt: negativePrompt,
    mode: isPro ? 'pro' : resolution && 'std',
    // With an image input, the aspect ratio is the image's.
    aspect_ratio: action === 'text2video' ? aspectRatio : undefined,
    duration: duration?.toString(),
  };
}

/** Plain base64: the wire refuses a `data:` prefix. */
async function toImage(file: InputFile, field: string): Promise<string> {
  if (file.publicUrl !== null) return file.publicUrl;
  if (file.bytes > MAX_IMAGE) {
    const message = `${field} is larger than ${MAX_IMAGE} bytes; send a smaller image`;
    throw new UpstreamError('INVALID_INPUT', message, { field });
  }
  return (await readInput(file, field)).toString('base64');
}

function statusPath(handle: Handle): string {
  const { taskId, action } = handle;
  const name = action === 'image2video' ? 'image2video' : 'text2video';
  return `/v1/videos/${name}/${encodeURIComponent(typeof taskId === 'string' ? taskId : '')}`;
}

const PAGE_SIZE = 500;
const MAX_PAGES = 4;

/**
 * Searches the listings of both paths. Absent only when both were read to their end; unknowable for an account with
 * more tasks than are read here, or an aggregator without a listing.
 */
async function find(
  exchange: Exchange,
  reference: string,
  context: CallContext,
): Promise<Handle | 'absent' | 'unknowable'> {
  let isWhole = true;
  for (const action of ACTIONS) {
    const found = await findAmong(exchange, { action, reference }, context);
    if (typeof found === 'object') return { taskId: found.task_id ?? '', action };
    isWhole &&= found === 'absent';
  }
  return isWhole ? 'absent' : 'unknowable';
}

async function findAmong(
  exchange: Exchange,
  { action, reference }: { readonly action: string; readonly reference: string },
  context: CallContext,
): Promise<KlingTask | 'absent' | 'unknowable'> {
  let isWhole = true;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await exchange(context, {
      method: 'GET',
      path: `/v1/videos/${action}?pageNum=${page}&pageSize=${PAGE_SIZE}`,
      retry: 'safe',
      maxBytes: 16 << 20,
      mayBePage: true,
    });
    const tasks = listedTasks(answer);
    if (tasks === null) return 'unknowable';
    const found = tasks.find((one) => one?.task_info?.external_task_id === reference);
    if (found) return found.task_id ? found : 'unknowable';
    // One that can't be read may be any.
    isWhole &&= !tasks.includes(null);
    if (tasks.length < PAGE_SIZE) return isWhole ? 'absent' : 'unknowable';
  }
  return 'unknowable';
}

const LIFETIME_SECONDS = 1_800;
/** The vendor's clock may be a little behind ours. */
const LEEWAY_SECONDS = 5;

/**
 * The authorization header. An API key is already in the connection's headers; a pair of keys signs a new token for
 * every request (HS256, valid for half an hour).
 */
async function loginHeaders({ credentials }: Connection): Promise<Record<string, string>> {
  const { accessKey, secretKey } = credentials;
  if (accessKey === undefined || secretKey === undefined) return {};
  // Loaded only when needed.
  const { SignJWT } = await import('jose');
  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(accessKey)
    .setExpirationTime(now + LIFETIME_SECONDS)
    .setNotBefore(now - LEEWAY_SECONDS)
    .sign(new TextEncoder().encode(secretKey));
  return { authorization: `Bearer ${token}` };
}
