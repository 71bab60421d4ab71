import type { AuthMode, UnpaidExecutions } from '../../platform/access/policy.ts';
import type { AuditLog } from '../../platform/audit/audit-log.ts';
import type { Database } from '../../platform/database/database.ts';
import { onceThere } from '../../platform/database/once-there.ts';
import type { EventBus } from '../../platform/events/event-bus.ts';
import type { Subgraph, SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Queue } from '../../platform/queue/queue.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import { checkPrice } from './catalog/pricing.ts';
import { createCommerce, refundsFailures, type CommerceOptions } from './commerce.ts';
import { workflowDatabase, type WorkflowDatabase } from './database/database.ts';
import type { WorkflowNames } from './domain/template.ts';
import { pruneKeys } from './executions/accept.ts';
import { createExecutionLifecycle } from './executions/lifecycle.ts';
import { createMediaClient, type MediaClient } from './executions/media-client.ts';
import { createRunnableChecks } from './executions/runnable.ts';
import { createExecutionService } from './executions/service.ts';
import { createExecutionStore } from './executions/store.ts';
import { createExecutionWorker } from './executions/worker.ts';
import { refundWhenFailed } from './payments/automatic-refunds.ts';
import { createErasures, requestErasure, forgetParameters } from './personal-data/erasure.ts';
import { createPersonalData } from './personal-data/export.ts';
import { createWorkflowContext, workflowSchema, type WorkflowServices } from './schema/index.ts';
import { checkedRedirect } from './sign-in/browser/redirects.ts';
import { pruneSignIn, createSignIn, type SignInOptions, type SignInServices } from './sign-in/services.ts';
import { createTemplateService } from './templates/service.ts';

export interface WorkflowSubgraphOptions {
  /** Migrated: schema "workflow" (migrations/index.ts). */
  readonly database: Database;
  readonly queue: Queue;
  readonly bus: EventBus;
  /** The link to the media subgraph. */
  readonly media: SubgraphLink;
  readonly authMode: AuthMode;
  /** Absent: nothing is written down. */
  readonly audit?: AuditLog | undefined;
  readonly unpaidExecutions: UnpaidExecutions;
  readonly logger: Logger;
  /** Of this process (default: nothing is traced). */
  readonly tracer?: Tracer;
  /** Of this process (default: none). */
  readonly metrics?: Metrics;
  readonly version: string;
  /** No test templates then. */
  readonly production: boolean;
  /** PUBLIC_URL: the issuer of access tokens. */
  readonly publicUrl: string;
  /** Encrypts and signs for sign-in; the same in every process and after a restart. */
  readonly signInSecret: string;
  /** Identity provider, platforms and administrators. */
  readonly signIn: Pick<SignInOptions, 'admins' | 'provider' | 'platforms' | 'redirects' | 'legacyTokens'>;
  readonly http: HttpClient;
  /** WORKFLOW_NAMES: names of workflows that other systems use. */
  readonly workflowNames: WorkflowNames;
  /** PROMPT_RETENTION_DAYS (default 0: as long as executions). */
  readonly promptRetentionDays?: number;
  /** QUEUE_MAX_HOURS. */
  readonly queueMaxHours: number;
  /** Payment provider and prices. */
  readonly commerce: CommerceOptions;
}

/** The workflow subgraph with its background work. */
export interface WorkflowSubgraph {
  readonly subgraph: Subgraph;
  /** Imports the bundled templates, defines the queues and starts working them. */
  start(): Promise<void>;
  /** Stops the loops; running jobs get this long. Reading goes on. */
  stop(graceSeconds: number): Promise<void>;
  /** A login code that signs a browser in as the development administrator, once. Not for production. */
  developmentCode(): Promise<string>;
}

/** Builds the workflow subgraph. The caller closes database, queue, bus and link. */
export function createWorkflowSubgraph(options: WorkflowSubgraphOptions): WorkflowSubgraph {
  const { queue, bus, logger, production, version, workflowNames, unpaidExecutions } = options;
  const database = workflowDatabase(options.database);
  const store = createExecutionStore(database);
  const media = createMediaClient(options.media);
  const { runnable, templates } = createTemplates(options, { database, media });
  const onEnd = refundsFailures(options.commerce) ? refundWhenFailed(queue) : undefined;
  const lifecycle = createExecutionLifecycle({ store, media, bus, logger, onEnd, tracer: options.tracer });
  const shared = { database, store, lifecycle, queue, logger, workflowNames, unpaidExecutions };
  const executions = createExecutionService({ ...shared, templates, media, bus });
  const worker = createExecutionWorker({
    ...shared,
    prune: (limit) => prune(database, options, limit),
    maxWaitMs: options.queueMaxHours * 3_600_000,
  });
  const signIn = createAccounts(options, database);
  const { catalog, payments, loops } = createCommerce({
    ...shared,
    metrics: options.metrics,
    bus,
    templates,
    media,
    publicUrl: options.publicUrl,
    ...checkoutPages(options, signIn),
    options: options.commerce,
  });
  // The queues of commerce must be there before an execution ends.
  const background = [loops, worker, createErasures({ ...shared, media })];
  const services: WorkflowServices = {
    templates,
    executions,
    signIn,
    payments,
    catalog,
    runnable,
    personalData: createPersonalData(database, media),
    production,
    unpaidExecutions,
    version,
  };
  return {
    subgraph: {
      name: 'workflow',
      schema: workflowSchema,
      contextFor: (request) => createWorkflowContext({ request, ...options, services }),
    },
    async start() {
      await onceThere(() => templates.addBundled(), { logger });
      for (const part of background) await part.start();
    },
    async stop(graceSeconds) {
      for (const part of background) await part.stop(graceSeconds);
      signIn.close();
    },
    developmentCode: () => signIn.developmentCode(),
  };
}

/** Sign-in, whose deleted users take with them what they made. */
function createAccounts(options: WorkflowSubgraphOptions, database: WorkflowDatabase) {
  const { queue, signInSecret: secret } = options;
  return createSignIn({
    ...options,
    ...options.signIn,
    database,
    secret,
    onDeleting: (transaction, userId) => requestErasure(queue, transaction, userId),
  });
}

/** Templates, and the checks of whether they can be run and sold. */
function createTemplates(
  { workflowNames, commerce }: WorkflowSubgraphOptions,
  { database, media }: { readonly database: WorkflowDatabase; readonly media: MediaClient },
) {
  const runnable = createRunnableChecks({ media, workflowNames });
  const templates = createTemplateService(database, {
    workflowNames,
    checkRunnable: (template) => runnable.check(template),
    checkPrice: (template) => checkPrice(commerce, template),
  });
  return { runnable, templates };
}

/** Where buyers may be sent back to, by the rule of sign-in, and what is known of who has signed in. */
function checkoutPages(
  { publicUrl, signIn: { redirects } }: WorkflowSubgraphOptions,
  { users }: SignInServices,
) {
  const rule = { publicUrl, allowed: redirects };
  return {
    checkReturnUrl: (field: string, address: string) =>
      // The braces of the provider's placeholder must not be encoded.
      checkedRedirect(address, rule, field).replaceAll(/%7B(CHECKOUT_SESSION_ID)%7D/gi, '{$1}'),
    findEmail: async (userId: string) => (await users.byIds([userId]))[0]?.email ?? null,
  };
}

async function prune(
  database: WorkflowDatabase,
  { audit, promptRetentionDays: days = 0 }: WorkflowSubgraphOptions,
  limit: number,
): Promise<void> {
  await pruneKeys(database, limit);
  await pruneSignIn(database, limit);
  if (days > 0) await forgetParameters(database, days, limit);
  await audit?.prune(limit);
}
