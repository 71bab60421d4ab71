import { setTimeout as pause } from 'node:timers/promises';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Handle, JobCapability, StartContext, CallContext, VoiceList } from '../contract/provider.ts';
import { createEventStream } from '../shared/event-stream.ts';
import { beforeStart, type Exchange } from '../shared/exchange.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { prepareSource } from './files.ts';
import {
  asJob,
  asStatus,
  readEnd,
  hasEnded,
  readProgress,
  statusEvent,
  submittedJob,
  throwRefusal,
  firstVoice,
  readSpeech,
  parseVoices,
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
      if (!hasEnded(found)) return readProgress(found);
      return readEnd(asJob(await exchange(context, { method: 'GET', path, retry: 'safe' })));
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
        const now = readProgress(found);
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
  if (image === undefined) throw invalidInput('video', 'hedra animates images, not videos; send an image');
  if (audio === undefined && text === undefined) throw invalidInput('audio', 'an audio or a text is needed');
  const startImage = await prepareSource(exchange, { file: image, field: 'image' }, context);
  return {
    prompt: prompt ?? DEFAULTS.prompt,
    aspect_ratio: aspectRatio ?? DEFAULTS.aspect_ratio,
    resolution: resolution ?? DEFAULTS.resolution,
    start_image: startImage,
    audio:
      audio === undefined
        ? await speak(exchange, { text: text ?? '', voiceId }, context)
        : await prepareSource(exchange, { file: audio, field: 'audio' }, context),
  };
}

function formatPath({ job }: Handle): string {
  if (typeof job === 'string') return `/jobs/${encodeURIComponent(job)}`;
  throw new UpstreamError('LOST', 'hedra: the handle names no job of this API');
}

/** The model that speaks texts for avatars; at most 5,000 characters. */
const MODEL = 'elevenlabs-v3';
const VOICES = `/models/${MODEL}/voices`;
const POLL_MS = 500;
/** A speech takes seconds; the start of a task has a minute. */
const MAX_WAIT_MS = 45_000;

/** The voices that texts for avatars are spoken with: the first page of the vendor's list. */
export async function listVoices(exchange: Exchange, context: CallContext): Promise<VoiceList> {
  return parseVoices(await exchange(context, { method: 'GET', path: VOICES, retry: 'safe' }));
}

/**
 * Speaks a text by a job of its own and waits for it: the avatar models take audio only. Throws UpstreamError. The key
 * of idempotency follows from the reference, so that a repeated start does not pay for the speech again.
 */
async function speak(
  exchange: Exchange,
  { text, voiceId }: { readonly text: string; readonly voiceId: string | undefined },
  context: StartContext,
): Promise<Record<string, string>> {
  const path = `/models/${MODEL}`;
  const voice = voiceId ?? firstVoice(await listVoices(exchange, context));
  const answer = await exchange(context, {
    method: 'POST',
    path,
    headers: { 'idempotency-key': `${context.reference}/speech` },
    json: { input: { text, voice_id: voice } },
  });
  const id = encodeURIComponent(submittedJob(answer));
  const deadline = performance.now() + MAX_WAIT_MS;
  while (performance.now() < deadline && !context.signal.aborted) {
    const job = asJob(await exchange(context, { method: 'GET', path: `/jobs/${id}`, retry: 'safe' }));
    if (hasEnded(job)) return { source: 'asset', asset_id: readSpeech(job) };
    await pause(POLL_MS, undefined, { signal: context.signal }).catch(() => undefined);
  }
  throw new UpstreamError('TIMED_OUT', 'hedra: the speech of the text took too long');
}
