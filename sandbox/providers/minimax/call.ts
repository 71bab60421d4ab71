import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { toJobFault } from '../shared/fault-injection.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { storeInputs } from '../shared/perform.ts';
import { refusal, toRefusal } from './answers.ts';
import { ID } from './parts.ts';
import type { MinimaxParts } from './parts.ts';

/** A synchronous call. */
export interface MinimaxCall {
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
