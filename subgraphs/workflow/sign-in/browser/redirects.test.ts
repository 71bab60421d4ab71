import { afterEach, describe, expect, it, vi } from 'vitest';

import { createEncryption } from '../secrets/encryption.ts';
import { createAttempts } from './attempts.ts';
import { checkedRedirect, type RedirectRule } from './redirects.ts';

const rule: RedirectRule = {
  publicUrl: 'https://kiln.example.org/media',
  allowed: ['https://studio.example.org', 'http://localhost:3000', 'com.example.app:'],
};

const taken: readonly (readonly [string, string])[] = [
  ['/', 'https://kiln.example.org/'],
  ['/app/home?tab=1#top', 'https://kiln.example.org/app/home?tab=1#top'],
  ['https://kiln.example.org/any', 'https://kiln.example.org/any'],
  ['https://studio.example.org', 'https://studio.example.org/'],
  ['https://studio.example.org:443/a', 'https://studio.example.org/a'],
  ['HTTPS://STUDIO.example.org/a', 'https://studio.example.org/a'],
  ['http://localhost:3000/back', 'http://localhost:3000/back'],
  ['com.example.app:/signed-in', 'com.example.app:/signed-in'],
  ['com.example.app://signed-in?x=1', 'com.example.app://signed-in?x=1'],
];

const hostile: readonly string[] = [
  '',
  '//evil.test',
  '///evil.test',
  String.raw`/\evil.test`,
  String.raw`\\evil.test`,
  '/\t/evil.test',
  '/\n/evil.test',
  ' https://studio.example.org',
  'https://studio.example.org\u0000.evil.test',
  'https://studio.example.org\u00A0',
  'https://evil.test',
  'https://studio.example.org.evil.test',
  'https://evil.test/https://studio.example.org',
  'https://evil.test#https://studio.example.org',
  'https://evil.test?https://studio.example.org',
  'https://studio.example.org@evil.test',
  'https://somebody@studio.example.org/',
  'https://a:b@studio.example.org/',
  'https://studio.example.org:8443/',
  'http://studio.example.org/',
  'https://sub.studio.example.org/',
  'https://studio.example.org。evil.test/',
  'https:evil.test',
  'https:/evil.test',
  'http://localhost:3001/',
  'http://127.0.0.1:3000/',
  'javascript:alert(1)',
  'JavaScript:alert(1)//https://studio.example.org',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://studio.example.org/x',
  'filesystem:https://studio.example.org/x',
  'com.example.apps://signed-in',
  'com.example://signed-in',
  'com.example.app',
  'app/home',
  '/.//evil.test',
  '/a/..//evil.test',
  '/%2e//evil.test',
  `/${'a'.repeat(2_000)}`,
];

describe('an address to go to after signing in', () => {
  it.each(taken)('is taken when it is ours or listed: %s', (target, address) => {
    expect(checkedRedirect(target, rule)).toBe(address);
  });

  it.each(hostile.map((target) => [JSON.stringify(target).slice(0, 80), target] as const))(
    'is refused when it is anybody else’s: %s',
    (_, target) => {
      expect(() => checkedRedirect(target, rule)).toThrow(
        expect.objectContaining({ code: 'BAD_USER_INPUT', field: 'redirect_url' }),
      );
    },
  );

  it('is never one of another host, whatever is listed', () => {
    for (const target of hostile) {
      expect(() => checkedRedirect(target, { ...rule, allowed: [] })).toThrow('redirect_url');
    }
  });
});

describe('a sign-in in progress', () => {
  afterEach(() => void vi.useRealTimers());
  const attempt = { state: 's-1', nonce: 'n', verifier: 'v', scope: 'openid', target: null, challenge: null };
  const createTestAttempts = (secret = 'one', isSecure = false) =>
    createAttempts({ encryption: createEncryption(secret, 'sign-in attempts'), isSecure });
  const refused = { code: 'BAD_USER_INPUT', field: 'state' };

  it('is in a cookie of its browser alone, among others, and under a name of its own', async () => {
    const attempts = createTestAttempts();
    const cookie = await attempts.begin(attempt);
    const other = await attempts.begin({ ...attempt, state: 's-2' });
    expect(cookie).toMatchObject({ name: attempts.nameOf('s-1'), maxAgeSeconds: 600 });
    const header = `a=b; ${other.name}=${other.value};  ${cookie.name}=${cookie.value}`;
    expect(await attempts.end('s-1', header)).toEqual(attempt);
    expect(cookie.value).not.toContain('openid');
    await expect(attempts.end('s-3', header)).rejects.toMatchObject(refused);
    await expect(attempts.end('s-1', `${cookie.name}=${other.value}`)).rejects.toMatchObject(refused);
    await expect(createTestAttempts('another').end('s-1', header)).rejects.toMatchObject(refused);
    expect(attempts.nameOf('s-1')).toMatch(/^kiln-sign-in-/);
    expect(createTestAttempts('one', true).nameOf('s-1')).toMatch(/^__Host-kiln-sign-in-/);
  });

  it('may take ten minutes, and as much as a browser keeps', async () => {
    const attempts = createTestAttempts();
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const { name, value } = await attempts.begin(attempt);
    vi.setSystemTime(1_000_000 + 600_000);
    expect(await attempts.end('s-1', `${name}=${value}`)).toEqual(attempt);
    vi.setSystemTime(1_000_000 + 600_001);
    await expect(attempts.end('s-1', `${name}=${value}`)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('took too long'),
    });
    const long = { ...attempt, target: `https://kiln.example.org/${'x'.repeat(3_000)}` };
    await expect(attempts.begin(long)).rejects.toMatchObject({ field: 'redirect_url' });
  });
});
