import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphql, rest } from '../kit/requests.ts';
import { signInBuyer } from './purchase.ts';

/** What SANDBOX_URL alone gives to a Kiln whose sandbox is not its own. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln?.close());

describe('a sandbox at SANDBOX_URL', () => {
  it('pays a checkout whose buyer comes back, as if the button had been pressed, and once', async () => {
    const ada = await signInBuyer(kiln.url);
    const opened = await ada.checkout('poster');
    expect(await ada.comeBack(opened)).toBe('COMPLETED');
    expect(await ada.comeBack(opened)).toBe('COMPLETED');
    await ada.delivered(opened.payment.id);
    expect((await fetch(opened.url)).status).toBe(410);
  });

  it('is told to a buyer as away when it is, and nothing was sold', async () => {
    const alone = await startKiln({ settings: { SANDBOX_URL: 'http://127.0.0.1:1' } });
    try {
      const { errors } = await graphql(
        alone.url,
        'mutation { checkout(templateCode: "poster", userId: "u", parameters: { prompt: "x" }) { url } }',
      );
      expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['UNAVAILABLE']);
      const body = { app_id: '2021000000000001', code: 'ada-1' };
      expect(await rest(alone.url, 'POST', '/auth/alipay/token', body)).toMatchObject({ status: 503 });
    } finally {
      await alone.close();
    }
  });

  it.each([
    ['wechat', 'wx00000000sandbox1'],
    ['douyin', 'tt00000000sandbox1'],
    ['alipay', '2021000000000001'],
  ])('signs in the mini-programs of %s', async (platform, appId) => {
    const answer = await rest(kiln.url, 'POST', `/auth/${platform}/token`, { app_id: appId, code: 'ada-1' });
    expect(answer).toMatchObject({ status: 200, body: { data: { access_token: expect.any(String) } } });
  });
});
