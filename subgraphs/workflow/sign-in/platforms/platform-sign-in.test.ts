import { expect, it } from 'vitest';

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
