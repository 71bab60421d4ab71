import type { JobHandler, NewJob } from '../../../../platform/queue/queue.ts';
import type { MediaTransaction } from '../../database/database.ts';
import { UpstreamError } from '../../domain/failure.ts';
import { asJson } from '../../domain/task.ts';
import { requestKind } from '../../domain/work/request.ts';
import type { StepKind } from '../../domain/work/work.ts';
import type { GeneratorRegistry, PlacedAttempt } from '../../generators/bindings/binding.ts';
import type { Handle } from '../../providers/contract/provider.ts';
import { readAttempts } from '../storage/attempt-store.ts';
import { readSteps } from '../storage/step-store.ts';

/** Deleting at a provider what it keeps of the work of a removed task, where its wire has a request for that. */

/** Its queue. */
export const ERASE_QUEUE = 'media.erase-upstream';

/** What of an attempt outlives its task until the provider has deleted it: ids, no words. */
interface ErasedAttempt extends PlacedAttempt {
  readonly kind: StepKind;
  readonly handle: Handle;
}

type Registry = Pick<GeneratorRegistry, 'ofAttempt'>;

/** The jobs that delete at providers what they keep of a task, which is there still. */
export async function upstreamErasures(
  transaction: MediaTransaction,
  registry: Registry,
  taskId: string,
): Promise<readonly NewJob[]> {
  const attempts = await readAttempts(transaction, [taskId]);
  const begun = attempts.filter(({ handle }) => handle !== null);
  if (begun.length === 0) return [];
  const steps = await readSteps(transaction, taskId);
  return begun.flatMap(({ step, handle, binding, bindingName, provider, upstream }) => {
    const kind = steps.find((one) => one.step === step)?.input.kind;
    if (kind === undefined || handle === null) return [];
    const attempt: ErasedAttempt = { kind, handle, binding, bindingName, provider, upstream };
    const job = registry.ofAttempt(attempt)?.provider.jobs?.[requestKind(kind)];
    return job?.erase === undefined ? [] : [{ queue: ERASE_QUEUE, data: asJson(attempt) }];
  });
}

/** Most milliseconds of the request of one job. */
const TIMEOUT_MS = 60_000;

/** Deletes at the provider what it keeps; done as well when the provider, or its machine, is no longer configured here or knows nothing of it. */
export function createErasureHandler(registry: Registry): JobHandler {
  return async ({ data, signal: stopped }) => {
    const attempt = data as unknown as ErasedAttempt;
    const binding = registry.ofAttempt(attempt);
    const job = binding?.provider.jobs?.[requestKind(attempt.kind)];
    if (binding === null || job?.erase === undefined) return;
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]);
    await job.erase(attempt.handle, { connection: binding.connection, signal }).catch((error: unknown) => {
      if (!(error instanceof UpstreamError && error.code === 'LOST')) throw error;
    });
  };
}
