import type { Caller } from '../../../platform/access/caller.ts';
import {
  computeFingerprint,
  toIdempotencyRecord,
  type IdempotencyRecord,
} from '../../../platform/access/idempotency.ts';
import { enforcePaid, type UnpaidExecutions } from '../../../platform/access/policy.ts';
import { isUniqueViolation } from '../../../platform/database/database.ts';
import { AppError, badInput, notFound, toError } from '../../../platform/errors.ts';
import type { Json } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import { createTraceparent } from '../../../platform/tracing/span.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import { type ExecuteRequest, type Execution, findBeneficiary } from '../domain/execution.ts';
import type { Template, TemplateService, WorkflowNames } from '../domain/template.ts';
import { acceptExecution, type NewExecution, findExecutionOfKey, insertKey } from './accept.ts';
import { activeTemplate, checkedStart, startFor, type CheckedStart } from './checked-start.ts';
import type { ExecutionLifecycle } from './lifecycle.ts';
import type { MediaClient } from './media-client.ts';
import type { ExecutionStore, StoredExecution } from './store.ts';

/** What running a template needs. */
export interface ExecuteDependencies {
  readonly database: WorkflowDatabase;
  readonly store: ExecutionStore;
  readonly templates: TemplateService;
  readonly lifecycle: ExecutionLifecycle;
  readonly media: MediaClient;
  readonly queue: Queue;
  readonly logger: Logger;
  readonly workflowNames: WorkflowNames;
  /** UNPAID_EXECUTIONS. */
  readonly unpaidExecutions: UnpaidExecutions;
  /** Milliseconds the submission itself waits for media's start (default 2,000); then the backstop job does it. */
  readonly startWithinMs?: number;
}

/** Runs a template (domain/execution.ts lists the errors). */
export async function execute(
  dependencies: ExecuteDependencies,
  caller: Caller,
  request: ExecuteRequest,
): Promise<Execution> {
  const { idempotencyKey, ...fields } = request;
  const requested = { operation: 'executeTemplate', ...fields };
  const fingerprint = computeFingerprint(requested);
  const guard = toIdempotencyRecord(caller, idempotencyKey, requested, request.onBehalfOf);
  const earlier = guard === null ? null : await findExecutionOfKey(dependencies.database, guard);
  if (earlier !== null) return readAgain(dependencies.store, earlier);
  const draft = await createDraft(dependencies, { caller, request, fingerprint });
  const accepted = await accept(dependencies, draft, guard);
  await startInline(dependencies, accepted);
  return readAgain(dependencies.store, accepted.id);
}

/** Validates a request. */
async function createDraft(
  dependencies: ExecuteDependencies,
  submission: { readonly caller: Caller; readonly request: ExecuteRequest; readonly fingerprint: string },
): Promise<NewExecution> {
  const { caller, request, fingerprint } = submission;
  const template = await activeTemplate(dependencies.templates, request.code, 'code');
  enforcePaid(caller, template, dependencies.unpaidExecutions);
  const { userId, taskOwner } = findBeneficiary(caller, request.onBehalfOf);
  const { parameters, start } = await checkedStartIfAvailable(dependencies, caller, {
    template,
    parameters: request.parameters,
    owner: taskOwner,
  });
  return {
    externalId: checkedExternalId(request.externalId),
    owner: caller.id,
    userId,
    templateCode: template.code,
    parameters,
    start,
    taskOwner,
    fingerprint,
    traceparent: createTraceparent(caller.traceId),
    sold: false,
  };
}

/** When media is unavailable its checks are skipped: the execution waits, and ends as FAILED if media refuses it later. */
async function checkedStartIfAvailable(
  { media, workflowNames, logger }: ExecuteDependencies,
  caller: Caller,
  input: { readonly template: Template; readonly parameters: Json; readonly owner: string },
): Promise<CheckedStart> {
  try {
    return await checkedStart({ media, workflowNames }, caller, input);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'UNAVAILABLE') throw thrown;
    logger.warn({ error: thrown, template: input.template.code }, 'an execution could not be checked yet');
    return startFor(input.template, input.parameters, workflowNames);
  }
}

function checkedExternalId(externalId: string | null): string | null {
  if (externalId === null || /^[A-Za-z0-9._-]{1,128}$/.test(externalId)) return externalId;
  throw badInput('externalId', 'externalId must be 1 to 128 letters, digits, dots, _ and -');
}

/** Writes execution, idempotency record and backstop job in one transaction. On a conflict answers the existing execution. */
async function accept(
  dependencies: ExecuteDependencies,
  draft: NewExecution,
  guard: IdempotencyRecord | null,
): Promise<StoredExecution> {
  const { database, queue } = dependencies;
  try {
    return await database.transaction().execute(async (transaction) => {
      const execution = await acceptExecution(transaction, queue, draft);
      if (guard !== null) await insertKey(transaction, guard, execution.id);
      return execution;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return conflictingExecution(dependencies, { draft, guard, error });
  }
}

async function conflictingExecution(
  { database, store }: ExecuteDependencies,
  lost: { readonly draft: NewExecution; readonly guard: IdempotencyRecord | null; readonly error: unknown },
): Promise<StoredExecution> {
  const { draft, guard, error } = lost;
  const guarded = guard === null ? null : await findExecutionOfKey(database, guard);
  if (guarded !== null) return readAgain(store, guarded);
  const { owner, externalId } = draft;
  const taken = externalId === null ? null : await store.byExternalId(owner, externalId);
  if (taken === null) throw error;
  if (taken.fingerprint === draft.fingerprint) return taken;
  throw new AppError('CONFLICT', `the external id ${externalId} is taken by another execution`, {
    field: 'externalId',
    cause: error,
  });
}

/** Starts the task inline for a limited time; after that the queued job does it. */
async function startInline(dependencies: ExecuteDependencies, execution: StoredExecution): Promise<void> {
  const { lifecycle, logger, startWithinMs = 2000 } = dependencies;
  const signal = AbortSignal.timeout(startWithinMs);
  const started = lifecycle.start(execution, signal).catch((thrown: unknown) => {
    logger.error({ error: toError(thrown), executionId: execution.id }, 'starting an execution failed');
  });
  const { promise: late, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await Promise.race([started, late]);
}

async function readAgain(store: ExecutionStore, id: string): Promise<StoredExecution> {
  const [execution] = await store.byIds([id]);
  if (execution === undefined) throw notFound('execution', id);
  return execution;
}
