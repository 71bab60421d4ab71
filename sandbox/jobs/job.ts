import type { JsonObject } from '../../platform/json.ts';

/** One piece of work that a stand-in has accepted: what the journal keeps of it. */
export interface Job {
  /** The id that the wire shows to its callers. */
  readonly id: string;
  /** Which stand-in: midjourney, openai. */
  readonly wire: string;
  /** The wire's operation: imagine, describe, images, ... */
  readonly operation: string;
  /** The caller's own mark in the wire's field for it; starts are counted by it. */
  readonly reference: string | null;
  /** What was asked for, as the wire understood it. Pictures are files, named here. */
  readonly input: JsonObject;
  readonly state: JobState;
  /** Milliseconds since 1970, as are the two below. */
  readonly submittedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly result: JobResult | null;
  /** Why it failed, in the wire's words. */
  readonly failure: string | null;
  /** A planned fault of this job: it survives a crash of the stand-in like the rest. */
  readonly fault: JobFault | null;
  /** The stand-in pretends not to know this job any more. Its start still counts. */
  readonly isForgotten: boolean;
}

/** Where a job stands, whatever its wire calls that. */
export type JobState = 'queued' | 'running' | 'finished' | 'failed' | 'cancelled';

/** `stall` stops half-way for ever; `fail` ends half-way as a failure; `moderate` ends half-way as refused content. */
export type JobFault = 'stall' | 'fail' | 'moderate';

/** What a job made. */
export interface JobResult {
  readonly files: readonly ResultFile[];
  readonly texts: readonly string[];
  readonly facts: JsonObject;
}

/** One file in the journal's file folder. */
interface ResultFile {
  readonly name: string;
  readonly contentType: string;
  /** Pixels of pictures and videos. */
  readonly width?: number;
  readonly height?: number;
  /** Seconds of videos and sounds. */
  readonly duration?: number;
}

/** Whether nothing will happen to this job any more. */
export function hasEnded(job: Job): boolean {
  return job.state === 'finished' || job.state === 'failed' || job.state === 'cancelled';
}
