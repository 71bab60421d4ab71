import { createHash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { expect, test } from 'vitest';

import { traceIdOf } from '../request/request-context.ts';
import { createCallerFinder } from './caller.ts';
import { createCredentialResolver } from './credentials.ts';

const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex');

function requestFrom(address: string, headers: Record<string, string> = {}): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: address });
  return Object.assign(new IncomingMessage(socket), { headers });
}

const addressSeen = async (
  trustProxy: string[],
  address: string,
  forwarded?: string,
): Promise<string | null> => {
  const finder = createCallerFinder({ trustProxy, resolveCredential: async () => null });
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return (await finder.find(requestFrom(address, headers))).address;
};

test('resolves a service key by its secret', async () => {
  const resolve = createCredentialResolver({
    serviceKeys: [
      { name: 'shop', sha256: sha256('first') },
      { name: 'studio', sha256: sha256('second') },
    ],
  });
  expect(await resolve('Bearer second')).toEqual({ kind: 'key', id: 'key_studio', scopes: ['admin'] });
  expect(await resolve('bearer  first')).toMatchObject({ id: 'key_shop' });
  expect(await resolve('Bearer third')).toBeNull();
  expect(await resolve('Bearer a.b.c')).toBeNull();
  expect(await resolve('Basic first')).toBeNull();
  expect(await resolve('Bearer kiln_other')).toBe('invalid');
});

test('believes X-Forwarded-For of trusted proxies only, and only as far as each hop is one', async () => {
  expect(await addressSeen([], '203.0.113.9', '1.2.3.4')).toBe('203.0.113.9');
  expect(await addressSeen(['10.0.0.0/8'], '10.1.1.1', '1.2.3.4')).toBe('1.2.3.4');
  expect(await addressSeen(['10.0.0.0/8'], '10.1.1.1', '6.6.6.6, 1.2.3.4, 10.2.2.2')).toBe('1.2.3.4');
  expect(await addressSeen(['10.0.0.0/8'], '::ffff:10.1.1.1', '1.2.3.4')).toBe('1.2.3.4');
  expect(await addressSeen(['10.0.0.0/8'], '10.1.1.1', 'not an address')).toBe('10.1.1.1');
  expect(await addressSeen(['10.0.0.0/8'], '10.1.1.1')).toBe('10.1.1.1');
  expect(await addressSeen(['::1'], '::1', '2001:db8::7')).toBe('2001:db8::7');
  // Some proxies write the port as well; numbers that only some readers take for an address are none.
  expect(await addressSeen(['10.0.0.0/8'], '10.1.1.1', '1.2.3.4:5678')).toBe('1.2.3.4');
  expect(await addressSeen(['10.0.0.0/8'], '10.1.1.1', '[2001:db8::7]:443')).toBe('2001:db8::7');
  for (const nearly of [
    '127.1',
    '0x7f000001',
    '010.0.0.1',
    '2130706433',
    '1.2.3.4:',
    '[1.2.3.4',
    '::g',
    '',
  ]) {
    expect(await addressSeen(['10.0.0.0/8'], '10.1.1.1', nearly)).toBe('10.1.1.1');
  }
});

test('takes the trace id of a valid traceparent and makes one otherwise', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  expect(traceIdOf(requestFrom('::1', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }))).toBe(traceId);
  for (const traceparent of ['', 'garbage', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`]) {
    const request = requestFrom('::1', { traceparent });
    const made = traceIdOf(request);
    expect(made).toMatch(/^[0-9a-f]{32}$/);
    expect(made).not.toMatch(/^0+$/);
    expect(traceIdOf(request)).toBe(made);
  }
});

test('refuses a bearer that can not be read where it is strict, and takes nobody else for it elsewhere', async () => {
  const finder = createCallerFinder({ trustProxy: [], resolveCredential: async () => null });
  for (const authorization of ['Bearer', 'Bearer two words']) {
    const request = requestFrom('::1', { authorization });
    expect(await finder.find(request)).toMatchObject({ kind: 'anonymous' });
    await expect(finder.find(request, { strict: true })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining('malformed'),
    });
  }
  // Not meant as one.
  expect(await finder.find(requestFrom('::1', { authorization: 'Basic x' }), { strict: true })).toMatchObject(
    {
      kind: 'anonymous',
    },
  );
});

test('over a foreign graph hands bearers on that are not ours, and knows our own keys', async () => {
  const own = { kind: 'key', id: 'key_shop', scopes: ['admin'] } as const;
  const finder = createCallerFinder({
    trustProxy: [],
    isForeign: true,
    resolveCredential: async (authorization) => (authorization === 'Bearer ours' ? own : null),
  });
  const find = (authorization: string) =>
    finder.find(requestFrom('::1', { authorization }), { strict: true });
  expect(await find('Bearer theirs')).toMatchObject({ kind: 'anonymous', bearer: 'theirs' });
  expect(await find('Bearer ours')).toMatchObject(own);
  expect(await find('Bearer ours')).not.toHaveProperty('bearer');
});
