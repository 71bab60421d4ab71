import { json, type Answer } from '../../http/answer.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import { readText } from '../shared/inputs.ts';

/** What the JSON of a job needs besides the job. */
export interface TaskView {
  readonly job: Job;
  /** 0 to 100. */
  readonly progress: number;
  /** Where the image, or its preview while the job runs, is fetched; null while there is none. */
  readonly imageUrl: string | null;
}

/** The Task JSON of GET /mj/task/{id}/fetch, of the lists and of notifyHook calls. */
export function taskJson({ job, progress, imageUrl }: TaskView): object {
  const prompt = readText(job.input['prompt']);
  const finalPrompt = job.operation === 'describe' ? numbered(job.result?.texts ?? []) : prompt;
  return {
    id: job.id,
    action: ACTIONS[job.operation] ?? job.operation.toUpperCase(),
    prompt: job.operation === 'describe' ? finalPrompt : prompt,
    promptEn: job.operation === 'describe' ? finalPrompt : prompt,
    description: readText(job.input['description']),
    state: job.reference,
    submitTime: job.submittedAt,
    startTime: job.startedAt,
    finishTime: job.endedAt,
    // The proxy has no progress before the task is at Discord.
    progress: job.state === 'queued' ? null : `${progress}%`,
    // A video has the URL of an image; videoUrl is filled only by some proxies.
    imageUrl,
    videoUrl: null,
    videoUrls: null,
    status: toStatus(job, progress),
    failReason: job.failure,
    buttons: job.state === 'finished' && hasGrid(job) ? listButtons(job.id) : [],
    properties: finalPrompt === null ? {} : { finalPrompt },
  };
}

const ACTIONS: Readonly<Record<string, string>> = {
  imagine: 'IMAGINE',
  describe: 'DESCRIBE',
  upscale: 'UPSCALE',
  variation: 'VARIATION',
  reroll: 'REROLL',
  video: 'VIDEO',
};

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'NOT_START',
  running: 'IN_PROGRESS',
  finished: 'SUCCESS',
  failed: 'FAILURE',
  cancelled: 'CANCEL',
};

function toStatus(job: Job, progress: number): string {
  return job.state === 'running' && progress === 0 ? 'SUBMITTED' : STATUS[job.state];
}

function hasGrid({ operation }: Job): boolean {
  return operation !== 'describe' && operation !== 'video';
}

const KEYCAPS = ['1️⃣', '2️⃣', '3️⃣', '4️⃣'];

function numbered(prompts: readonly string[]): string | null {
  if (prompts.length === 0) return null;
  return prompts.map((prompt, index) => `${KEYCAPS[index] ?? `${index + 1}.`} ${prompt}`).join('\n\n');
}

function listButtons(id: string): object[] {
  return ['U1', 'U2', 'U3', 'U4'].map((label, index) => ({
    customId: `MJ::JOB::upsample::${index + 1}::${id}`,
    emoji: '',
    label,
    type: 2,
    style: 2,
  }));
}

/**
 * The proxy's result codes (ReturnCode.java of novicezk/midjourney-proxy): a submission is answered with HTTP 200 even
 * when it failed.
 */
export const CODE = {
  success: 1,
  notFound: 3,
  validation: 4,
  failure: 9,
  existed: 21,
  inQueue: 22,
  queueRejected: 23,
  bannedPrompt: 24,
} as const;

/** The answer to a submission or cancellation. */
export function submitResult(
  code: number,
  description: string,
  more: { readonly result?: string; readonly properties?: Readonly<Record<string, unknown>> } = {},
): Answer {
  return json({ code, description, result: more.result ?? null, properties: more.properties ?? {} });
}
