import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import type { Logger } from '../../platform/process/logger.ts';
import { failRequest } from '../http/listener.ts';
import { createApi, type ApiFault } from './api/serve.ts';
import type { StripeContext } from './objects/catalog.ts';
import { expireOverdue } from './objects/checkout.ts';
import { createEvents, type Events, type WebhookTarget } from './objects/events.ts';
import { dispute, failRefund, pay, settle, type PayMethod } from './objects/money.ts';
import { openState, type State } from './objects/state.ts';
import { serveCheckoutPage } from './page.ts';

/**
 * The sandbox's stand-in for Stripe: the part of its API that the adapter uses, durable state, signed webhooks with
 * retries, idempotency keys, and a hosted page with buttons instead of a card. Stripe's SDK takes a host and a port but no
 * path: the API has its own listener, and is also at /v1 of the sandbox.
 */
export interface StripeStandIn {
  /** Origin of the API, for the adapter's host override. */
  readonly url: string;
  /** The API key. */
  readonly secretKey: string;
  /** The secret of its webhooks. */
  readonly webhookSecret: string;
  readonly state: State;
  readonly events: Events;
  /** Controls for tests: buyers, banks, failures. */
  readonly control: StripeControl;
  /** Serves the API; the path begins with /v1/. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Serves the hosted page of a session, wherever it is mounted. */
  page(sessionId: string, request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

interface StripeControl {
  pay(sessionId: string, method?: PayMethod): Promise<void>;
  /** Pays an open session by card. */
  payIfOpen(sessionId: string): Promise<void>;
  settle(sessionId: string, isGood: boolean): Promise<void>;
  failRefund(id: string): Promise<void>;
  dispute(sessionId: string, end?: 'won' | 'lost'): Promise<void>;
  /** The next `times` requests that match fail. */
  fail(fault: ApiFault): void;
  /** Removes all planned failures. */
  heal(): void;
  /** All requests so far, such as `POST checkout/sessions`. */
  readonly requests: readonly string[];
}

export interface StripeOptions {
  readonly dataDir: string;
  /** Address of the hosted pages: `${pageUrl}/<session>`. */
  readonly pageUrl: string;
  /** Address of the webhook; null for none. */
  readonly webhookUrl: string | null;
  readonly logger: Logger;
  /** Id of the account: another one is another merchant. */
  readonly accountId?: string;
  /** Milliseconds between the attempts of a webhook. */
  readonly pausesMs?: readonly number[];
}

/** The stand-in's secrets; they protect nothing. */
const STRIPE_SANDBOX = {
  secretKey: 'sk_test_kilnsandbox',
  webhookSecret: 'whsec_kilnsandbox',
} as const;

const PAUSES_MS = [500, 2_000, 10_000, 60_000, 300_000, 1_800_000];
const EXPIRY_MS = 5_000;

/** Creates the stand-in; it loads earlier state from `dataDir`. */
export async function createStripeStandIn(options: StripeOptions): Promise<StripeStandIn> {
  const { logger, pageUrl, webhookUrl, pausesMs = PAUSES_MS } = options;
  const state = await openState(path.join(options.dataDir, 'stripe.json'));
  const target: WebhookTarget | null =
    webhookUrl === null ? null : { url: webhookUrl, secret: STRIPE_SANDBOX.webhookSecret };
  const events = createEvents({ state, target: () => target, pausesMs, logger });
  const world: StripeContext = { state, events };
  const api = createApi(world, {
    secretKey: STRIPE_SANDBOX.secretKey,
    accountId: options.accountId ?? 'acct_sandbox000000001',
    toPageUrl: (id) => `${pageUrl}/${id}`,
  });
  const server = createServer((request, response) => {
    api.serve(request, response).catch((error: unknown) => failRequest(response, error, logger));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const expiry = setInterval(() => {
    if (!expireOverdue(world)) return;
    state.save().catch((error: unknown) => logger.error({ error }, 'ended checkouts could not be written'));
  }, EXPIRY_MS).unref();
  events.resume();
  const saved = async (change: () => unknown): Promise<void> => {
    change();
    await state.save();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...STRIPE_SANDBOX,
    state,
    events,
    control: {
      pay: (id, method = 'card') => saved(() => pay(world, id, method)),
      async payIfOpen(id) {
        if (state.find('checkout.session', id)?.['status'] !== 'open') return;
        await saved(() => pay(world, id, 'card'));
      },
      settle: (id, isGood) => saved(() => settle(world, id, isGood)),
      failRefund: (id) => saved(() => failRefund(world, id)),
      dispute: (id, end) => saved(() => dispute(world, id, end ?? null)),
      fail: (fault) => api.fail(fault),
      heal: () => api.heal(),
      requests: api.requests,
    },
    serve: (request, response) => api.serve(request, response),
    page(sessionId, request, response) {
      serveCheckoutPage(world, sessionId, { request, response }).catch((error: unknown) =>
        failRequest(response, error, logger),
      );
    },
    async close() {
      clearInterval(expiry);
      events.stop();
      await closeServer(server);
      await state.save();
    },
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
