import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { hasCredential } from './caller.ts';
import { createCredentialResolver, type Identity } from './credentials.ts';

/** A text in the form of a signed token: a header, a payload and what could be a signature. */
const signed = (header: object, payload: object = {}): string =>
  [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('sig')
    .join('.');

const OWN = signed({ alg: 'EdDSA', typ: 'at+jwt' });
const USER: Identity = { kind: 'user', id: 'usr_1', scopes: [] };

async function resolved(
  secret: string,
  { found = null, ...options }: { found?: Identity | null; isForeign?: boolean; issuers?: string[] } = {},
) {
  const asked: string[] = [];
  const lookup = async (credential: string) => {
    asked.push(credential);
    return found;
  };
  const identity = await createCredentialResolver({ serviceKeys: [], lookup, ...options })(
    `Bearer ${secret}`,
  );
  return { isAsked: asked.includes(secret), identity };
}

describe('a credential', () => {
  it.each([
    ['a key of ours', 'kiln_x', {}, true, 'invalid'],
    ['a token of ours', OWN, {}, true, 'invalid'],
    [
      'a token of our type with a signature of another',
      signed({ alg: 'RS256', typ: 'at+jwt' }),
      {},
      true,
      null,
    ],
    ['a token of another type', signed({ alg: 'EdDSA', typ: 'JWT' }), {}, false, null],
    ['a token with one part more', `${OWN}.more`, {}, false, null],
    ['a token with one part less', OWN.slice(0, OWN.lastIndexOf('.')), {}, false, null],
    ['a token whose header is no object', signed(['at+jwt']), {}, false, null],
    ['a token that is no JSON', 'a.b.c', {}, false, null],
    ['anything else', 'other', {}, false, null],
    ['a token of an issuer', signed({}, { iss: 'old' }), { issuers: ['older', 'old'] }, true, null],
    ['a token of no issuer', signed({ iss: 'old' }, { iss: 'new' }), { issuers: ['old'] }, false, null],
    ['a key of ours, with the subgraphs of others beside it', 'kiln_x', { isForeign: true }, true, null],
  ] as const)('is looked up where it can be ours: %s', async (_, secret, options, isAsked, identity) => {
    const { isForeign = false, issuers = [] } = options as { isForeign?: boolean; issuers?: string[] };
    expect(await resolved(secret, { isForeign, issuers: [...issuers] })).toEqual({ isAsked, identity });
  });

  it('is of whom the lookup finds, and of a service key without one', async () => {
    expect(await resolved(OWN, { found: USER })).toEqual({ isAsked: true, identity: USER });
    expect((await resolved('kiln_x', { found: USER, isForeign: true })).identity).toBe(USER);
    const sha256 = createHash('sha256').update('only').digest('hex');
    const resolve = createCredentialResolver({ serviceKeys: [{ name: 'one', sha256 }] });
    expect(await resolve('Bearer only')).toEqual({ kind: 'key', id: 'key_one', scopes: ['admin'] });
    expect(await resolve('Bearer kiln_x')).toBe('invalid');
  });

  it('is what a caller has who is known, or brings a bearer for the subgraphs of others', () => {
    const caller = { id: 'x', scopes: [], traceId: 't', address: null };
    expect(hasCredential({ ...caller, kind: 'user' })).toBe(true);
    expect(hasCredential({ ...caller, kind: 'anonymous', bearer: 'x' })).toBe(true);
    expect(hasCredential({ ...caller, kind: 'anonymous' })).toBe(false);
  });
});
