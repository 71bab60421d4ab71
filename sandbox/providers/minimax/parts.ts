import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { storeInputs } from '../shared/perform.ts';
import type { Results } from '../shared/results.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { refusal, toRefusal } from './answers.ts';

/** The context of this wire's handlers. */
export interface MinimaxParts {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly results: Results;
}

/** Ids of tasks, files and calls are digits; the first digit is their type. */
export const ID = {
  digits: 15,
  task: '1',
  upload: '2',
  call: '3',
  /** A finished video's file: its task's id with another first digit. */
  video: '4',
} as const;

/** The file of a task's video. */
export function videoFileId(taskId: string): string {
  return ID.video + taskId.slice(1);
}

/** A synchronous call. */
interface MinimaxCall {
  /** What perform.ts does for it. */
  readonly operation: string;
  readonly request: WireRequest;
  readonly fault: Fault | null;
  readonly input: JsonObject;
  readonly samples: readonly Uint8Array[];
}

/** Runs a call to its end; `answer` is the error when there is no result. */
export async function runCall(
  { runner, journal }: MinimaxParts,
  { operation, request, fault, input, samples }: MinimaxCall,
): Promise<{ readonly job: Job } | { readonly answer: Answer }> {
  if (fault?.fault === 'moderation') return { answer: refusal(1026) };
  if (fault?.fault === 'queue-full') return { answer: refusal(1002) };
  const id = newNumericId(ID.call, ID.digits);
  const accepted = await runner.submit({
    id,
    operation,
    reference: null,
    input: { ...input, pictures: await storeInputs(journal, id, samples) },
    fault: toJobFault(fault),
  });
  if (accepted === null) return { answer: refusal(1002) };
  const job = await runner.answered(id, request.signal);
  return job.state === 'finished' ? { job } : { answer: toRefusal(job) };
}
