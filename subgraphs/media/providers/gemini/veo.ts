import { z } from 'zod';

import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import type {
  CallContext,
  Handle,
  JobCapability,
  JobStatus,
  RemoteFile,
  StartContext,
} from '../contract/provider.ts';
import { readInput, type Exchange, type ExchangeAnswer } from '../shared/exchange.ts';
import { listOf, number, text } from '../shared/reader.ts';
import { withVendorOptions } from '../shared/request-body.ts';
import { interactionJob, isInteractive } from './interactions.ts';
import {
  toRemoteFiles,
  isAboutContent,
  read,
  refusedContent,
  throwRefusal,
  throwStartRefusal,
  unreadable,
} from './wire.ts';

/**
 * Videos: Veo's by a long-running operation that is polled until it is done, the Omni models' by interactions. An operation reports no
 * progress, can't be cancelled, and can't be found by our reference. Done without a video means refused for its content, or failed
 * without a reason.
 */
export function videoJob(exchange: Exchange): JobCapability<VideoRequest> {
  const omni = interactionJob(exchange);
  return {
    pollMs: 5_000,
    start: (request, context) =>
      isInteractive(context.connection.model ?? DEFAULT_MODEL)
        ? omni.start(request, context)
        : start(exchange, request, context),
    status: (handle, context) =>
      'interaction' in handle ? omni.status(handle, context) : status(exchange, handle, context),
    // Operations of Veo can't be deleted: they end after some days.
    erase: async (handle, context) => {
      if ('interaction' in handle) await omni.erase(handle, context);
    },
  };
}

const DEFAULT_MODEL = 'veo-3.1-generate-001';
const START_TIMEOUT_MS = 120_000;

const operation = z.object({
  name: z.string().nullish(),
  done: z.boolean().nullish(),
  error: z
    .union([
      z.object({ code: number, message: text }),
      z.string().transform((message) => ({ code: null, message })),
    ])
    .nullish(),
  response: z
    .object({
      generateVideoResponse: z
        .object({
          generatedSamples: listOf(z.object({ video: z.object({ uri: text }).nullish() })).nullish(),
          raiMediaFilteredCount: number,
          raiMediaFilteredReasons: z.array(z.string()).nullish().catch(null),
        })
        .nullish(),
    })
    .nullish(),
});
type Operation = z.output<typeof operation>;

async function start(exchange: Exchange, request: VideoRequest, context: StartContext): Promise<Handle> {
  const answer = await exchange(context, {
    method: 'POST',
    path: `/models/${context.connection.model ?? DEFAULT_MODEL}:predictLongRunning`,
    json: {
      instances: [await buildInstance(request)],
      parameters: withVendorOptions(request, buildParameters(request)),
    },
    timeoutMs: START_TIMEOUT_MS,
  });
  throwStartRefusal(answer);
  const { name } = readOperation(answer);
  if (!name) throw unreadable(new Error('an operation without a name'));
  return { operation: name };
}

async function buildInstance({
  prompt,
  firstFrame,
  lastFrame,
  references = [],
}: VideoRequest): Promise<object> {
  if (prompt === undefined) throw invalidInput('prompt', 'this model makes videos from words');
  if (lastFrame !== undefined && firstFrame === undefined) {
    throw invalidInput('lastFrame', 'this model takes a last frame only along with a first one');
  }
  const images = await Promise.all(references.map((file) => toImage(file, 'references')));
  return {
    prompt,
    ...(images.length > 0 && {
      referenceImages: images.map((image) => ({ image, referenceType: 'asset' })),
    }),
    image: firstFrame && (await toImage(firstFrame, 'image')),
    lastFrame: lastFrame && (await toImage(lastFrame, 'lastFrame')),
  };
}

/** Images in Vertex's format: no inlineData here. */
async function toImage(file: InputFile, field: string): Promise<object> {
  const bytes = await readInput(file, field);
  return { bytesBase64Encoded: bytes.toString('base64'), mimeType: file.contentType };
}

const RESOLUTIONS: Readonly<Record<string, string>> = {
  '1280x720': '720p',
  '1920x1080': '1080p',
  '3840x2160': '4k',
};

function buildParameters({ aspectRatio, resolution, duration, seed, negativePrompt }: VideoRequest) {
  return {
    sampleCount: 1,
    aspectRatio,
    resolution: resolution && (RESOLUTIONS[resolution] ?? resolution),
    durationSeconds: duration,
    seed,
    negativePrompt,
  };
}

async function status(exchange: Exchange, handle: Handle, context: CallContext): Promise<JobStatus> {
  const answer = await exchange(context, { method: 'GET', path: `/${readName(handle)}`, retry: 'safe' });
  throwRefusal(answer);
  const found = readOperation(answer);
  if (found.error) return { state: 'failed', error: toFailure(found.error) };
  if (found.done !== true) return { state: 'running', progress: null };
  const files = listFiles(found, context);
  if (files.length > 0) return { state: 'finished', outcome: { files, texts: [] } };
  return { state: 'failed', error: whyEmpty(found) };
}

const OPERATION = /^(?:[\w.-]+\/)*operations\/[\w.-]+$/;

function readName({ operation: name }: Handle): string {
  if (typeof name === 'string' && OPERATION.test(name)) return name;
  throw new UpstreamError('LOST', 'gemini: the handle names no operation');
}

function readOperation(answer: ExchangeAnswer): Operation {
  return read(operation, answer);
}

function listFiles({ response }: Operation, context: CallContext): RemoteFile[] {
  const samples = response?.generateVideoResponse?.generatedSamples ?? [];
  return samples.flatMap(({ video }) => toRemoteFiles(video?.uri ?? '', context));
}

function whyEmpty({ response }: Operation): UpstreamError {
  const { raiMediaFilteredCount: filtered, raiMediaFilteredReasons: reasons } =
    response?.generateVideoResponse ?? {};
  if ((filtered ?? 0) > 0 || (reasons ?? []).length > 0) {
    return refusedContent(
      `gemini: the video was withheld: ${reasons?.[0] ?? 'no reason given'}`.slice(0, 500),
    );
  }
  return new UpstreamError('UNAVAILABLE', 'gemini finished without a video');
}

/** Codes of google.rpc.Code. */
function toFailure({ code, message }: NonNullable<Operation['error']>): UpstreamError {
  const said = `gemini: ${message ?? 'the video failed'}`.slice(0, 500);
  if (isAboutContent(said)) return refusedContent(said);
  if (code === 3) return new UpstreamError('INVALID_INPUT', said);
  if (code === 8) return new UpstreamError('RATE_LIMITED', said);
  return new UpstreamError('UNAVAILABLE', said);
}
