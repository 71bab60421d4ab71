import { describe, expect, it } from 'vitest';

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
