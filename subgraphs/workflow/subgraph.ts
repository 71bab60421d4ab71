import type { Database } from '../../platform/database.ts';
import { toError } from '../../platform/errors.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import type { Subgraph, SubgraphLink } from '../../platform/graphql/subgraph.ts';
import type { HttpClient } from '../../platform/http-client.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AuthMode } from '../../platform/policy.ts';
import type { Queue } from '../../platform/queue.ts';
import type { WorkflowTables } from './database.ts';
import { createExecutionLifecycle, type ExecutionLifecycle } from './executions/lifecycle.ts';
import { createMediaClient } from './executions/media-client.ts';
import { createExecutionService } from './executions/service.ts';
import { createExecutionStore, type StoredExecution } from './executions/store.ts';
import { createExecutionWorker } from './executions/worker.ts';
import type { PayProvider } from './payments/pay-provider.ts';
import type { ReconcileDependencies } from './payments/reconcile.ts';
import { createPaymentService } from './payments/service.ts';
import { createPaymentStore } from './payments/store.ts';
import { createPaymentSweeper } from './payments/sweeper.ts';
import { createWorkflowContext, workflowSchema, type WorkflowServices } from './schema/index.ts';
import { createSignIn, type SignInOptions } from './sign-in/services.ts';
import type { UserService } from './sign-in/sign-in.ts';
import { createCatalogSync } from './templates/catalog-sync.ts';
import { createTemplateService } from './templates/service.ts';
import type { TemplateService } from './templates/template.ts';

export interface WorkflowSubgraphOptions {
  /** Migrated: schema "workflow" (migrations/index.ts). */
  readonly database: Database;
  readonly queue: Queue;
  readonly bus: EventBus;
  /** The way to the media subgraph. */
  readonly media: SubgraphLink;
  readonly authMode: AuthMode;
  readonly logger: Logger;
  readonly version: string;
  /** No test templates then. */
  readonly production: boolean;
  /** PUBLIC_URL: the issuer of access tokens. */
  readonly publicUrl: string;
  /** Seals and signs what sign-in keeps; the same in every process and after a restart. */
  readonly signInSecret: string;
  /** Who may sign in, and how. */
  readonly signIn: Pick<SignInOptions, 'admins' | 'provider' | 'platforms' | 'redirects'>;
  readonly http: HttpClient;
  /** How executions are sold. */
  readonly selling: SellingOptions;
}

/** Who is paid, and how much a credit costs. */
export interface SellingOptions {
  /** Null where no payment provider is set up. */
  readonly provider: PayProvider | null;
  /** Lower case. */
  readonly currency: string;
  /** Minor units of one credit. */
  readonly creditUnitAmount: number;
  /** The stand-in only: pays a checkout when its buyer comes back, as if the button had been pressed. */
  readonly autoPay: ((sessionId: string) => Promise<void>) | null;
}

/** Templates and executions, with the loops behind them. */
export interface WorkflowSubgraph {
  readonly subgraph: Subgraph;
  /** Imports the bundled templates, defines the queues and starts working them. */
  start(): Promise<void>;
  /** Stops the loops; running jobs get this long. Reading goes on. */
  stop(graceSeconds: number): Promise<void>;
}

/** Builds the workflow subgraph. Database, queue, bus and link stay their owner's to close. */
export function createWorkflowSubgraph(options: WorkflowSubgraphOptions): WorkflowSubgraph {
  const { queue, bus, authMode, logger, production, version } = options;
  const database = options.database.typed<WorkflowTables>();
  const store = createExecutionStore(database);
  const media = createMediaClient(options.media);
  const templates = createTemplateService(database);
  const lifecycle = createExecutionLifecycle({ store, media, bus, logger });
  const shared = { database, store, lifecycle, queue, logger };
  const executions = createExecutionService({ ...shared, templates, media, bus });
  const worker = createExecutionWorker(shared);
  const signIn = createSignIn({
    database,
    bus,
    publicUrl: options.publicUrl,
    secret: options.signInSecret,
    ...options.signIn,
    http: options.http,
    logger,
  });
  const { catalog, payments, sweeper } = createShop({
    ...shared,
    bus,
    templates,
    users: signIn.users,
    options,
  });
  const services: WorkflowServices = {
    templates,
    executions,
    signIn,
    payments,
    catalog,
    production,
    version,
  };
  return {
    subgraph: {
      name: 'workflow',
      schema: workflowSchema,
      contextFor: (request) => createWorkflowContext({ request, authMode, services }),
    },
    async start() {
      await templates.importBundled();
      await worker.start();
      sweeper?.start();
    },
    async stop(graceSeconds) {
      await sweeper?.stop();
      await worker.stop(graceSeconds);
      signIn.close();
    },
  };
}

/** Everything about selling: the catalog at the provider, payments, and the sweep behind them. */
function createShop(
  parts: Pick<ReconcileDependencies, 'database' | 'queue' | 'bus'> & {
    readonly lifecycle: ExecutionLifecycle;
    readonly logger: Logger;
    readonly templates: TemplateService;
    readonly users: UserService;
    readonly options: WorkflowSubgraphOptions;
  },
) {
  const { database, queue, bus, lifecycle, logger, templates, users, options } = parts;
  const { provider, autoPay, ...prices } = options.selling;
  const catalog = createCatalogSync({ database, provider, ...prices, logger });
  const store = createPaymentStore(database);
  const startSoon = startSoonBy(lifecycle, logger);
  const { publicUrl } = options;
  const selling =
    provider === null
      ? null
      : { database, store, queue, bus, provider, templates, prices: catalog, publicUrl, startSoon };
  return {
    catalog,
    payments: createPaymentService({ store, bus, users, selling, autoPay }),
    sweeper: selling === null ? null : createPaymentSweeper({ selling, logger }),
  };
}

/** Milliseconds that a bought execution's start may take at once; then the queued job brings it. */
const START_MS = 2_000;

/** Starts what was bought at once, beside the queued job, so that a buyer who comes back finds it running. */
function startSoonBy(lifecycle: ExecutionLifecycle, logger: Logger): (execution: StoredExecution) => void {
  return (execution) => {
    lifecycle.start(execution, AbortSignal.timeout(START_MS)).catch((thrown: unknown) => {
      logger.error(
        { error: toError(thrown), executionId: execution.id },
        'starting a bought execution failed',
      );
    });
  };
}
