import { createHash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';

import type { HttpClient } from '../../platform/http/http-client.ts';
import { readTraceId } from '../request/request-context.ts';
import { createCallerFinder } from './caller.ts';
import { createCredentialResolver } from './credentials.ts';
import { createTokenVerifier } from './jwt.ts';

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
  expect(readTraceId(requestFrom('::1', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }))).toBe(traceId);
  for (const traceparent of ['', 'garbage', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`]) {
    const request = requestFrom('::1', { traceparent });
    const made = readTraceId(request);
    expect(made).toMatch(/^[0-9a-f]{32}$/);
    expect(made).not.toMatch(/^0+$/);
    expect(readTraceId(request)).toBe(made);
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

test('refuses an unknown bearer where it is strict, one of ours that is not valid everywhere, and asks about no other', async () => {
  const asked: string[] = [];
  const finder = createCallerFinder({
    trustProxy: [],
    async resolveCredential(authorization) {
      asked.push(authorization);
      if (authorization === 'Bearer ended') return 'invalid';
      return authorization === 'Bearer known' ? { kind: 'user', id: 'usr_1', scopes: [] } : null;
    },
  });
  const find = (authorization: string | undefined, strict: boolean) =>
    finder.find(requestFrom('192.0.2.1', authorization === undefined ? {} : { authorization }), { strict });
  const refusal = { code: 'UNAUTHENTICATED', message: 'the credential is expired or not valid' };
  for (const strict of [true, false]) {
    await expect(find('Bearer ended', strict)).rejects.toMatchObject(refusal);
    expect(await find('Bearer known', strict)).toMatchObject({ id: 'usr_1', address: '192.0.2.1' });
    expect(await find(undefined, strict)).toMatchObject({ kind: 'anonymous', address: '192.0.2.1' });
    expect(await find('', strict)).toMatchObject({ kind: 'anonymous' });
  }
  await expect(find('Bearer unknown', true)).rejects.toMatchObject(refusal);
  expect(await find('Bearer unknown', false)).toMatchObject({ kind: 'anonymous' });
  expect(new Set(asked)).toEqual(new Set(['Bearer ended', 'Bearer known', 'Bearer unknown']));
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

test('tokens of other issuers name who they are of by issuer and subject, for their audience and time', async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' };
  let isAway = false;
  const asked: string[] = [];
  const request = (async ({ url }: { readonly url: string }) => {
    asked.push(url);
    return { status: isAway ? 500 : 200, headers: {}, body: Buffer.from(JSON.stringify({ keys: [jwk] })) };
  }) as HttpClient['request'];
  const http = { request } as HttpClient;
  const issuers = ['https://a.example', 'https://b.example'].map((issuer) => ({
    issuer,
    jwks: `${issuer}/jwks`,
    audiences: ['kiln'],
  }));
  const verify = createTokenVerifier(issuers, http);
  const token = (claims: object, end: string | number = '1h') =>
    new SignJWT({ iss: 'https://a.example', aud: 'kiln', sub: 'ada', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setExpirationTime(end)
      .sign(privateKey);
  const valid = await token({ role: 'x' });
  const owner = await verify(valid);
  expect(owner).toMatchObject({ id: expect.stringMatching(/^jwt_[0-9a-f]{32}$/), claims: { role: 'x' } });
  expect(owner.expiresAt.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
  expect((await verify(await token({}))).id).toBe(owner.id);
  expect((await verify(await token({ iss: 'https://b.example' }))).id).not.toBe(owner.id);
  expect((await verify(await token({ sub: 'ben' }))).id).not.toBe(owner.id);
  const now = Math.floor(Date.now() / 1_000);
  expect((await verify(await token({}, now - 20))).id).toBe(owner.id);
  const refused = { code: 'UNAUTHENTICATED' };
  for (const wrong of [
    await token({ iss: 'https://c.example' }),
    await token({ aud: 'other' }),
    await token({ sub: undefined }),
    await token({}, now - 60),
    await token({ much: 'x'.repeat(16_000) }),
    'no token',
  ])
    await expect(verify(wrong)).rejects.toMatchObject(refused);
  await expect(verify(await token({}, now - 60))).rejects.toHaveProperty('cause');
  await expect(verify('no token')).rejects.not.toHaveProperty('cause');
  expect(new Set(asked)).toEqual(new Set(['https://a.example/jwks', 'https://b.example/jwks']));
  isAway = true;
  // A token that was verified a moment ago is not looked at again.
  expect(await verify(valid)).toBe(owner);
  const away = createTokenVerifier(issuers, http)(valid);
  await expect(away).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 5 });
});
