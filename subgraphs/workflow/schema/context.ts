import DataLoader from 'dataloader';

import type { Caller } from '../../../platform/access/caller.ts';
import { enforceSelf, type AuthMode, type UnpaidExecutions } from '../../../platform/access/policy.ts';
import type { AuditLog } from '../../../platform/audit/audit-log.ts';
import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';
import type { TemplateReference } from '../catalog/references.ts';
import type { CatalogSync } from '../catalog/sync.ts';
import type { Execution, ExecutionService, LiveTask } from '../domain/execution.ts';
import type { TaskCost } from '../domain/margin.ts';
import type { PaymentRefund } from '../domain/payment.ts';
import type { User } from '../domain/sign-in.ts';
import type { RunnableChecks, Template, TemplateService } from '../domain/template.ts';
import type { PaymentService } from '../payments/service.ts';
import type { PersonalData } from '../personal-data/export.ts';
import type { SignInServices } from '../sign-in/services.ts';
import { mayReadUser } from '../sign-in/users/users.ts';

/** The services that the resolvers call. */
export interface WorkflowServices {
  readonly templates: TemplateService;
  readonly executions: ExecutionService;
  readonly signIn: SignInServices;
  readonly payments: PaymentService;
  readonly catalog: CatalogSync;
  readonly runnable: RunnableChecks;
  readonly personalData: PersonalData;
  /** No test templates then. */
  readonly production: boolean;
  /** Who runs templates that cost something without paying. */
  readonly unpaidExecutions: UnpaidExecutions;
  /** Version of the service. */
  readonly version: string;
}

/** The context of resolvers, created for every request, so that nothing cached outlives it. */
export interface WorkflowContext {
  readonly caller: Caller;
  readonly authMode: AuthMode;
  readonly audit: AuditLog | undefined;
  readonly signal: AbortSignal;
  readonly services: WorkflowServices;
  readonly loaders: WorkflowLoaders;
  /** Ids of payments and executions that this request has proved to be the caller's: by a session, or by a task id. */
  readonly proved: Set<string>;
}

/** The context of one request. */
export function createWorkflowContext(options: {
  readonly request: RequestContext;
  readonly authMode: AuthMode;
  readonly audit?: AuditLog | undefined;
  readonly services: WorkflowServices;
}): WorkflowContext {
  const { request, authMode, audit, services } = options;
  const { caller, signal } = request;
  const loaders = createLoaders(services, caller);
  return { caller, authMode, audit, signal, services, loaders, proved: new Set() };
}

/**
 * Our id of the user that an argument names, by our id or by their subject at the identity provider. Throws
 * UNAUTHENTICATED or FORBIDDEN when the caller may not name them. Null when nobody is named.
 */
export async function namedUser(
  { caller, authMode, services }: WorkflowContext,
  text: string | number | null | undefined,
): Promise<string | null> {
  if (text === null || text === undefined) return null;
  const id = await services.signIn.users.findUserId(String(text));
  enforceSelf(caller, id, authMode);
  return id;
}

// A bound for each statement, however long the list.
const maxBatchSize = 500;

type WorkflowLoaders = ReturnType<typeof createLoaders>;

/** Batched reads of one request. */
function createLoaders(
  { templates, executions, signIn, catalog, payments }: WorkflowServices,
  caller: Caller,
) {
  const loaders = {
    templates: batched<Template | null>((codes) => templates.namedBy(codes)),
    /** The payment provider's ids of templates, by code. */
    templateReferences: batched<TemplateReference | null>(async (codes) => {
      const found = await catalog.references(codes);
      return codes.map((code) => found.get(code) ?? null);
    }),
    /** The executions this caller may read, by id. */
    executions: batched<Execution | null>((ids) => executions.byIds(caller, ids)),
    /** The executions this caller may read, by the id of their task. */
    executionsByTask: batched<Execution | null>((ids) => executions.byTaskIds(caller, ids)),
    /** The ids of tasks, by the id of their execution, without an ownership check. */
    taskIds: batched<string | null>((ids) => executions.readTaskIds(ids)),
    /** The users this caller may see, by id. */
    users: batched<User | null>(async (ids) => {
      const visible = ids.filter((id) => mayReadUser(caller, id));
      const found = await signIn.users.byIds(visible);
      const byUserId = new Map(visible.map((id, index) => [id, found[index] ?? null]));
      return ids.map((id) => byUserId.get(id) ?? null);
    }),
    /** The refunds of payments, by the id of the payment; for payments that the caller may read. */
    refunds: batched<readonly PaymentRefund[]>((ids) => payments.listRefunds(ids)),
    /** The current state of running tasks, from media. */
    liveTasks: batched<LiveTask | null>((ids) => executions.liveTasks(ids)),
    /** What tasks cost, by their id, without an ownership check. */
    taskCosts: batched<TaskCost | null>((ids) => executions.taskCosts(ids)),
  };
  /** Clears the caches. Called for each event of a subscription, because one context serves all of them. */
  const forget = (): void => {
    for (const loader of Object.values(loaders)) loader.clearAll();
  };
  return { ...loaders, forget };
}

function batched<Value>(read: (keys: readonly string[]) => Promise<readonly Value[]>) {
  return new DataLoader<string, Value>(read, { maxBatchSize });
}
