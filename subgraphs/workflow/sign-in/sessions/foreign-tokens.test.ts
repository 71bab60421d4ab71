import { CompactSign, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';

import { AppError } from '../../../../platform/errors.ts';
import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { createLogger, type Logger, silentLogger } from '../../../../platform/process/logger.ts';
import { createCallerFinder } from './find-caller.ts';
import { createForeignTokens } from './foreign-tokens.ts';
import { createAccessTokens } from './tokens.ts';

const issuer = 'https://old.example.org';
const until = new Date('2030-01-01T00:00:00Z');
const settings = { issuer, audience: 'old-api', jwks: `${issuer}/jwks`, until };

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let jwks: object;
beforeAll(async () => {
  keys = await generateKeyPair('RS256');
  jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256' }] };
});

interface TokensOptions {
  readonly now?: Date;
  readonly isUnavailable?: boolean;
  readonly logger?: Logger;
  readonly until?: Date | null;
  /** Subjects in the order of their sign-ins: each makes an account. */
  readonly linked?: string[];
  /** Ids of accounts that were deleted. */
  readonly deleted?: ReadonlySet<string>;
}

function tokens({
  now = new Date(),
  isUnavailable = false,
  logger = silentLogger(),
  linked = [],
  deleted = new Set(),
  ...change
}: TokensOptions = {}) {
  const request: HttpClient['request'] = async () => {
    const body = Buffer.from(JSON.stringify(jwks));
    return { status: isUnavailable ? 500 : 200, headers: {}, body };
  };
  const users = {
    exists: async (id: string) => !deleted.has(id),
    linkUser: async ({ subject, appId }: { subject: string; appId: string }) => {
      const times = linked.push(subject);
      const nothing = { email: null, name: null, picture: null, lastSignInAt: null, openSessions: 0 };
      const id = `usr_${subject}_${appId}${times === 1 ? '' : `_${times}`}`;
      return { id, subject, createdAt: new Date(0), ...nothing };
    },
  };
  return createForeignTokens({
    settings: { ...settings, ...change },
    providerIssuer: 'idp',
    users,
    http: { request, download: () => Promise.reject(new Error('not used')), close: async () => undefined },
    logger,
    now: () => now,
  });
}

/** A token with another header or body, as its issuer would sign it. */
function compact(
  header: object,
  body = JSON.stringify({ iss: issuer, aud: 'old-api', sub: 'ada', exp: 4e9 }),
) {
  const { crit } = header as { readonly crit?: readonly string[] };
  return new CompactSign(Buffer.from(body))
    .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
    .sign(keys.privateKey, { crit: Object.fromEntries((crit ?? []).map((name) => [name, true])) });
}

function token(claims: object = {}, key = keys.privateKey): Promise<string> {
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  return new SignJWT({ iss: issuer, aud: 'old-api', sub: 'ada', exp, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .sign(key);
}

describe('tokens of a service that was replaced', () => {
  it('name the user whom their subject is here, without any scope', async () => {
    expect(tokens().isTheirs(await token())).toBe(true);
    expect(await tokens().findCaller(await token())).toMatchObject({
      kind: 'user',
      id: 'usr_ada_idp',
      scopes: [],
      sessionId: null,
      expiresAt: expect.any(Date),
    });
  });

  it('remember their user, but for one whose account is gone: it is made anew at once', async () => {
    const linked: string[] = [];
    const deleted = new Set<string>();
    const known = tokens({ linked, deleted });
    const find = async () => known.findCaller(await token());
    expect([await find(), await find()]).toMatchObject([{ id: 'usr_ada_idp' }, { id: 'usr_ada_idp' }]);
    expect(linked).toEqual(['ada']);
    deleted.add('usr_ada_idp');
    expect([await find(), await find()]).toMatchObject([{ id: 'usr_ada_idp_2' }, { id: 'usr_ada_idp_2' }]);
    expect(linked).toEqual(['ada', 'ada']);
  });

  it('are refused when another key signed them, for another audience, or without a subject', async () => {
    const other = await generateKeyPair('RS256');
    expect(await tokens().findCaller(await token({}, other.privateKey))).toBe('invalid');
    expect(await tokens().findCaller(await token({ aud: 'another' }))).toBe('invalid');
    expect(await tokens().findCaller(await token({ sub: undefined }))).toBe('invalid');
    expect(tokens().isTheirs(await token({ iss: 'https://else.example.org' }))).toBe(false);
    expect(tokens().isTheirs('no token')).toBe(false);
  });

  it.each([
    [
      'signed with a secret',
      () =>
        new SignJWT({ iss: issuer, aud: 'old-api', sub: 'ada', exp: 4e9 })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(Buffer.alloc(32, 7)),
    ],
    ['of a key that nobody knows', () => compact({ kid: 'two' })],
    ['with an extension that nobody knows', () => compact({ crit: ['exp2'], exp2: 1 })],
    ['whose claims are no JSON', () => compact({}, 'nothing')],
    ['without an end', () => compact({}, JSON.stringify({ iss: issuer, aud: 'old-api', sub: 'ada' }))],
    ['with an empty subject', () => token({ sub: '' })],
    ['that are cut', async () => (await token()).slice(0, -20)],
    ['that are none', async () => 'a.b.c'],
  ])('are refused %s', async (_, make) => {
    expect(await tokens().findCaller(await make())).toBe('invalid');
  });

  it('are good five seconds longer than they say, for clocks differ', async () => {
    const now = new Date(4e12);
    const seconds = (end: number) => token({ exp: 4e9 + end });
    const ends = await Promise.all([-4, -6].map(seconds));
    const found = await Promise.all(ends.map((one) => tokens({ now, until: null }).findCaller(one)));
    expect(found).toEqual([expect.objectContaining({ id: 'usr_ada_idp' }), 'invalid']);
  });

  it('of an issuer without an end date are theirs only for its audience', async () => {
    const provider = tokens({ until: null });
    const audiences = ['old-api', ['else', 'old-api'], 'else'];
    const made = await Promise.all(audiences.map((aud) => token({ aud })));
    expect(made.map((one) => provider.isTheirs(one))).toEqual([true, true, false]);
    expect(made.map((one) => tokens().isTheirs(one))).toEqual([true, true, true]);
    expect(provider.isTheirs(`${made[0]}.more`)).toBe(false);
  });

  it('are refused when they have expired, and after the end date', async () => {
    const late = new Date(Date.now() + 2 * 3_600_000);
    expect(await tokens({ now: late }).findCaller(await token())).toBe('invalid');
    expect(await tokens({ now: until }).findCaller(await token({ exp: 4_000_000_000 }))).toBe('invalid');
  });

  it('are told of at the start with their end, where they have one', () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    tokens({ logger, until: null });
    expect(lines).toEqual([]);
    tokens({ logger });
    expect(lines).toEqual([expect.stringContaining('old access tokens name their users until this date')]);
  });

  it('are told to have ended once', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
    const ended = tokens({ now: until, logger });
    await ended.findCaller(await token());
    expect(lines).toEqual([expect.stringContaining('LEGACY_JWKS has ended')]);
  });

  it('are told to have ended when that is while Kiln runs', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
    const clock = new Date(until.getTime() - 1);
    const running = tokens({ now: clock, logger });
    expect(lines).toEqual([]);
    clock.setTime(until.getTime());
    for (const _ of [1, 2]) expect(await running.findCaller(await token())).toBe('invalid');
    expect(lines).toEqual([expect.stringContaining('LEGACY_JWKS has ended')]);
  });

  it('are neither valid nor refused while the keys can not be read', async () => {
    const error: unknown = await tokens({ isUnavailable: true })
      .findCaller(await token())
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('tokens of a service whose address, and so issuer, Kiln has taken over', () => {
  it('are told from our own, of which an expired one is refused even while the old keys are away', async () => {
    const own = await generateKeyPair('EdDSA');
    const access = (now: Date) =>
      createAccessTokens({
        keys: {
          current: async () => ({ kid: 'own', key: own.privateKey }),
          publicKey: async (kid) => (kid === 'own' ? own.publicKey : null),
          published: async () => [],
        },
        issuer,
        seconds: 900,
        now: () => now,
      });
    const readCaller = (isUnavailable: boolean) =>
      createCallerFinder({
        tokens: access(new Date()),
        sessions: { isOpen: async () => true },
        users: { isAdmin: async () => false },
        keys: { find: async () => null },
        foreign: [tokens({ isUnavailable })],
      });
    const claims = { userId: 'usr_bob', sessionId: 'ses_1', scope: '', platform: 'idp' } as const;
    const hourAgo = new Date(Date.now() - 3_600_000);
    expect(await readCaller(false)(await token())).toMatchObject({ id: 'usr_ada_idp', sessionId: null });
    expect(await readCaller(true)(await access(new Date()).sign(claims))).toMatchObject({ id: 'usr_bob' });
    expect(await readCaller(true)(await access(hourAgo).sign(claims))).toBe('invalid');
  });
});
