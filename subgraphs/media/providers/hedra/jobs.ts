import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Handle, JobCapability, StartContext } from '../contract/provider.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { beforeStart, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/vendor-options.ts';
import { sourceOf } from './files.ts';
import { speak } from './speech.ts';
import {
  asJob,
  asStatus,
  endOf,
  hasEnded,
  progressOf,
  statusEvent,
  submittedJob,
  throwRefusal,
} from './wire.ts';

type TalkRequest = RequestOf<'LIP_SYNC'>;

/** The jobs of v3: submitted to a model, then polled or streamed. */
type Jobs = Required<Pick<JobCapability<TalkRequest>, 'start' | 'status' | 'watch'>>;

const DEFAULT_MODEL = 'hedra-avatar';
/** The models require these three. */
const DEFAULTS = {
  prompt: 'A person speaking to the camera',
  aspect_ratio: '16:9',
  resolution: '720p',
} as const;
/** Longest pause between two events of a stream; the vendor sends comments to keep it open. */
const STREAM_PAUSE_MS = 120_000;

/** Creates the jobs of v3. The reference is sent as Idempotency-Key, which can't be looked up afterwards. */
export function createJobs({ http, exchange }: { http: HttpClient; exchange: Exchange }): Jobs {
  const events = createEventStream(http);
  return {
    start: (request, context) => start(exchange, request, context),
    async status(handle, context) {
      const path = formatPath(handle);
      const found = asStatus(
        await exchange(context, { method: 'GET', path: `${path}/status`, retry: 'safe' }),
      );
      if (!hasEnded(found)) return progressOf(found);
      return endOf(asJob(await exchange(context, { method: 'GET', path, retry: 'safe' })));
    },
    async watch(handle, context, report) {
      const stream = events(context, {
        method: 'GET',
        path: `${formatPath(handle)}/stream`,
        timeoutMs: STREAM_PAUSE_MS,
        onRefusal: (answer) => throwRefusal(answer, 'work'),
      });
      for await (const data of stream) {
        const found = statusEvent(data);
        if (found === null) continue;
        if (hasEnded(found)) return;
        const now = progressOf(found);
        if (now.state === 'running' && now.progress !== null) {
          report({ progress: now.progress, stage: 'rendering' });
        }
      }
    },
  };
}

async function start(exchange: Exchange, request: TalkRequest, context: StartContext): Promise<Handle> {
  const input = await beforeStart(buildInput(exchange, request, context));
  const { connection, reference, webhookUrl } = context;
  const answer = await exchange(context, {
    method: 'POST',
    path: `/models/${encodeURIComponent(connection.model ?? DEFAULT_MODEL)}`,
    headers: { 'idempotency-key': reference },
    json: {
      input: withVendorOptions(request, input),
      ...(webhookUrl !== undefined && { webhook: webhookUrl }),
    },
  });
  return { job: submittedJob(answer) };
}

/** The input of an avatar model. Its audio is a file; a text is spoken by a job of its own first. */
async function buildInput(
  exchange: Exchange,
  request: TalkRequest,
  context: StartContext,
): Promise<Record<string, unknown>> {
  const { image, audio, text, voiceId, prompt, aspectRatio, resolution } = request;
  if (image === undefined) throw invalidInput('video', 'hedra animates pictures, not videos; send an image');
  if (audio === undefined && text === undefined) throw invalidInput('audio', 'an audio or a text is needed');
  const startImage = await sourceOf(exchange, { file: image, field: 'image' }, context);
  return {
    prompt: prompt ?? DEFAULTS.prompt,
    aspect_ratio: aspectRatio ?? DEFAULTS.aspect_ratio,
    resolution: resolution ?? DEFAULTS.resolution,
    start_image: startImage,
    audio:
      audio === undefined
        ? await speak(exchange, { text: text ?? '', voiceId }, context)
        : await sourceOf(exchange, { file: audio, field: 'audio' }, context),
  };
}

function formatPath({ job }: Handle): string {
  if (typeof job === 'string') return `/jobs/${encodeURIComponent(job)}`;
  throw new UpstreamError('LOST', 'hedra: the handle names no job of this API');
}
