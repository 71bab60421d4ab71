import type { Job, JobResult } from '../../jobs/job.ts';
import { type PresenterRequest, StudioError } from '../../studio/types/media-types.ts';
import { fetched, readText } from '../shared/inputs.ts';
import type { MediaTools } from '../shared/perform.ts';
import { NOT_FETCHED, UNFIT } from './answers.ts';
import { readVideo, type VodStore } from './vod.ts';

/** The studio, and access to uploaded videos. */
export interface VisualTools extends MediaTools {
  readonly vod: VodStore;
  /** The training job of an avatar; null for an unknown one. */
  readonly findTraining: (resource: unknown) => Job | null;
}

const MAX_IMAGE = 10 * 1024 * 1024;
const MAX_SOUND = 50 * 1024 * 1024;
/** The vendor's trial avatar. */
export const TRIAL_AVATAR = '250623-zhibo-linyunzhi';

/** Runs a task; its inputs are downloaded now. */
export async function perform(tools: VisualTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  try {
    switch (job.operation) {
      case 'detect':
        return await detect(tools, job, signal);
      case 'train':
        return await train(tools, job);
      case 'talk':
        return await renderSpeaker(tools, job, { ...(await readAvatar(tools, job)), signal });
      default: {
        const image = await fetchInput(job, 'image', signal);
        const resolution = Number(job.input['resolution'] ?? 480);
        return await renderSpeaker(tools, job, { image, resolution, signal });
      }
    }
  } catch (error) {
    if (!(error instanceof StudioError)) throw error;
    throw new Error(`${UNFIT} ${error.message}`, { cause: error });
  }
}

async function detect({ studio }: VisualTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const { hasPerson, reason, subjects } = await studio.detectPerson(await fetchInput(job, 'image', signal), {
    signal,
  });
  // The wire has only 0 and 1: unknown is null, with the reason in a field of our own.
  const status = hasPerson === null ? null : Number(hasPerson);
  const reported = subjects.map(({ name, box }) => ({ name, box: box && { ...box } }));
  return { files: [], texts: [], facts: { code: 0, status, reason, subjects: reported } };
}

/** Training stores nothing more: an avatar is its video. */
async function train({ vod }: VisualTools, { input }: Job): Promise<JobResult> {
  if ((await readVideo(vod, input['vid'])) === null) throw new Error(`${UNFIT} vid not found`);
  const facts = { code: 0, msg: 'success', resource_id: input['resource'] ?? '' };
  return { files: [], texts: [], facts };
}

/** The video of an avatar; none for the trial avatar, which is drawn. */
async function readAvatar({ vod, findTraining }: VisualTools, { input }: Job): Promise<{ video?: Buffer }> {
  const { resource } = input;
  if (resource === TRIAL_AVATAR) return {};
  const video = await readVideo(vod, findTraining(resource)?.input['vid']);
  if (video === null) throw new Error(`${UNFIT} resource_id not found`);
  return { video };
}

async function renderSpeaker(
  { studio, journal }: VisualTools,
  job: Job,
  { signal, ...who }: Pick<PresenterRequest, 'image' | 'video' | 'resolution'> & { signal: AbortSignal },
): Promise<JobResult> {
  const audio = await fetchInput(job, 'audio', signal);
  const prompt = readText(job.input['prompt']) ?? '';
  const made = await studio.presenter({ ...who, audio, prompt }, { signal });
  const { contentType, width, height, duration } = made;
  const name = `${job.id}-0.mp4`;
  await journal.writeImage(name, made.bytes);
  signal.throwIfAborted();
  return { files: [{ name, contentType, width, height, duration }], texts: [], facts: {} };
}

async function fetchInput({ input }: Job, name: 'image' | 'audio', signal: AbortSignal): Promise<Buffer> {
  const maxBytes = name === 'image' ? MAX_IMAGE : MAX_SOUND;
  const bytes = await fetched(input[name], { maxBytes, signal });
  if (bytes === null) throw new Error(`${NOT_FETCHED}: ${name}_url`);
  return bytes;
}
