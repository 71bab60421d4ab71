import type { LookupFunction } from 'node:net';

import { describe, expect, test } from 'vitest';

import { HttpFailure } from './http-client.ts';
import { createOutboundRule, isPublicAddress, publicLookup } from './safe-url.ts';

describe('public addresses', () => {
  test.each(['93.184.216.34', '8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '168.63.129.16',
    '100.64.0.1',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fe80::1',
    'fd00:ec2::254',
    'ff02::1',
    '2001:db8::1',
    'localhost',
  ])('%s is none', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('the outbound rule', () => {
  const rule = createOutboundRule({
    allow: ['localhost:9000'],
    trustedOrigins: ['https://s3.internal/bucket'],
  });

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]:80/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://user:pass@example.org/',
    'ftp://example.org/x',
    'file:///etc/passwd',
    'data:text/plain,x',
    'not a url',
  ])('refuses %s', (url) => {
    expect(() => rule.admit(url)).toThrow(HttpFailure);
    expect(() => rule.admit(url)).toThrow(expect.objectContaining({ code: 'REFUSED_ADDRESS', sent: false }));
  });

  test('guards what only claims to be public', () => {
    expect(rule.admit('https://example.org/x').guarded).toBe(true);
    expect(rule.admit('https://93.184.216.34/').guarded).toBe(true);
  });

  test('trusts configured origins exactly: scheme, host and port', () => {
    const trusted = ['http://127.0.0.1:4010/prefix'];
    expect(rule.admit('http://127.0.0.1:4010/x', trusted).guarded).toBe(false);
    expect(rule.admit('https://s3.internal/other').guarded).toBe(false);
    expect(rule.admit('http://LOCALHOST:9000/').guarded).toBe(false);
    expect(() => rule.admit('http://127.0.0.1:4011/x', trusted)).toThrow(HttpFailure);
    expect(() => rule.admit('https://127.0.0.1:4010/x', trusted)).toThrow(HttpFailure);
    expect(rule.admit('http://localhost:9001/').guarded).toBe(true);
  });
});

describe('guarded name resolution', () => {
  function createResolver(...addresses: string[]): LookupFunction {
    return (_hostname, _options, callback) => {
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };
  }

  function resolve(lookup: LookupFunction, all: boolean): Promise<unknown> {
    return new Promise((done, fail) => {
      lookup('host.example', { all }, (error, found) => (error === null ? done(found) : fail(error)));
    });
  }

  test('hands out public addresses only', async () => {
    const lookup = publicLookup(createResolver('10.0.0.1', '8.8.8.8', '::1'));
    expect(await resolve(lookup, true)).toEqual([{ address: '8.8.8.8', family: 4 }]);
    expect(await resolve(lookup, false)).toBe('8.8.8.8');
  });

  test('fails when there is none', async () => {
    await expect(resolve(publicLookup(createResolver('127.0.0.1')), true)).rejects.toThrow('public address');
  });
});
