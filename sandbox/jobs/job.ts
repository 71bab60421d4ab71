import type { JsonObject } from '../../platform/json.ts';

/** A job that a stand-in has accepted, as the journal stores it. */
export interface Job {
  /** The id that the wire shows to its callers. */
  readonly id: string;
  /** Which stand-in: midjourney, openai. */
  readonly wire: string;
  /** The wire's operation: imagine, describe, images, ... */
  readonly operation: string;
  /** The caller's reference in the wire's field for it; starts are counted by it. */
  readonly reference: string | null;
  /** The parsed input. Images are files, named here. */
  readonly input: JsonObject;
  readonly state: JobState;
  /** Milliseconds since 1970, like the two below. */
  readonly submittedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly result: JobResult | null;
  /** Why it failed, in the wire's words. */
  readonly failure: string | null;
  /** The planned fault of this job. */
  readonly fault: JobFault | null;
  /** The job is unknown to callers. Its start still counts. */
  readonly isForgotten: boolean;
}

/** The state of a job, independent of the wire's names. */
export type JobState = 'queued' | 'running' | 'finished' | 'failed' | 'cancelled';

/** `stall` stops half-way for ever; `fail` ends half-way as a failure; `moderate` ends half-way as refused content. */
export type JobFault = 'stall' | 'fail' | 'moderate';

/** The result of a job. */
export interface JobResult {
  readonly files: readonly ResultFile[];
  readonly texts: readonly string[];
  readonly facts: JsonObject;
}

/** One file in the journal's file folder. */
export interface ResultFile {
  readonly name: string;
  readonly contentType: string;
  /** Pixels of images and videos. */
  readonly width?: number;
  readonly height?: number;
  /** Seconds of videos and sounds. */
  readonly duration?: number;
}

/** What a caller's words are called in the inputs of all stand-ins. */
const WORDS = [
  'prompt',
  'negative',
  'negativePrompt',
  'text',
  'description',
  'system',
  'messages',
  'graph',
  'requested',
];

/** The job without the words that it was given and that it gave; the same one when it has none. Files and ids stay. */
export function withoutWords(job: Job): Job {
  const { input, result } = job;
  const has =
    WORDS.some((name) => name in input) ||
    (result?.texts.length ?? 0) > 0 ||
    'caption' in (result?.facts ?? {});
  if (!has) return job;
  const kept = Object.fromEntries(Object.entries(input).filter(([name]) => !WORDS.includes(name)));
  if (result === null) return { ...job, input: kept };
  const facts = Object.fromEntries(Object.entries(result.facts).filter(([name]) => name !== 'caption'));
  return { ...job, input: kept, result: { ...result, texts: [], facts } };
}

/** Whether the job has ended. */
export function hasEnded(job: Job): boolean {
  return job.state === 'finished' || job.state === 'failed' || job.state === 'cancelled';
}
