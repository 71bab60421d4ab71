import { toError } from '../../platform/errors.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { Queue, QueueWorker } from '../../platform/queue/queue.ts';
import { createCatalogSync } from './catalog/sync.ts';
import type { TemplateService, WorkflowNames } from './domain/template.ts';
import type { ExecutionLifecycle } from './executions/lifecycle.ts';
import type { MediaClient } from './executions/media-client.ts';
import type { ExecutionStore, StoredExecution } from './executions/store.ts';
import { workAutomaticRefunds } from './payments/automatic-refunds.ts';
import type { CheckoutDependencies } from './payments/checkout.ts';
import { createPaymentOutbox, workPaymentEvents } from './payments/payment-events.ts';
import type { PayProvider } from './payments/provider/pay-provider.ts';
import type { ReconcileDependencies } from './payments/reconcile.ts';
import { createPaymentService } from './payments/service.ts';
import { createPaymentStore } from './payments/store.ts';
import { enqueueLostJobs, createPaymentSweeper } from './payments/sweeper.ts';

/** The payment provider and the price of a credit. */
export interface CommerceOptions {
  /** Null where no payment provider is set up. */
  readonly provider: PayProvider | null;
  /** Lower case. */
  readonly currency: string;
  /** Minor units of one credit. */
  readonly creditUnitAmount: number;
  readonly switches: CheckoutDependencies['switches'];
  /** Whether payments of executions that fail for a technical reason are refunded. */
  readonly autoRefund: boolean;
  /** Sandbox only: pays a checkout when its buyer comes back. */
  readonly autoPay: ((sessionId: string) => Promise<void>) | null;
}

/** Whether failed executions are refunded: the setting is on and there is a provider. Pure. */
export function refundsFailures({ provider, autoRefund }: CommerceOptions): boolean {
  return autoRefund && provider !== null;
}

/** The catalog at the provider, payments, and their background loops. */
export function createCommerce(
  parts: Pick<ReconcileDependencies, 'database' | 'queue' | 'bus'> & {
    readonly store: ExecutionStore;
    readonly lifecycle: ExecutionLifecycle;
    readonly logger: Logger;
    /** Of this process (default: none). */
    readonly metrics?: Metrics | undefined;
    readonly templates: TemplateService;
    readonly media: MediaClient;
    readonly publicUrl: string;
    readonly workflowNames: WorkflowNames;
    readonly checkReturnUrl: CheckoutDependencies['checkReturnUrl'];
    readonly findEmail: CheckoutDependencies['findEmail'];
    readonly options: CommerceOptions;
  },
) {
  const { database, queue, bus, lifecycle, logger, templates, media, publicUrl, workflowNames, options } =
    parts;
  const { provider, autoPay, currency, creditUnitAmount, switches } = options;
  const prices = { currency, creditUnitAmount };
  const catalog = createCatalogSync({ database, provider, ...prices, logger });
  const store = createPaymentStore(database);
  const startSoon = startSoonBy(lifecycle, logger);
  // Callers only hear that payments are not available.
  if (provider === null) logger.info({ setting: 'STRIPE_SECRET_KEY' }, 'payments are not set up');
  const commerce =
    provider === null
      ? null
      : {
          database,
          store,
          queue,
          bus,
          provider,
          templates,
          media,
          workflowNames,
          prices: catalog,
          switches,
          publicUrl,
          checkReturnUrl: parts.checkReturnUrl,
          findEmail: parts.findEmail,
          startSoon,
          outbox: createPaymentOutbox(queue),
          countStatus: parts.metrics?.counter('kiln_payments_total', 'Payments that have reached a status.', [
            'status',
          ]),
        };
  return {
    catalog,
    payments: createPaymentService({ store, bus, logger, commerce, autoPay }),
    loops: commerceLoops(commerce, {
      queue,
      media,
      executions: parts.store,
      autoRefund: refundsFailures(options),
      logger,
    }),
  };
}

/** The sweep of payments and the automatic refunds; nothing without a provider. */
function commerceLoops(
  commerce: (ReconcileDependencies & CheckoutDependencies) | null,
  parts: {
    readonly queue: Queue;
    readonly media: MediaClient;
    readonly executions: ExecutionStore;
    readonly autoRefund: boolean;
    readonly logger: Logger;
  },
) {
  const { executions, autoRefund, logger } = parts;
  const sweeper =
    commerce === null
      ? null
      : createPaymentSweeper({
          commerce,
          logger,
          enqueueLostJobs: () => enqueueLostJobs({ ...commerce, logger, autoRefund }),
        });
  const workers: QueueWorker[] = [];
  return {
    async start() {
      if (commerce === null) return;
      // Before the sweep, which may change payments.
      workers.push(await workPaymentEvents(parts));
      sweeper?.start();
      if (autoRefund) workers.push(await workAutomaticRefunds({ commerce, executions, logger }));
    },
    async stop(graceSeconds: number) {
      await sweeper?.stop();
      await Promise.all(workers.map((worker) => worker.stop(graceSeconds)));
    },
  };
}

/** Milliseconds for starting a bought execution inline; after that the queued job does it. */
const START_MS = 2_000;

/** Starts a bought execution inline as well as by the queued job, so that a returning buyer finds it running. */
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
