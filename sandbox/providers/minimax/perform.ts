import type { JsonObject } from '../../../platform/json.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import { StudioError, type SpeechRequest, type VideoRequest } from '../../studio/types/media-types.ts';
import { renderedContent } from '../shared/content-items.ts';
import { readText } from '../shared/inputs.ts';
import { inputImages, type MediaTools, renderVideo } from '../shared/perform.ts';
import { findVoice } from './voices.ts';

/** Runs a job. An error of the studio is reported as a fault of the request. */
export async function perform(
  tools: MediaTools & { readonly runner: JobRunner },
  job: Job,
  signal: AbortSignal,
): Promise<JobResult> {
  try {
    if (job.operation === 'video') return await renderJob(tools, job, signal);
    if (job.operation === 'videoV2') {
      const images = await inputImages(tools.journal, job.input);
      return await renderVideo(tools, job.id, renderedContent(job, images), signal);
    }
    if (job.operation === 'clone') return await clone(tools, job, signal);
    return await speak(tools, job, { request: toSpeechRequest(tools.runner, job.input), signal });
  } catch (error) {
    if (!(error instanceof StudioError)) throw error;
    throw new Error(`refused: ${error.message}`, { cause: error });
  }
}

async function renderJob(tools: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const images = await inputImages(tools.journal, job.input);
  const firstFrame = job.input['hasFirst'] === true ? images[0] : undefined;
  const lastFrame = job.input['hasLast'] === true ? images.at(-1) : undefined;
  const request: VideoRequest = {
    prompt: readText(job.input['prompt']) ?? '',
    durationSeconds: Number(job.input['duration']),
    resolution: Number(job.input['shortEdge']),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
  };
  return renderVideo(tools, job.id, request, signal);
}

/** Measures the sample's voice; with a text, speaks it in that voice as a demo. */
async function clone(tools: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const [sample] = await inputImages(tools.journal, job.input);
  if (sample === undefined) throw new Error('the job has no sample');
  const voice = await tools.studio.matchVoice(sample, { signal });
  const text = readText(job.input['text']);
  const demo =
    text === null ? null : await speak(tools, job, { request: { text, voice, format: 'mp3' }, signal });
  // MatchedVoice is plain JSON.
  const facts = { ...demo?.facts, voice: voice as unknown as JsonObject };
  return { files: demo?.files ?? [], texts: [], facts };
}

function toSpeechRequest(runner: JobRunner, input: JsonObject): SpeechRequest {
  const known = findVoice(runner, readText(input['voiceId']) ?? '');
  if (known === null) throw new Error('the voice is gone');
  const pitch = Math.max(-12, Math.min(12, Number(input['pitch']) + known.pitch));
  return {
    text: readText(input['text']) ?? '',
    voice: known.voice,
    speed: Number(input['speed']),
    pitch,
    format: (readText(input['format']) ?? 'mp3') as SpeechRequest['format'],
  };
}

async function speak(
  { studio, journal }: MediaTools,
  { id }: Job,
  { request, signal }: { readonly request: SpeechRequest; readonly signal: AbortSignal },
): Promise<JobResult> {
  const { bytes, contentType, duration, characters } = await studio.speech(request, { signal });
  const name = `${id}-0.${request.format}`;
  await journal.writeImage(name, bytes);
  signal.throwIfAborted();
  return {
    files: [{ name, contentType, duration }],
    texts: [],
    facts: { characters },
  };
}
