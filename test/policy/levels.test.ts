import { describe, expect, it } from 'vitest';

import type { Rule } from '../../platform/access/policy.ts';
import { PAID_SUBSCRIPTIONS, SIGN_INS, WRITES } from '../../platform/access/root-field-rates.ts';
import { sections } from '../../rest-compat/tables.ts';
import { collectPolicy } from '../../schema/policy.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';

/** Which rule each kind of operation has: the matrix holds what rules do, this holds whose they are. */

const { routes, fields } = collectPolicy(
  [
    { name: 'media', schema: mediaSchema },
    { name: 'workflow', schema: workflowSchema },
  ],
  sections,
);

/** The workflow service's operations: all of them, so that a new one is placed here by hand. */
const WORKFLOW: Partial<Record<Rule, readonly string[]>> = {
  public: [
    'GET /auth/idp/authorize',
    'GET /.well-known/jwks.json',
    'GET /payment/health',
    'GET /templates',
    'GET /templates/get/{code}',
    'GET /templates/health',
  ],
  proof: [
    'GET /auth/idp/callback',
    'POST /auth/idp/refresh',
    'GET /auth/idp/userinfo',
    'POST /auth/idp/revoke',
    'POST /auth/idp/token',
    'POST /auth/{platform}/token',
    'POST /auth/browser/token',
    'POST /auth/browser/refresh',
    'POST /auth/browser/revoke',
    'GET /auth/idp/logout',
    'POST /payment/webhook',
    'GET /payment/success',
    'GET /payment/cancel',
  ],
  anyone: ['GET /payment/{paymentId}', 'GET /task/{taskId}', 'GET /templates/execution/{taskId}/progress'],
  owner: [
    'POST /payment/checkout/{templateCode}',
    'GET /payment/history',
    'GET /templates/executions/user/{userId}',
    'GET /usage.csv',
  ],
  unpaid: ['POST /task', 'POST /task/{taskId}', 'POST /templates/execute/{code}'],
  operator: ['GET /payment/sales'],
  admin: [
    'POST /payment/refund/{paymentId}',
    'POST /templates',
    'PUT /templates/update/{code}',
    'DELETE /templates/delete/{code}',
    'POST /templates/activate/{code}',
    'POST /templates/deactivate/{code}',
    'POST /templates/sync/{code}',
    'POST /templates/bulk',
    'GET /templates/sync-all-pp',
    'GET /templates/sync-status',
    'GET /templates/verify-sync/{code}',
    'GET /templates/diagnose-pp',
    'GET /templates/init',
    'POST /templates/test/create',
  ],
};

describe('the workflow service', () => {
  it('has the levels of its documents', () => {
    const own = routes.filter(({ service }) => service === 'workflow');
    const placed = Object.entries(WORKFLOW).flatMap(([rule, names]) => names.map((name) => [name, rule]));
    const actual = own.map(({ route, rule }) => [`${route.method} ${route.path}`, rule]);
    expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(placed));
    expect(actual.length).toBe(placed.length);
  });

  it('changes nothing over a GET that may be kept', () => {
    const changing = routes.filter(
      ({ service, route, asks }) =>
        service === 'workflow' &&
        route.method === 'GET' &&
        fields.some(({ kind, name }) => kind === 'mutation' && asks.includes(name)),
    );
    const kept = changing.filter(({ route }) => {
      const policy = route.headers?.['Cache-Control'] ?? 'no-store';
      return policy !== 'no-store';
    });
    expect(changing.length).toBeGreaterThan(3);
    expect(kept).toEqual([]);
  });
});

describe('the media service', () => {
  const own = routes.filter(({ service }) => service === 'media');
  const findRule = (name: string) => fields.find((field) => field.name === name)?.rule;

  it('asks for an administrator where the catalog changes, and nowhere else', () => {
    expect(own.filter(({ rule }) => rule === 'admin').map(({ route }) => route.path)).toEqual([
      '/api/template/create',
      '/api/template/update',
      '/api/template/delete/{template_id}',
    ]);
  });

  it('asks for a caller in required mode wherever something starts, is stored or is looked up by its id', () => {
    const free = own.filter(({ rule }) => rule === 'public').map(({ route }) => route);
    expect(free.every(({ method }) => method === 'GET')).toBe(true);
    expect(free.filter(({ path }) => /status|task_id|upload|submit|generate/.test(path))).toEqual([]);
    const starts = fields.filter(
      ({ subgraph, kind, name }) =>
        subgraph === 'media' &&
        kind === 'mutation' &&
        /^(?:generate|create(?!Board|VideoTemplate|Budget|WebhookEndpoint)|describe)/.test(name),
    );
    expect(starts.length).toBeGreaterThan(5);
    expect(starts.filter(({ rule }) => rule !== 'spend')).toEqual([]);
    expect([findRule('chat'), findRule('chatStream'), findRule('startTask')]).toEqual([
      'spend',
      'spend',
      'service',
    ]);
  });

  it('has its subscriptions that start paid work counted as starts', () => {
    const paid = fields.filter(({ kind, rule }) => kind === 'subscription' && rule === 'spend');
    expect(paid.map(({ name }) => name)).toEqual(PAID_SUBSCRIPTIONS);
  });

  it('has its mutations that start or sell nothing counted as writes or sign-ins', () => {
    const starts: readonly Rule[] = ['spend', 'unpaid', 'service'];
    const writes = fields.filter(
      ({ kind, name, rule }) => kind === 'mutation' && !starts.includes(rule) && name !== 'checkout',
    );
    expect(writes.map(({ name }) => name).toSorted()).toEqual([...WRITES, ...SIGN_INS].toSorted());
  });
});
