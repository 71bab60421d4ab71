import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';

import type { Caller } from '../../access/caller.ts';
import { createCallerSigner, createCallerVerifier, operationHash, requireBody } from './caller-assertion.ts';

const key = 'the-internal-key-of-the-tests-0123456789';
const caller: Caller = {
  kind: 'user',
  id: 'usr_1',
  scopes: ['admin'],
  traceId: 'a'.repeat(32),
  address: '10.0.0.1',
};

describe('a caller assertion', () => {
  const target = { method: 'POST', path: '/graphql' };
  const body = operationHash({ query: '{ caller }' });
  const signer = createCallerSigner({ key, audience: 'media' });
  const verifier = createCallerVerifier({ key, audience: 'media' });
  const sign = (whom: Caller) => signer(whom, { ...target, body });
  const verify = async (assertion: string) => (await verifier(assertion, target)).caller;

  it('gives the same caller back, each time', async () => {
    const assertion = await sign(caller);
    expect(await verify(assertion)).toEqual(caller);
    expect(await verify(assertion)).toEqual(caller);
    const signedIn = { ...caller, sessionId: 'ses_1', expiresAt: new Date('2030-01-02T03:04:05.678Z') };
    expect(await verify(await sign(signedIn))).toEqual(signedIn);
    const robot: Caller = { ...caller, kind: 'key', id: 'key_1', scopes: ['start'], generators: ['imga'] };
    expect(await verify(await sign(robot))).toEqual(robot);
    const nobody: Caller = { kind: 'anonymous', id: 'anon', scopes: [], traceId: 'b', address: null };
    expect(await verify(await sign(nobody))).toEqual(nobody);
  });

  it('is worth nothing for another method, path or body', async () => {
    const assertion = await sign(caller);
    const unauthenticated = expect.objectContaining({ code: 'UNAUTHENTICATED' });
    await expect(verifier(assertion, { ...target, method: 'SUBSCRIBE' })).rejects.toEqual(unauthenticated);
    await expect(verifier(assertion, { ...target, path: '/files/x' })).rejects.toEqual(unauthenticated);
    await expect(verifier(undefined, target)).rejects.toEqual(unauthenticated);
    const asserted = await verifier(assertion, target);
    requireBody(asserted, operationHash({ query: '{ caller }', operationName: null, variables: {} }));
    for (const other of [null, operationHash({ query: '{ caller }', variables: { id: 'other' } })]) {
      expect(() => requireBody(asserted, other)).toThrow(unauthenticated);
    }
  });

  it('is worth nothing at another subgraph, with another key, or changed', async () => {
    const assertion = await sign(caller);
    const elsewhere = createCallerVerifier({ key, audience: 'workflow' });
    const otherKey = createCallerVerifier({ key: `${key}!`, audience: 'media' });
    const [header, payload, signature] = assertion.split('.');
    const admin = Buffer.from(JSON.stringify({ sub: 'admin' })).toString('base64url');
    const unauthenticated = { code: 'UNAUTHENTICATED' };
    await expect(elsewhere(assertion, target)).rejects.toMatchObject(unauthenticated);
    await expect(otherKey(assertion, target)).rejects.toMatchObject(unauthenticated);
    await expect(verify(`${header}.${admin}.${signature}`)).rejects.toMatchObject(unauthenticated);
    await expect(verify(`${header}.${payload}.`)).rejects.toMatchObject(unauthenticated);
    await expect(verify('nonsense')).rejects.toMatchObject(unauthenticated);
  });

  it('is refused without a signature, when old, and when made for longer than a minute', async () => {
    const claims = { kind: 'user', scopes: [], trace: 't', address: null, ...target, body };
    const now = Math.floor(Date.now() / 1_000);
    const unsecured = new UnsecuredJWT(claims)
      .setSubject('usr_1')
      .setIssuer('kiln')
      .setAudience('media')
      .setIssuedAt()
      .setExpirationTime('60s')
      .encode();
    const made = (issuedAt: number, expiresAt: number) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject('usr_1')
        .setIssuer('kiln')
        .setAudience('media')
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(Buffer.from(key));
    const unauthenticated = { code: 'UNAUTHENTICATED' };
    await expect(verify(unsecured)).rejects.toMatchObject(unauthenticated);
    await expect(verify(await made(now - 120, now - 60))).rejects.toMatchObject(unauthenticated);
    await expect(verify(await made(now - 120, now + 3_600))).rejects.toMatchObject(unauthenticated);
    expect(await verify(await made(now, now + 60))).toMatchObject({ id: 'usr_1' });
  });

  it('needs a key of 32 characters', () => {
    expect(() => createCallerSigner({ key: 'short', audience: 'media' })).toThrow('32 characters');
  });
});
