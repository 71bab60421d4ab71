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

/** Batched reads of one request. */
interface WorkflowLoaders {
  readonly templates: DataLoader<string, Template | null>;
  /** The payment provider's ids of templates, by code. */
  readonly templateReferences: DataLoader<string, TemplateReference | null>;
  /** The executions this caller may read, by id. */
  readonly executions: DataLoader<string, Execution | null>;
  /** The executions this caller may read, by the id of their task. */
  readonly executionsByTask: DataLoader<string, Execution | null>;
  /** The ids of tasks, by the id of their execution, without an ownership check. */
  readonly taskIds: DataLoader<string, string | null>;
  /** The users this caller may see, by id. */
  readonly users: DataLoader<string, User | null>;
  /** The refunds of payments, by the id of the payment; for payments that the caller may read. */
  readonly refunds: DataLoader<string, readonly PaymentRefund[]>;
  /** The current state of running tasks, from media. */
  readonly liveTasks: DataLoader<string, LiveTask | null>;
  /** What tasks cost, by their id, without an ownership check. */
  readonly taskCosts: DataLoader<string, TaskCost | null>;
  /** Clears the caches. Called for each event of a subscription, because one context serves all of them. */
  readonly forget: () => void;
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

function createLoaders(
  { templates, executions, signIn, catalog, payments }: WorkflowServices,
  caller: Caller,
): WorkflowLoaders {
  const byCode = new DataLoader((codes: readonly string[]) => templates.namedBy(codes), { maxBatchSize });
  const templateReferences = new DataLoader(
    async (codes: readonly string[]) => {
      const found = await catalog.references(codes);
      return codes.map((code) => found.get(code) ?? null);
    },
    { maxBatchSize },
  );
  const byId = new DataLoader((ids: readonly string[]) => executions.byIds(caller, ids), { maxBatchSize });
  const byTask = new DataLoader((ids: readonly string[]) => executions.byTaskIds(caller, ids), {
    maxBatchSize,
  });
  const taskIds = new DataLoader((ids: readonly string[]) => executions.taskIdsOf(ids), { maxBatchSize });
  const users = new DataLoader(
    async (ids: readonly string[]) => {
      const visible = ids.filter((id) => mayReadUser(caller, id));
      const found = await signIn.users.byIds(visible);
      const byUserId = new Map(visible.map((id, index) => [id, found[index] ?? null]));
      return ids.map((id) => byUserId.get(id) ?? null);
    },
    { maxBatchSize },
  );
  const liveTasks = new DataLoader((ids: readonly string[]) => executions.liveTasks(ids), { maxBatchSize });
  const taskCosts = new DataLoader((ids: readonly string[]) => executions.taskCosts(ids), { maxBatchSize });
  const refunds = new DataLoader((ids: readonly string[]) => payments.listRefunds(ids), { maxBatchSize });
  const forget = (): void => {
    for (const loader of [
      byCode,
      templateReferences,
      byId,
      byTask,
      taskIds,
      users,
      refunds,
      liveTasks,
      taskCosts,
    ])
      loader.clearAll();
  };
  return {
    templates: byCode,
    templateReferences,
    executions: byId,
    executionsByTask: byTask,
    taskIds,
    users,
    refunds,
    liveTasks,
    taskCosts,
    forget,
  };
}
