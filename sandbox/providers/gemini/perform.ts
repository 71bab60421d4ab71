import type { Job, JobResult } from '../../jobs/job.ts';
import type { StudioVoiceId } from '../../studio/types/media-types.ts';
import { readText } from '../shared/inputs.ts';
import { isOfRequest, renderImage, type MediaTools, renderVideo, type Perform } from '../shared/perform.ts';
import { replyTo } from '../shared/rules/reply.ts';
import { UNREADABLE } from './generate.ts';

const REMEDY = 'set GEMINI_API_KEY for real answers';
const NO_RESULT: JobResult = { files: [], texts: [], facts: {} };

/** Runs a job of this wire. */
export const perform: Perform = async (tools, job, signal, onPreview) => {
  if (job.operation === 'file') return NO_RESULT;
  if (job.operation === 'video') return performVideo(tools, job, signal);
  try {
    if (job.operation === 'image') return await performImage(tools, job, signal, onPreview);
    if (job.operation === 'speech') return await performSpeech(tools, job, signal);
    return await answer(tools, job, signal);
  } catch (error) {
    if (!isOfRequest(error)) throw error;
    throw new Error(`${UNREADABLE}${error.message}`, { cause: error });
  }
};

async function performImage(
  tools: MediaTools,
  job: Job,
  signal: AbortSignal,
  onPreview: () => void,
): Promise<JobResult> {
  const { prompt, aspectRatio, seed } = job.input;
  const request = {
    prompt: readText(prompt) ?? '',
    aspectRatio: readText(aspectRatio) ?? '1:1',
    references: await readAll(tools, job.input['media']),
    ...(typeof seed === 'number' && { seed }),
  };
  return renderImage(tools, { id: job.id, index: 0, onPreview }, request, signal);
}

async function performSpeech(
  { studio, journal }: MediaTools,
  { id, input }: Job,
  signal: AbortSignal,
): Promise<JobResult> {
  const voice = input['voice'] as StudioVoiceId;
  const request = { text: readText(input['prompt']) ?? '', voice, speed: 1, format: 'wav' } as const;
  const { bytes, contentType, duration } = await studio.speech(request, { signal });
  const name = `${id}.wav`;
  await journal.writeImage(name, bytes);
  return { files: [{ name, contentType, duration }], texts: [], facts: {} };
}

async function answer(tools: MediaTools, { input }: Job, signal: AbortSignal): Promise<JobResult> {
  const media = await readAll(tools, input['media']);
  if (media.length === 0) {
    const question = { system: readText(input['system']) ?? '', user: readText(input['prompt']) ?? '' };
    return { ...NO_RESULT, texts: [replyTo({ ...question, remedy: REMEDY })] };
  }
  const summaries: string[] = [];
  for (const bytes of media) {
    const { summary } = await tools.studio.analyse(bytes, { signal });
    summaries.push(summary);
  }
  const text = `${summaries.join('\n\n')} (Measured by local-rules, which is no language model; ${REMEDY}.)`;
  return { ...NO_RESULT, texts: [text] };
}

/** Most lines that the studio renders. */
const LINES: Readonly<Record<string, number>> = { '720p': 720, '1080p': 1_080, '4k': 1_080 };

async function performVideo(tools: MediaTools, { id, input }: Job, signal: AbortSignal): Promise<JobResult> {
  const [firstFrame] = await readAll(tools, input['firstFrame']);
  const [lastFrame] = await readAll(tools, input['lastFrame']);
  const request = {
    prompt: readText(input['prompt']) ?? '',
    aspectRatio: readText(input['aspectRatio']) ?? '16:9',
    resolution: LINES[readText(input['resolution']) ?? ''] ?? 720,
    durationSeconds: Number(input['seconds']),
    soundtrack: 'ambient' as const,
    ...(typeof input['seed'] === 'number' && { seed: input['seed'] }),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
  };
  return renderVideo(tools, id, request, signal);
}

/** The files of these names in the journal. */
async function readAll({ journal }: MediaTools, names: unknown): Promise<Buffer[]> {
  const list = Array.isArray(names) ? names.map(String) : [];
  const files = await Promise.all(list.map((name) => journal.readImage(name)));
  if (files.includes(null)) throw new Error('a file that came with the job is gone');
  return files.filter((file) => file !== null);
}
