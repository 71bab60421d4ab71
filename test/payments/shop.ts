import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { internalCaller, type Caller } from '../../platform/caller.ts';
import { createDatabase, type Database } from '../../platform/database.ts';
import { silentLogger } from '../../platform/logger.ts';
import { migrate } from '../../platform/migrations.ts';
import { createQueue } from '../../platform/pg-boss-queue.ts';
import { createEventBus } from '../../platform/postgres-event-bus.ts';
import { createStripeStandIn, type StripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import type { WorkflowTables } from '../../subgraphs/workflow/database.ts';
import { startQueue } from '../../subgraphs/workflow/executions/lifecycle.ts';
import { workflowMigrations } from '../../subgraphs/workflow/migrations/index.ts';
import type { ReconcileStep } from '../../subgraphs/workflow/payments/reconcile.ts';
import { createPaymentService, type PaymentService } from '../../subgraphs/workflow/payments/service.ts';
import { createPaymentStore } from '../../subgraphs/workflow/payments/store.ts';
import { createStripe } from '../../subgraphs/workflow/payments/stripe.ts';
import { createPaymentSweeper, type PaymentSweeper } from '../../subgraphs/workflow/payments/sweeper.ts';
import { createCatalogSync, type CatalogSync } from '../../subgraphs/workflow/templates/catalog-sync.ts';
import { createTemplateService } from '../../subgraphs/workflow/templates/service.ts';
import type { TemplateService } from '../../subgraphs/workflow/templates/template.ts';
import { testDatabase } from '../kit/postgres.ts';

/** Payments, catalog and templates over real PostgreSQL, the real adapter, the stand-in, and a real webhook socket. */
export interface Shop {
  readonly database: Database;
  readonly standIn: StripeStandIn;
  readonly payments: PaymentService;
  readonly templates: TemplateService;
  readonly catalog: CatalogSync;
  readonly sweeper: PaymentSweeper;
  /** Called between the steps of reconcile; throwing is dying there. */
  onStep: (step: ReconcileStep) => void;
  /** Statuses that the webhook's socket answered. */
  readonly hookAnswers: number[];
  /** Executions of a payment, and the jobs that start executions. */
  counts(): Promise<{ readonly executions: number; readonly jobs: number }>;
  close(): Promise<void>;
}

export const operator: Caller = internalCaller('test');
export const anna: Caller = { kind: 'user', id: 'usr_anna', scopes: [], traceId: 't', address: null };
export const ben: Caller = { ...anna, id: 'usr_ben' };

export async function openShop(): Promise<Shop> {
  const logger = silentLogger();
  const home = await testDatabase();
  const database = createDatabase({
    config: home.config,
    maxConnections: 10,
    applicationName: 'shop',
    logger,
  });
  await migrate({ database, sets: [{ schema: 'workflow', migrations: workflowMigrations }], logger });
  const bus = await createEventBus({ database, logger });
  const queue = await createQueue({ database, bus, logger });
  await queue.define(startQueue, { retryLimit: 1, retryDelaySeconds: 1, retryDelayMaxSeconds: 1 });
  const tables = database.typed<WorkflowTables>();
  const templates = createTemplateService(tables);
  await templates.importBundled();
  const hook = await openHook();
  const { folder, remove } = await temporaryFolder();
  const standIn = await createStripeStandIn({
    dataDir: folder,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: hook.url,
    pausesMs: Array.from({ length: 40 }, () => 50),
    logger,
  });
  const provider = createStripe({
    secretKey: standIn.secretKey,
    webhookSecrets: [standIn.webhookSecret],
    baseUrl: standIn.url,
  });
  const catalog = createCatalogSync({
    database: tables,
    provider,
    currency: 'usd',
    creditUnitAmount: 100,
    logger,
  });
  const store = createPaymentStore(tables);
  const selling = {
    database: tables,
    store,
    queue,
    bus,
    provider,
    templates,
    prices: catalog,
    publicUrl: 'http://127.0.0.1:1',
    startSoon: () => undefined,
    onStep: (step: ReconcileStep) => shop.onStep(step),
  };
  const users = { idOf: async (text: string) => text };
  const payments = createPaymentService({ store, bus, users, selling, autoPay: null });
  hook.take = (body, signature) => payments.takeEvent({ body, signature });
  const shop: Shop = {
    database,
    standIn,
    payments,
    templates,
    catalog,
    sweeper: createPaymentSweeper({ selling, logger, overdueMs: 0 }),
    onStep: () => undefined,
    hookAnswers: hook.answers,
    async counts() {
      const count = async (text: string) =>
        Number((await database.pool.query<{ count: number }>(text)).rows[0]?.count);
      return {
        executions: await count('select count(*)::int as count from workflow.executions'),
        jobs: await count(`select count(*)::int as count from pgboss.job where name = '${startQueue}'`),
      };
    },
    async close() {
      await shop.sweeper.stop();
      await standIn.close();
      await hook.close();
      await remove();
      await queue.stop(1);
      await bus.close();
      await database.close();
      await home.drop();
    },
  };
  return shop;
}

interface Hook {
  readonly url: string;
  readonly answers: number[];
  take: (body: Buffer, signature: string) => Promise<void>;
  close(): Promise<void>;
}

/** The webhook's socket: 200 when the event was processed, 500 when it has to come again. */
async function openHook(): Promise<Hook> {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      const status = await hook
        .take(body, String(request.headers['stripe-signature']))
        .then(() => 200)
        .catch(() => 500);
      hook.answers.push(status);
      response.writeHead(status).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hook: Hook = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    answers: [],
    take: () => Promise.reject(new Error('nobody is there yet')),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return hook;
}
