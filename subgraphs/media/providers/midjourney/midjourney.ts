import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { RequestOf, VideoRequest } from '../../domain/work/request.ts';
import type { CallContext, Handle, JobCapability, Provider, StartContext } from '../contract/provider.ts';
import { createExchange, dataUri, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import {
  asTask,
  cancelVerdict,
  foundIn,
  hasStopped,
  jobStatus,
  submittedId,
  type MidjourneyTask,
} from './wire.ts';

/**
 * The midjourney-proxy wire: submit, then fetch by id. HTTP is always 200; the `code` in the body is the result. The
 * speed mode is a path prefix (/mj-fast/mj, /mj-turbo/mj, /mj-relax/mj). Kiln's reference is sent as `state`, which the
 * proxy returns in every task, so a start can be found again in its list.
 */
export function createMidjourney(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const shared = sharedSteps(exchange);
  return {
    name: 'midjourney',
    jobs: {
      IMAGE: { ...shared, start: (request, context) => imagine(exchange, request, context) },
      DESCRIPTION: { ...shared, start: (request, context) => describe(exchange, request, context) },
      VIDEO: { ...shared, pollMs: 3_000, start: (request, context) => animate(exchange, request, context) },
    },
  };
}

type ImageRequest = RequestOf<'IMAGE'>;

const SPEED_MODES = new Set(['fast', 'turbo', 'relax']);

async function imagine(exchange: Exchange, request: ImageRequest, context: StartContext): Promise<Handle> {
  if ((request.count ?? 1) !== 1) {
    throw new UpstreamError('INVALID_INPUT', 'midjourney makes one image per task; ask for count 1', {
      field: 'count',
    });
  }
  const { images = [], speedMode = '' } = request;
  const base64Array = await Promise.all(images.map((image) => dataUri(image, 'images')));
  const mode = SPEED_MODES.has(speedMode) ? `/mj-${speedMode}` : '';
  const answer = await exchange(context, {
    method: 'POST',
    path: `${mode}/mj/submit/imagine`,
    json: withVendorOptions(request, {
      prompt: buildPrompt(request),
      ...buildTracking(context),
      ...(base64Array.length > 0 && { base64Array }),
    }),
  });
  return { taskId: submittedId(answer) };
}

/** The prompt with midjourney's own parameters appended. */
function buildPrompt(request: ImageRequest): string {
  const switches = [
    request.aspectRatio === undefined ? '' : ` --ar ${request.aspectRatio}`,
    request.negativePrompt === undefined ? '' : ` --no ${request.negativePrompt}`,
    request.seed === undefined ? '' : ` --seed ${request.seed}`,
  ];
  return request.prompt + switches.join('');
}

async function describe(
  exchange: Exchange,
  request: RequestOf<'DESCRIPTION'>,
  context: StartContext,
): Promise<Handle> {
  const base64 = await dataUri(request.image, 'image');
  const answer = await exchange(context, {
    method: 'POST',
    path: '/mj/submit/describe',
    json: withVendorOptions(request, { base64, ...buildTracking(context) }),
  });
  return { taskId: submittedId(answer) };
}

/**
 * One video of a prompt and its first frame (the proxy's default is four videos, of which one would be used). Without a
 * frame the proxy decides whether it makes one from the text.
 */
async function animate(exchange: Exchange, request: VideoRequest, context: StartContext): Promise<Handle> {
  const { prompt, firstFrame, lastFrame, resolution } = request;
  if (prompt === undefined || prompt.trim() === '') {
    throw new UpstreamError('INVALID_INPUT', 'midjourney makes videos from words and an image', {
      field: 'prompt',
    });
  }
  const answer = await exchange(context, {
    method: 'POST',
    path: '/mj/submit/video',
    json: withVendorOptions(request, {
      prompt,
      ...buildTracking(context),
      batchSize: 1,
      image: firstFrame && (await dataUri(firstFrame, 'image')),
      endImage: lastFrame && (await dataUri(lastFrame, 'lastFrame')),
      ...(resolution === '720p' && { videoType: 'vid_1.1_i2v_720' }),
    }),
  });
  return { taskId: submittedId(answer) };
}

/** Our reference, and our webhook URL. */
function buildTracking({ reference, webhookUrl }: StartContext): Record<string, string> {
  return { state: reference, ...(webhookUrl !== undefined && { notifyHook: webhookUrl }) };
}

function sharedSteps(exchange: Exchange): Omit<JobCapability, 'start'> {
  return {
    pollMs: 1_000,
    async find(reference, context) {
      const answer = await exchange(context, {
        method: 'GET',
        path: '/mj/task/list',
        retry: 'safe',
        maxBytes: 64 << 20,
        mayBePage: true,
      });
      const found = foundIn(answer, reference);
      return typeof found === 'string' ? found : { taskId: found.id };
    },
    status: async (handle, context) => jobStatus(await fetchTask(exchange, handle, context)),
    async cancel(handle, context) {
      const answer = await exchange(context, { method: 'POST', path: `/mj/task/${readId(handle)}/cancel` });
      const verdict = cancelVerdict(answer);
      if (verdict !== 'unknown') return verdict;
      return hasStopped(await fetchTask(exchange, handle, context)) ? 'cancelled' : 'too-late';
    },
  };
}

async function fetchTask(exchange: Exchange, handle: Handle, context: CallContext): Promise<MidjourneyTask> {
  const path = `/mj/task/${readId(handle)}/fetch`;
  return asTask(await exchange(context, { method: 'GET', path, retry: 'safe' }));
}

function readId(handle: Handle): string {
  const { taskId } = handle;
  return encodeURIComponent(typeof taskId === 'string' ? taskId : '');
}
