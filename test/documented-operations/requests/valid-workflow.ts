import { createHmac } from 'node:crypto';

import { expect } from 'vitest';

import type { LiveServer } from './live-server.ts';
import type { ValidRequest } from './valid-requests.ts';

/** The same of the workflow service. What its answers hold is documented field by field, and compared with that. */

const text = expect.stringMatching(/\w/);
/** The secret of the sandbox's stand-in for Stripe. */
const webhookSecret = 'whsec_kilnsandbox';

/** A template that nobody needs, by its code. */
const newCode = async ({ url }: LiveServer) => {
  const answer = await fetch(`${url}/templates/test/create`, { method: 'POST' });
  const { data } = (await answer.json()) as { readonly data: { readonly code: string } };
  return { code: data.code };
};
const poster = async () => ({ code: 'poster' });

/** An execution that was paid for: a checkout, and its success page, which pays here. */
async function bought(world: LiveServer) {
  const { data } = (await world.fresh('POST /payment/checkout/{templateCode}')).body;
  const query = new URLSearchParams({ session_id: data.sessionId, payment_id: data.paymentId });
  const answer = await fetch(`${world.url}/payment/success?${query.toString()}`);
  await answer.body?.cancel();
  return { paymentId: data.paymentId as string };
}

/** The query of the pages that a checkout leads back to. */
const cameBack = async (world: LiveServer) => {
  const { data } = (await world.fresh('POST /payment/checkout/{templateCode}')).body;
  return { session_id: data.sessionId, payment_id: data.paymentId };
};

const signIn: Readonly<Record<string, ValidRequest>> = {
  'GET /auth/idp/authorize': { status: 302, answer: { location: text } },
  'GET /auth/idp/callback': {
    async request({ agreed }) {
      const { query, cookie } = await agreed();
      // All that the provider sends along, its issuer, too.
      return { extraQuery: query, headers: { cookie, accept: 'application/json' } };
    },
    answer: expect.objectContaining({ access_token: text, refresh_token: text, expires_in: 900 }),
  },
  'POST /auth/idp/refresh': {
    with: async ({ signedIn }) => ({ refresh_token: (await signedIn()).refresh_token }),
    answer: expect.objectContaining({ access_token: text, expires_in: 900, scope: text }),
  },
  'GET /auth/idp/userinfo': {
    with: async ({ signedIn }) => ({ access_token: (await signedIn()).access_token }),
    answer: expect.objectContaining({ email: 'ada@sandbox.example', name: 'Ada' }),
  },
  'POST /auth/idp/revoke': {
    with: async ({ signedIn }) => ({ token: (await signedIn()).refresh_token }),
    answer: undefined,
  },
};

const checkout = 'POST /payment/checkout/{templateCode}';

const payments: Readonly<Record<string, ValidRequest>> = {
  [checkout]: {
    with: async () => ({ metadata: { prompt: 'a fox' } }),
    answer: { sessionId: text, url: expect.stringMatching(/^http/), paymentId: text },
  },
  'POST /payment/webhook': {
    async request() {
      const event = { id: 'evt_documented', object: 'event', type: 'customer.created', data: { object: {} } };
      const body = JSON.stringify({ ...event, api_version: null, created: 1_700_000_000, livemode: false });
      const time = Math.floor(Date.now() / 1_000);
      const sum = createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex');
      return { body, headers: { 'pp-signature': `t=${time},v1=${sum}` } };
    },
    answer: undefined,
  },
  'GET /payment/success': {
    with: cameBack,
    answer: {
      payment: { id: text, status: 'completed', templateCode: 'poster' },
      execution: { executionId: text, taskId: text },
    },
  },
  'GET /payment/cancel': {
    with: cameBack,
    answer: { payment: { id: text, status: expect.stringMatching(/^\w+$/) } },
  },
  'GET /payment/history': {
    with: async (world) => {
      await world.once(checkout);
      return {};
    },
    answer: { payments: expect.any(Array), total: expect.toSatisfy((total) => total > 0) },
  },
  'POST /payment/refund/{paymentId}': {
    with: bought,
    answer: { refundId: text, amount: 100, status: text },
  },
  'GET /payment/{paymentId}': {
    with: bought,
    answer: expect.objectContaining({ status: 'completed', currency: 'usd', userId: 'somebody' }),
  },
  'GET /payment/health': { answer: { timestamp: text, service: 'payment' } },
};

const submitted = async (world: LiveServer) => ({
  taskId: (await world.once('POST /task')).body.data as string,
});

const tasks: Readonly<Record<string, ValidRequest>> = {
  'GET /task/{taskId}': { with: submitted, answer: expect.objectContaining({ id: text, status: text }) },
  'POST /task': { with: async () => ({ parameters: { prompt: 'a fox' } }), answer: text },
  'POST /task/{taskId}': {
    with: async () => ({ taskId: `my-own.id_${Math.random()}`, parameters: { prompt: 'a fox' } }),
    answer: expect.stringMatching(/^my-own\.id_/),
  },
};

const inCatalog = { ppProductId: text, ppPriceId: text };

const templates: Readonly<Record<string, ValidRequest>> = {
  'GET /templates': { answer: { templates: expect.any(Array), total: expect.any(Number) } },
  'GET /templates/get/{code}': {
    answer: expect.objectContaining({ code: 'poster', templateType: 'IMAGE', isActive: true }),
  },
  'POST /templates': {
    with: async () => ({ code: `documented-${String(Math.random()).slice(2)}`, name: 'Documented' }),
    answer: { code: expect.stringMatching(/^documented-/), ...inCatalog },
  },
  'PUT /templates/update/{code}': {
    with: async (world) => ({ ...(await newCode(world)), name: 'Another' }),
    answer: { updated: true, ppSynced: true },
  },
  'DELETE /templates/delete/{code}': { with: newCode, answer: { deleted: true } },
  'POST /templates/execute/{code}': {
    with: async ({ links }) => ({ userId: 'somebody', imageUrl: await links.image() }),
    answer: { executionId: text, taskId: text, status: 'running' },
  },
  'POST /templates/activate/{code}': { with: newCode, answer: { isActive: true, ppSynced: true } },
  'POST /templates/deactivate/{code}': { with: newCode, answer: { isActive: false, ppSynced: true } },
  'POST /templates/sync/{code}': { with: newCode, answer: { synced: true, ...inCatalog } },
  'GET /templates/execution/{taskId}/progress': {
    with: submitted,
    answer: expect.objectContaining({ taskId: text, executionId: text, status: text }),
  },
  'GET /templates/executions/user/{userId}': {
    with: async (world) => {
      await world.once('POST /templates/execute/{code}');
      return {};
    },
    answer: { executions: expect.any(Array), total: expect.toSatisfy((total) => total > 0) },
  },
  'POST /templates/bulk': { answer: { successful: ['poster'], failed: [], total: 1 } },
  'GET /templates/sync-all-pp': {
    // Others delete templates meanwhile.
    answer: { successful: expect.any(Number), failed: expect.any(Number), total: expect.any(Number) },
  },
  'GET /templates/sync-status': { answer: expect.objectContaining({ totalTemplates: expect.any(Number) }) },
  'GET /templates/verify-sync/{code}': {
    with: poster,
    answer: expect.objectContaining({ templateCode: 'poster', issues: expect.any(Array) }),
  },
  'GET /templates/diagnose-pp': {
    answer: {
      environment: text,
      apiKeyValid: true,
      issues: [],
      accountInfo: { chargesEnabled: true, country: text },
      recommendations: expect.any(Array),
    },
  },
  'GET /templates/health': {
    answer: { totalTemplates: expect.any(Number), timestamp: text, service: 'templates' },
  },
  'GET /templates/init': {
    answer: {
      total: expect.any(Number),
      imported: expect.any(Number),
      failed: 0,
      details: expect.any(Array),
    },
  },
  'POST /templates/test/create': { answer: { code: expect.stringMatching(/^test-/), ...inCatalog } },
};

/** By method and path; `answer` is the data. */
export const validWorkflow: Readonly<Record<string, ValidRequest>> = {
  ...signIn,
  ...payments,
  ...tasks,
  ...templates,
};
