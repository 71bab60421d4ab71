import type { Caller } from '../../../platform/access/caller.ts';
import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';
import { newTraceId } from '../../../platform/ids.ts';
import type { Batch, BatchCaller } from '../batch-store/batch.ts';

/** What is kept of a caller, so that their calls can be made later; no credential. */
export function toBatchCaller({ kind, id, scopes, address, generators = null }: Caller): BatchCaller {
  return { kind, id, scopes, address, generators };
}

/** The context of a call that is made for the owner of a batch. */
export function createOwnerContext(
  { caller }: Batch,
  signal: AbortSignal,
  traceId = newTraceId(),
): RequestContext {
  return { caller: { ...caller, traceId }, signal };
}

/** The same for the end of a call. Whoever cancelled the batch was allowed to, though the key that began it may not. */
export function createCancelContext({ caller, ...batch }: Batch, signal: AbortSignal): RequestContext {
  return createOwnerContext(
    { ...batch, caller: { ...caller, scopes: [...caller.scopes, 'manage'] } },
    signal,
  );
}
