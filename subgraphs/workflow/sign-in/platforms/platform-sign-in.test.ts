import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../../../platform/access/caller.ts';
import { createPlatformSignIn, type PlatformSignInOptions } from './platform-sign-in.ts';

const asked: unknown[] = [];
const platforms = new Map([
  [
    'wechat',
    {
      appIds: ['wx1', 'wx2'],
      exchange: (request: unknown) => {
        asked.push(request);
        return Promise.reject(new Error('asked'));
      },
    },
  ],
]);
const sessions = { open: () => Promise.reject(new Error('opened')) };
const options = { provider: null, platforms, sessions };
const signIn = createPlatformSignIn(options as unknown as PlatformSignInOptions);

it.each([
  ['platform', { platform: 'douyin', code: 'c' }],
  ['appId', { platform: 'wechat', code: 'c' }],
  ['appId', { platform: 'wechat', appId: 'wx3', code: 'c' }],
  ['code', { platform: 'wechat', appId: 'wx1' }],
  ['code', { platform: 'wechat', appId: 'wx1', code: '', anonymousCode: '' }],
  ['code', { platform: 'wechat', appId: 'wx1', code: 'c'.repeat(501), anonymousCode: 'c'.repeat(500) }],
])('asks no platform when %s does not fit: %o', async (field, request) => {
  const caller = anonymousCaller('0'.repeat(32), '127.0.0.1');
  await expect(signIn.signIn(caller, request)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
  expect(asked).toEqual([]);
});

it('says which platforms there are', async () => {
  const caller = anonymousCaller('0'.repeat(32), '127.0.0.1');
  await expect(signIn.signIn(caller, { platform: 'douyin', code: 'c' })).rejects.toThrow(
    /set up here: idp, wechat$/,
  );
});

it('asks the platform with either code', async () => {
  const caller = anonymousCaller('0'.repeat(32), '127.0.0.1');
  for (const codes of [
    { code: 'c', anonymousCode: null },
    { code: null, anonymousCode: 'c'.repeat(1_000) },
  ]) {
    await expect(signIn.signIn(caller, { platform: 'wechat', appId: 'wx1', ...codes })).rejects.toThrow(
      'asked',
    );
    expect(asked.at(-1)).toEqual({ appId: 'wx1', ...codes });
  }
});

describe('the identity provider', () => {
  const caller = anonymousCaller('0'.repeat(32), '127.0.0.1');
  const told: unknown[] = [];
  const tell = (answer: unknown) => (told.push(answer), Promise.reject(new Error('told')));
  const provider = {
    readIdentity: (...given: unknown[]) => tell(given),
    exchange: (given: unknown) => tell(given),
  };
  const codes = { redeem: (...given: unknown[]) => tell(given) };
  const all = createPlatformSignIn({ ...options, provider, codes } as unknown as PlatformSignInOptions);

  it.each([
    ['loginCode', {}],
    ['loginCode', { loginCode: 'l', idToken: 'i' }],
    ['loginCode', { code: 'c', idToken: 'i' }],
    ['codeVerifier', { code: 'c' }],
    ['codeVerifier', { code: 'c', codeVerifier: '', redirectUri: 'app:/' }],
    ['redirectUri', { code: 'c', codeVerifier: 'v' }],
  ])('is not asked when %s does not fit: %o', async (field, request) => {
    const refused = all.signIn(caller, { platform: 'idp', ...request });
    await expect(refused).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
    expect(told).toEqual([]);
  });

  it.each([
    [{ loginCode: 'l', codeVerifier: 'v' }, ['l', 'v']],
    [{ loginCode: 'l' }, ['l', null]],
    [{ idToken: 'i', nonce: 'n' }, ['i', 'n']],
    [{ idToken: 'i' }, ['i', null]],
    [
      { code: 'c', codeVerifier: 'v', redirectUri: 'app:/', nonce: 'n' },
      { code: 'c', verifier: 'v', redirectUri: 'app:/', nonce: 'n' },
    ],
  ])('is asked with %o', async (request, given) => {
    await expect(all.signIn(caller, { platform: 'idp', ...request })).rejects.toThrow('told');
    expect(told.splice(0)).toEqual([given]);
  });

  it('that is not there is said so', async () => {
    const request = { platform: 'idp', idToken: 'i' };
    await expect(signIn.signIn(caller, request)).rejects.toMatchObject({ field: 'platform' });
  });
});
