import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStripeStandIn, type StripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import { startQueue } from '../../subgraphs/workflow/executions/lifecycle.ts';
import type { ReconcileStep } from '../../subgraphs/workflow/payments/reconcile.ts';
import {
  enqueueLostJobs,
  createPaymentSweeper,
  type PaymentSweeper,
} from '../../subgraphs/workflow/payments/sweeper.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { openCommerce, type CommerceUnderTest } from './commerce.ts';

/** Payments, catalog and templates over real PostgreSQL, the real adapter, the stand-in, and a real webhook socket. */
export interface PaymentEnvironment extends CommerceUnderTest {
  readonly config: TestDatabase['config'];
  readonly standIn: StripeStandIn;
  readonly sweeper: PaymentSweeper;
  /** Called between the steps of reconcile; throwing is dying there. */
  onStep: (step: ReconcileStep) => void;
  /** Statuses that the webhook's socket answered. */
  readonly hookAnswers: number[];
  /** Executions of a payment, and the jobs that start executions. */
  counts(): Promise<{ readonly executions: number; readonly jobs: number }>;
  close(): Promise<void>;
}

export async function openPaymentEnvironment(): Promise<PaymentEnvironment> {
  const logger = silentLogger();
  const home = await migratedDatabase();
  const hook = await openHook();
  const { folder, remove } = await temporaryFolder();
  const standIn = await createStripeStandIn({
    dataDir: folder,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: hook.url,
    // Soon at first; a machine that is very busy takes an event only after a while.
    pausesMs: Array.from({ length: 100 }, (_, tries) => (tries < 40 ? 50 : 1_000)),
    logger,
  });
  const counter = await openCommerce({
    config: home.config,
    stripe: standIn,
    onStep: (step) => shop.onStep(step),
  });
  const { database, payments } = counter;
  await counter.templates.addBundled();
  hook.take = (body, signature) => payments.receiveEvent({ body, signature });
  const shop: PaymentEnvironment = {
    ...counter,
    config: home.config,
    standIn,
    sweeper: createPaymentSweeper({
      commerce: counter.commerce,
      logger,
      overdueMs: 0,
      enqueueLostJobs: () => enqueueLostJobs({ ...counter.commerce, logger, autoRefund: true }),
    }),
    onStep: () => undefined,
    hookAnswers: hook.answers,
    async counts() {
      const count = async (text: string) =>
        Number((await database.pool.query<{ count: number }>(text)).rows[0]?.count);
      return {
        executions: await count('select count(*)::int as count from workflow.executions'),
        jobs: await count(`select count(*)::int as count from queue.jobs where queue = '${startQueue}'`),
      };
    },
    async close() {
      await shop.sweeper.stop();
      await standIn.close();
      await hook.close();
      await remove();
      await counter.close();
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
