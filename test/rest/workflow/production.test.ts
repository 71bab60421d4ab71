import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readConfig } from '../../../platform/config/config.ts';
import { rest } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { refusal, told } from './envelopes.ts';

/** The workflow service over REST in production: no sandbox, and here nobody who takes money. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ settings: { KILN_ENV: 'production', REST_AUTH: 'open', SANDBOX_URL: '' } });
});
afterAll(() => kiln?.close());

const get = (path: string) => rest(kiln.url, 'GET', path);
const post = (path: string, body: object = {}) => rest(kiln.url, 'POST', path, body);

describe('without a payment provider', () => {
  it('writes templates all the same', async () => {
    const none = { ppProductId: null, ppPriceId: null };
    expect(await post('/templates', { code: 'mine', name: 'Mine' })).toEqual(told({ code: 'mine', ...none }));
    const update = await rest(kiln.url, 'PUT', '/templates/update/mine', { name: 'Other' });
    expect(update).toEqual(told({ updated: true, ppSynced: false }));
    expect(await post('/templates/deactivate/mine')).toEqual(told({ isActive: false, ppSynced: false }));
    expect(await post('/templates/sync/mine')).toEqual(told({ synced: false, ...none }));
    const { body } = await get('/templates/sync-status');
    expect(body.data).toMatchObject({ totalTemplates: 4, withPpProduct: 0, needsSync: 4 });
    expect((await get('/templates/sync-all-pp')).body.data).toEqual({ successful: 0, failed: 4, total: 4 });
    const { data } = (await get('/templates/verify-sync/mine')).body;
    expect(data).toMatchObject({ templateCode: 'mine', synced: false, ...none });
    const unrunnable = expect.stringContaining("can't be run now");
    expect(data.issues).toEqual([expect.stringContaining('payment provider'), unrunnable]);
    expect((await rest(kiln.url, 'DELETE', '/templates/delete/mine')).status).toBe(200);
  });

  it('says what is missing', async () => {
    expect(await get('/templates/diagnose-pp')).toEqual(
      told({
        environment: 'none',
        apiKeyValid: false,
        issues: [
          expect.stringContaining('payment provider'),
          ...['clip', 'poster', 'sketch'].map((code) =>
            expect.stringMatching(`^${code}: it can't be run now`),
          ),
        ],
        accountInfo: { chargesEnabled: null, country: null },
        recommendations: [expect.stringContaining('STRIPE_SECRET_KEY')],
      }),
    );
    const refused = [
      await post('/payment/checkout/poster', { userId: 'u' }),
      await get('/payment/success?payment_id=x&session_id=y'),
      await get('/payment/cancel?payment_id=x'),
      await post('/payment/refund/x'),
      await post('/payment/webhook'),
    ];
    for (const answer of refused) {
      expect(answer).toEqual(refusal(503));
      expect(answer.body.message).toBe('payments are not available here');
    }
    expect((await get('/payment/history?userId=u')).body.data).toEqual({ payments: [], total: 0 });
  });
});

describe('with a payment provider that does not answer', () => {
  it('writes templates all the same, and asks to come again', async () => {
    const alone = await startKiln({ settings: { SANDBOX_URL: 'http://127.0.0.1:1' } });
    try {
      const none = { ppProductId: null, ppPriceId: null };
      const made = await rest(alone.url, 'POST', '/templates', { code: 'mine', name: 'Mine' });
      expect(made).toEqual(told({ code: 'mine', ...none }));
      const refused = await rest(alone.url, 'POST', '/payment/checkout/mine', { userId: 'u' });
      expect(refused).toEqual(refusal(400, ['metadata.prompt']));
      const answer = await rest(alone.url, 'POST', '/payment/checkout/poster', { userId: 'u' });
      expect(answer).toEqual(refusal(503));
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      const synced = await rest(alone.url, 'POST', '/templates/sync/mine');
      expect(synced).toEqual(told({ synced: false, ...none }));
    } finally {
      await alone.close();
    }
  });
});

it('makes no test templates', async () => {
  expect(await post('/templates/test/create')).toEqual(refusal(403));
});

describe('SANDBOX_AUTO_PAY', () => {
  const stripe = { STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_WEBHOOK_SECRETS: 'whsec_x', REST_AUTH: 'open' };

  it.each([
    ['in production', { KILN_ENV: 'production', REST_AUTH: 'required' }],
    ['with a key of the provider', stripe],
  ])('can’t be switched on %s, and is off there by itself', (_, settings) => {
    const { payments } = readConfig(settings);
    expect(payments.autoPay).toBe(false);
    expect(() => readConfig({ ...settings, SANDBOX_AUTO_PAY: 'true' })).toThrow('SANDBOX_AUTO_PAY');
  });

  it('is on where everything is embedded', () => {
    expect(readConfig({}).payments.autoPay).toBe(true);
  });
});
