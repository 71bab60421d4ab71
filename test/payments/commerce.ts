import type { PoolConfig } from 'pg';

import { createDatabase } from '../../platform/database/database.ts';
import { createEventBus } from '../../platform/events/postgres/postgres-event-bus.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createQueue } from '../../platform/queue/postgres-queue.ts';
import { createCatalogSync, type CatalogSync } from '../../subgraphs/workflow/catalog/sync.ts';
import { workflowDatabase } from '../../subgraphs/workflow/database/database.ts';
import { cancelQueue, startQueue } from '../../subgraphs/workflow/executions/lifecycle.ts';
import {
  createExecutionStore,
  type ExecutionStore,
  type StoredExecution,
} from '../../subgraphs/workflow/executions/store.ts';
import { refundQueue } from '../../subgraphs/workflow/payments/automatic-refunds.ts';
import type { PayProvider } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import { createStripe } from '../../subgraphs/workflow/payments/provider/stripe.ts';
import type { ReconcileStep } from '../../subgraphs/workflow/payments/reconcile.ts';
import { createPaymentService, type PaymentService } from '../../subgraphs/workflow/payments/service.ts';
import { createPaymentStore } from '../../subgraphs/workflow/payments/store.ts';
import { createTemplateService } from '../../subgraphs/workflow/templates/service.ts';
import { anna } from './callers.ts';

/** All that sells, over a migrated database and an address of Stripe: in a test's process, or in one that dies. */
export type CommerceUnderTest = Awaited<ReturnType<typeof openCommerce>>;

export interface CommerceOptions {
  readonly config: PoolConfig & { readonly database: string };
  readonly stripe: { readonly url: string; readonly secretKey: string; readonly webhookSecret: string };
  /** Called between the steps of reconcile. */
  readonly onStep: (step: ReconcileStep) => void;
  /** Puts something between us and the provider. */
  readonly between?: (provider: PayProvider) => PayProvider;
}

/** Opens it; `close` closes what it opened. */
export async function openCommerce({ config, stripe, onStep, between = (same) => same }: CommerceOptions) {
  const logger = silentLogger();
  const database = createDatabase({ config, maxConnections: 4, applicationName: 'shop', logger });
  const bus = await createEventBus({ database, logger });
  const queue = await createQueue({ database, bus, logger });
  const once = { retryLimit: 1, retryDelaySeconds: 1, retryDelayMaxSeconds: 1 };
  await queue.define(startQueue, once);
  await queue.define(refundQueue, once);
  await queue.define(cancelQueue, once);
  const tables = workflowDatabase(database);
  const templates = createTemplateService(tables, {
    workflowNames: {},
    checkRunnable: () => Promise.resolve(),
    checkPrice: () => undefined,
  });
  const provider = between(
    createStripe({
      secretKey: stripe.secretKey,
      webhookSecrets: [stripe.webhookSecret],
      baseUrl: stripe.url,
    }),
  );
  const prices = { currency: 'usd', creditUnitAmount: 100 };
  const catalog: CatalogSync = createCatalogSync({ database: tables, provider, ...prices, logger });
  const store = createPaymentStore(tables);
  const started: StoredExecution[] = [];
  const commerce = {
    database: tables,
    store,
    queue,
    bus,
    provider,
    templates,
    media: { checkStart: () => Promise.resolve() },
    workflowNames: {},
    prices: catalog,
    switches: { receipts: false, tax: false, promotionCodes: false },
    publicUrl: 'http://127.0.0.1:1',
    checkReturnUrl: (_: string, address: string) => address,
    // Not every provider of sign-in gives an address.
    findEmail: (userId: string) => Promise.resolve(userId === anna.id ? 'anna@example.org' : 'no address'),
    startSoon: (execution: StoredExecution) => void started.push(execution),
    onStep,
  };
  const payments: PaymentService = createPaymentService({
    logger: silentLogger(),
    store,
    bus,
    commerce,
    autoPay: null,
  });
  const executions: ExecutionStore = createExecutionStore(tables);
  return {
    database,
    queue,
    commerce,
    payments,
    templates,
    catalog,
    executions,
    logger,
    async close() {
      await queue.stop(1);
      await bus.close();
      await database.close();
    },
  };
}
