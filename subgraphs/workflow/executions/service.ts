import type { Caller } from '../../../platform/caller.ts';
import { isUniqueViolation } from '../../../platform/database.ts';
import { AppError, badInput, notFound, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/event-bus.ts';
import { isUuid, newId, newTraceId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Queue } from '../../../platform/queue.ts';
import type { WorkflowDatabase } from '../database.ts';
import type { Template, TemplateService } from '../templates/template.ts';
import { beneficiaryOf, mayReadExecution } from './access.ts';
import type {
  ExecuteRequest,
  Execution,
  ExecutionKey,
  ExecutionPage,
  ExecutionService,
  LiveTask,
} from './execution.ts';
import { fingerprintOf, guardedExecution, guardOf, takeKey, type Guard } from './idempotency.ts';
import { startQueue, type ExecutionLifecycle } from './lifecycle.ts';
import type { MediaClient } from './media-client.ts';
import { checkedParameters } from './parameters.ts';
import { insertExecution, type ExecutionStore, type StoredExecution } from './store.ts';
import { watchExecution } from './watch.ts';
import { startOf } from './workflows.ts';

export interface ExecutionDependencies {
  readonly database: WorkflowDatabase;
  readonly store: ExecutionStore;
  readonly templates: TemplateService;
  readonly lifecycle: ExecutionLifecycle;
  readonly media: MediaClient;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Milliseconds the submission itself waits for media's start (default 2,000); then the backstop job does it. */
  readonly startWithinMs?: number;
}

/** Makes the service (execution.ts says what each verb does). */
export function createExecutionService(dependencies: ExecutionDependencies): ExecutionService {
  const { store, media, logger } = dependencies;
  return {
    execute: (caller, request) => execute(dependencies, caller, request),
    find: (caller, key) => find(store, caller, key),
    byIds: async (caller, ids) => {
      const found = await readable(caller, ids, (known) => store.byIds(known));
      const byId = new Map(found.map((execution) => [execution.id, execution]));
      return ids.map((id) => byId.get(id.toLowerCase()) ?? null);
    },
    byTaskIds: async (caller, taskIds) => {
      const found = await readable(caller, taskIds, (known) => store.byTaskIds(known));
      const byTask = new Map(found.map((execution) => [execution.taskId, execution]));
      return taskIds.map((id) => byTask.get(id.toLowerCase()) ?? null);
    },
    liveTasks: (taskIds) => liveTasks(media, logger, taskIds),
    list: (caller, options) => list(store, caller, options),
    watch: async (caller, id, afterSeq, signal) => {
      const execution = await find(store, caller, { id });
      if (execution === null) throw notFound('execution', id);
      return watchExecution(dependencies, { id, afterSeq, signal, traceId: caller.traceId });
    },
  };
}

async function execute(
  dependencies: ExecutionDependencies,
  caller: Caller,
  request: ExecuteRequest,
): Promise<Execution> {
  const { idempotencyKey, ...asked } = request;
  const fingerprint = fingerprintOf({ operation: 'executeTemplate', ...asked });
  const guard = guardOf(caller, idempotencyKey, fingerprint);
  const earlier = guard === null ? null : await guardedExecution(dependencies.database, guard);
  if (earlier !== null) return readAgain(dependencies.store, earlier);
  const draft = await draftOf(dependencies, { caller, request, fingerprint });
  const accepted = await accept(dependencies, draft, guard);
  await startSoon(dependencies, accepted);
  return readAgain(dependencies.store, accepted.id);
}

/** The row to be, everything checked. */
async function draftOf(
  { templates }: ExecutionDependencies,
  submission: { readonly caller: Caller; readonly request: ExecuteRequest; readonly fingerprint: string },
) {
  const { caller, request, fingerprint } = submission;
  const template = await activeTemplate(templates, request.code);
  const parameters = checkedParameters(template.parameters, request.parameters);
  const { userId, taskOwner } = beneficiaryOf(caller, request.onBehalfOf);
  return {
    id: newId(),
    task_id: newId(),
    external_id: checkedExternalId(request.externalId),
    owner: caller.id,
    user_id: userId,
    template_code: template.code,
    stage: 'waiting for the media service',
    parameters: JSON.stringify(parameters),
    start: JSON.stringify(startOf(template, parameters)),
    task_owner: taskOwner,
    fingerprint,
    error: null,
  };
}

type Draft = Awaited<ReturnType<typeof draftOf>>;

async function activeTemplate(templates: TemplateService, code: string): Promise<Template> {
  const [template = null] = await templates.byCodes([code]);
  if (template === null) throw notFound('template', code);
  if (!template.isActive) throw badInput('code', `template ${template.code} is not active`);
  return template;
}

function checkedExternalId(externalId: string | null): string | null {
  if (externalId === null || /^[A-Za-z0-9._-]{1,128}$/.test(externalId)) return externalId;
  throw badInput('externalId', 'externalId must be 1 to 128 letters, digits, dots, _ and -');
}

/** One transaction: execution, idempotency record, backstop job. A lost race answers the winner's execution. */
async function accept(
  dependencies: ExecutionDependencies,
  draft: Draft,
  guard: Guard | null,
): Promise<StoredExecution> {
  const { database, queue } = dependencies;
  try {
    return await database.transaction().execute(async (transaction) => {
      const execution = await insertExecution(transaction, draft);
      if (guard !== null) await takeKey(transaction, guard, execution.id);
      const data = { executionId: execution.id };
      await queue.enqueue(transaction, { queue: startQueue, data, startAfterSeconds: 4 });
      return execution;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return winnerOf(dependencies, { draft, guard, error });
  }
}

async function winnerOf(
  { database, store }: ExecutionDependencies,
  lost: { readonly draft: Draft; readonly guard: Guard | null; readonly error: unknown },
): Promise<StoredExecution> {
  const { draft, guard, error } = lost;
  const guarded = guard === null ? null : await guardedExecution(database, guard);
  if (guarded !== null) return readAgain(store, guarded);
  const { owner, external_id: externalId } = draft;
  const taken = externalId === null ? null : await store.byExternalId(owner, externalId);
  if (taken === null) throw error;
  if (taken.fingerprint === draft.fingerprint) return taken;
  throw new AppError('CONFLICT', `the external id ${externalId} is taken by another execution`, {
    field: 'externalId',
    cause: error,
  });
}

/** The start runs inline, but not for long: what media does not take at once, the queued job brings. */
async function startSoon(dependencies: ExecutionDependencies, execution: StoredExecution): Promise<void> {
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

async function find(store: ExecutionStore, caller: Caller, key: ExecutionKey): Promise<Execution | null> {
  const given = Object.entries(key).filter(([, value]) => value !== null && value !== undefined);
  const [entry] = given;
  if (entry === undefined || given.length > 1) {
    throw badInput('id', 'execution takes exactly one of id, taskId and externalId');
  }
  const [name, value] = [entry[0], String(entry[1])];
  if (name === 'externalId') return store.byExternalId(caller.id, value);
  const found = await readable(caller, [value], (known) =>
    name === 'id' ? store.byIds(known) : store.byTaskIds(known),
  );
  return found[0] ?? null;
}

/** Reads by ids that can be ids of ours at all, and leaves out what is somebody else's. */
async function readable(
  caller: Caller,
  ids: readonly string[],
  read: (known: readonly string[]) => Promise<readonly StoredExecution[]>,
): Promise<readonly StoredExecution[]> {
  const known = ids.filter(isUuid);
  const found = known.length === 0 ? [] : await read(known);
  return found.filter((execution) => mayReadExecution(caller, execution));
}

async function list(
  store: ExecutionStore,
  caller: Caller,
  {
    userId,
    first,
    after,
  }: { readonly userId: string | null; readonly first: number; readonly after: string | null },
): Promise<ExecutionPage> {
  if (caller.kind === 'anonymous') return { executions: [], hasNextPage: false };
  const seesAll = caller.kind === 'internal' || caller.scopes.includes('admin');
  const seesUser = userId !== null && caller.kind === 'key';
  const callerId = seesAll || seesUser ? null : caller.id;
  const found = await store.list({ callerId, userId, first, after });
  return { executions: found.slice(0, first), hasNextPage: found.length > first };
}

/** A list of executions is worth reading also while media is away: their rows' last known stage is answered then. */
async function liveTasks(
  media: MediaClient,
  logger: Logger,
  taskIds: readonly string[],
): Promise<readonly (LiveTask | null)[]> {
  try {
    return await media.tasks(taskIds, newTraceId());
  } catch (thrown) {
    logger.warn({ error: toError(thrown), tasks: taskIds.length }, 'media does not say where tasks stand');
    return taskIds.map(() => null);
  }
}
