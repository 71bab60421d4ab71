import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { graphql, rest } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { signInBuyer } from './purchase.ts';

/** What SANDBOX_URL alone gives to a Kiln whose sandbox is not its own. */

let folder: string;
let sandbox: Sandbox;
let kiln: KilnUnderTest;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-elsewhere-'));
  sandbox = await createSandbox({ dataDir: folder, instantImages: true, logger: silentLogger() });
  kiln = await startKiln({ settings: { SANDBOX_URL: sandbox.url } });
});
afterAll(async () => {
  await kiln?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a sandbox at SANDBOX_URL', () => {
  it('pays a checkout whose buyer comes back, as if the button had been pressed, and once', async () => {
    const ada = await signInBuyer(kiln.url);
    const opened = await ada.checkout('poster');
    expect(await ada.comeBack(opened)).toBe('COMPLETED');
    expect(await ada.comeBack(opened)).toBe('COMPLETED');
    await ada.delivered(opened.payment.id);
    expect((await fetch(opened.url)).status).toBe(410);
  });

  it.each([
    ['wechat', 'wx00000000sandbox1'],
    ['douyin', 'tt00000000sandbox1'],
    ['alipay', '2021000000000001'],
  ])('signs in the mini-programs of %s', async (platform, appId) => {
    const answer = await rest(kiln.url, 'POST', `/auth/${platform}/token`, { app_id: appId, code: 'ada-1' });
    expect(answer).toMatchObject({ status: 200, body: { data: { access_token: expect.any(String) } } });
  });

  it('is told to a buyer as away when it is, and nothing was sold', async () => {
    await sandbox.close();
    const { errors } = await graphql(
      kiln.url,
      'mutation { checkout(templateCode: "clip", userId: "u", parameters: { prompt: "x" }) { url } }',
    );
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['UNAVAILABLE']);
    const body = { app_id: '2021000000000001', code: 'ada-2' };
    expect(await rest(kiln.url, 'POST', '/auth/alipay/token', body)).toMatchObject({ status: 503 });
  });
});
