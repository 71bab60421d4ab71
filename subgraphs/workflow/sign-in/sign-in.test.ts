import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../../platform/access/caller.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { workflowDatabase } from '../database/database.ts';
import type { SignedIn } from '../domain/sign-in.ts';
import { createEncryption } from './secrets/encryption.ts';
import { createSigningKeys } from './secrets/signing-keys.ts';
import { pruneSignIn, type SignInServices } from './services.ts';
import { createLoginCodes } from './sessions/login-codes.ts';
import { createAccessTokens } from './sessions/tokens.ts';
import { identity, openBench, type SignInBench } from './sign-in.fixture.ts';

let bench: SignInBench;
let here: SignInServices;
let there: SignInServices;
beforeAll(async () => {
  bench = await openBench();
  here = bench.process();
  there = bench.process();
});
afterAll(() => bench?.close());

const createCaller = (id: string): Caller => ({ kind: 'user', id, scopes: [], traceId: 't', address: null });
let count = 0;

async function signedIn(subject = `somebody-${(count += 1)}`): Promise<SignedIn> {
  const { id } = await here.users.linkUser(identity({ subject }));
  return here.sessions.open({ userId: id, platform: 'idp', scope: 'openid email', providerToken: null });
}

const UNAUTHENTICATED = { code: 'UNAUTHENTICATED' };

describe('an access token', () => {
  it('says who its bearer is, in every process', async () => {
    const { userId, accessToken } = await signedIn();
    for (const services of [here, there]) {
      expect(await services.findCaller(accessToken)).toEqual({
        kind: 'user',
        id: userId,
        scopes: [],
        generators: null,
        sessionId: expect.stringMatching(/^ses_/) as string,
        expiresAt: expect.any(Date) as Date,
      });
    }
  });

  it('is signed by a key that is published', async () => {
    const { accessToken } = await signedIn();
    const { kid, alg, typ } = JSON.parse(
      Buffer.from(accessToken.split('.')[0] ?? '', 'base64url').toString('utf8'),
    ) as Record<string, string>;
    expect({ alg, typ }).toEqual({ alg: 'EdDSA', typ: 'at+jwt' });
    const published = await there.publicKeys();
    expect(published.map((key) => key.kid)).toContain(kid);
    expect(published.every((key) => key.d === undefined)).toBe(true);
    for (const key of published) expect(key).toMatchObject({ kty: 'OKP', alg: 'EdDSA', use: 'sig' });
  });

  it('still says it when its session is told of while it is read', async () => {
    const { accessToken, userId } = await signedIn();
    let tell: (id: string) => void = () => undefined;
    const bus: EventBus = {
      ...bench.bus,
      listen(topic, listener) {
        if (topic === 'workflow.sessions') tell = (id) => listener(id, 1);
        return bench.bus.listen(topic, listener);
      },
    };
    const services = bench.process({ bus });
    const { rows } = await bench.database.pool.query<{ id: string }>(
      'select id from workflow.sessions where user_id = $1',
      [userId],
    );
    const sessionId = rows[0]?.id ?? '';
    let isOver = false;
    const tellOn = (): void => {
      tell(sessionId);
      if (!isOver) setImmediate(tellOn);
    };
    tellOn();
    const found = services.findCaller(accessToken).finally(() => (isOver = true));
    expect(await found).toMatchObject({ id: userId, sessionId });
  });

  it('is not valid when forged: without a signature, signed with the public key, changed', async () => {
    const { accessToken, userId } = await signedIn();
    const [head, body, signature] = accessToken.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Record<string, unknown>;
    const [key] = await here.publicKeys();
    const secret = new TextEncoder().encode(JSON.stringify(key));
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'HS256', typ: 'at+jwt', kid: key?.kid })}.${body}`;
    const mac = createHmac('sha256', secret).update(signed).digest('base64url');
    const forged = [
      `${part({ alg: 'none', typ: 'at+jwt' })}.${body}.x`,
      `${signed}.${mac}`,
      `${head}.${part({ ...claims, sub: `${userId}x` })}.${signature}`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(secret),
    ];
    for (const token of forged) expect(await here.findCaller(token)).toBe('invalid');
    // Of another form: somebody else's business.
    expect(await here.findCaller(new UnsecuredJWT(claims).encode())).toBeNull();
  });

  it('of another audience, issuer or time is not valid', async () => {
    const stranger = bench.process({ publicUrl: 'https://elsewhere.example.org' });
    const { id } = await here.users.linkUser(identity());
    const request = { userId: id, platform: 'idp', scope: 'openid', providerToken: null } as const;
    const foreign = await stranger.sessions.open(request);
    expect(await here.findCaller(foreign.accessToken)).toBe('invalid');
    const past = bench.process({ now: () => new Date(Date.now() - 16 * 60_000) });
    expect(await here.findCaller((await past.sessions.open(request)).accessToken)).toBe('invalid');
  });

  it('has the admin scope when its user is on the list of the operator', async () => {
    const admins = [{ issuer: 'https://idp.example.org', subject: 'boss' }];
    const services = bench.process({ admins });
    const { accessToken } = await signedIn('boss');
    expect(await services.findCaller(accessToken)).toMatchObject({ scopes: ['admin'] });
    expect(await here.findCaller(accessToken)).toMatchObject({ scopes: [] });
    const ofAnother = bench.process({ admins: [{ issuer: 'https://other.example.org', subject: 'boss' }] });
    expect(await ofAnother.findCaller(accessToken)).toMatchObject({ scopes: [] });
  });
});

describe('signing keys', () => {
  it('are made once, however many processes start for the first time at once', async () => {
    const bed = await openBench();
    try {
      const kids = await Promise.all(
        Array.from({ length: 6 }, async () => (await bed.process().publicKeys()).map(({ kid }) => kid)),
      );
      expect(new Set(kids.flat()).size).toBe(1);
    } finally {
      await bed.close();
    }
  });

  it('that can not be read are a failure of ours, and make no token invalid', async () => {
    const { accessToken } = await signedIn();
    const { iss } = decodeJwt(accessToken);
    const away = () => Promise.reject(new Error('the keys can not be read'));
    const tokens = createAccessTokens({
      keys: { current: away, publicKey: away, published: away },
      issuer: String(iss),
      seconds: 900,
    });
    await expect(tokens.verify(accessToken)).rejects.toThrow('the keys can not be read');
    await expect(tokens.verify(`${accessToken}x`)).rejects.toThrow('the keys can not be read');
    expect(await tokens.verify('no token')).toBeNull();
  });

  it('are read again once a minute, two seconds after one that is not known, and at once after a failure', async () => {
    const bed = await openBench();
    try {
      const sealing = createEncryption('s', 'signing keys');
      let [reads, clock, isAway] = [0, Date.now(), true];
      const made = (encryption = sealing) =>
        createSigningKeys({
          database: workflowDatabase(bed.database),
          tokenSeconds: 900,
          now: () => new Date(clock),
          encryption: {
            ...encryption,
            async decrypt(sealed) {
              reads += 1;
              if (isAway) throw new Error('away');
              return encryption.decrypt(sealed);
            },
          },
        });
      const keys = made();
      await expect(keys.current()).rejects.toThrow('away');
      isAway = false;
      const { kid } = await keys.current();
      const countReads = async (afterMs: number, name: string) => {
        clock += afterMs;
        expect((await keys.publicKey(name)) === null).toBe(name !== kid);
        return reads;
      };
      expect(await countReads(2_000, kid)).toBe(2);
      expect(await countReads(0, 'unknown')).toBe(2);
      expect(await countReads(1, 'unknown')).toBe(3);
      expect(await countReads(60_000, kid)).toBe(3);
      expect(await countReads(1, kid)).toBe(4);
      const other = made(createEncryption('another', 'signing keys'));
      await expect(other.current()).rejects.toThrow('sealed with another secret');
    } finally {
      await bed.close();
    }
  });

  it('follow each other: the next is published a day ahead, the last until its tokens have ended', async () => {
    const bed = await openBench();
    try {
      const start = Date.now();
      let days = 0;
      const services = bed.process({ now: () => new Date(start + days * 86_400_000) });
      const { id } = await services.users.linkUser(identity());
      const readKid = async () => {
        const { accessToken } = await services.sessions.open({
          userId: id,
          platform: 'idp',
          scope: '',
          providerToken: null,
        });
        const head = Buffer.from(accessToken.split('.')[0] ?? '', 'base64url').toString('utf8');
        return (JSON.parse(head) as { kid: string }).kid;
      };
      const kids = async () => (await services.publicKeys()).map(({ kid }) => kid);
      const first = await readKid();
      expect(await kids()).toEqual([first]);
      // A process whose clock is behind signs with what there is.
      const behind = bed.process({ now: () => new Date(start - 3_600_000) });
      expect((await behind.publicKeys()).map(({ kid }) => kid)).toEqual([first]);
      days = 28.9;
      expect(await kids()).toEqual([first]);
      days = 29.5;
      expect(await readKid()).toBe(first);
      const [, next] = await kids();
      days = 29.9;
      expect(await readKid()).toBe(first);
      days = 30.2;
      expect(await readKid()).toBe(next);
      expect(await kids()).toEqual([first, next]);
      // The last token of the first key ends a quarter of an hour after the key, and the key a day after that.
      days = 31 + 14 / 1_440;
      expect(await kids()).toEqual([first, next]);
      days = 31 + 16 / 1_440;
      expect(await kids()).toEqual([next]);
    } finally {
      await bed.close();
    }
  });
});

describe('refreshing', () => {
  it('gives new tokens of the same session', async () => {
    const first = await signedIn();
    const second = await there.sessions.refresh(first.refreshToken);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect(second).toMatchObject({ userId: first.userId, scope: 'openid email', expiresIn: 900 });
    expect(await here.findCaller(second.accessToken)).toMatchObject({ id: first.userId });
  });

  it('twenty times at once answers twenty times, with one successor', async () => {
    const { refreshToken } = await signedIn();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? here : there).sessions.refresh(refreshToken),
      ),
    );
    expect(new Set(all.map((one) => one.refreshToken)).size).toBe(1);
  });

  it('with a token two generations old closes the session', async () => {
    const first = await signedIn();
    const second = await here.sessions.refresh(first.refreshToken);
    const third = await here.sessions.refresh(second.refreshToken);
    await expect(here.sessions.refresh(first.refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
    await expect(here.sessions.refresh(third.refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
    expect(await here.findCaller(third.accessToken)).toBe('invalid');
  });

  it('with the last token, once the moment for a second tab is over, closes the session', async () => {
    const first = await signedIn();
    const second = await here.sessions.refresh(first.refreshToken);
    await bench.database.pool.query(
      "update workflow.sessions set rotated_at = now() - interval '30.5 seconds'",
    );
    await expect(here.sessions.refresh(first.refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
    expect(await here.findCaller(second.accessToken)).toBe('invalid');
  });

  it.each([
    ['a changed token', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['a later generation', (token: string) => token.replace('.1.', '.2.')],
    ['no token', () => 'ses_x'],
    ['an empty text', () => ''],
  ])('with %s is refused and closes nothing', async (_what, change) => {
    const { refreshToken } = await signedIn();
    await expect(here.sessions.refresh(change(refreshToken))).rejects.toMatchObject(UNAUTHENTICATED);
    expect(await here.sessions.refresh(refreshToken)).toMatchObject({ expiresIn: 900 });
  });

  it('for another user than the token’s is refused', async () => {
    const { refreshToken } = await signedIn();
    await expect(here.sessions.refresh(refreshToken, 'usr_other')).rejects.toMatchObject(UNAUTHENTICATED);
  });
});

describe('closing a session', () => {
  it('holds in every process, within seconds', async () => {
    const { accessToken, refreshToken } = await signedIn();
    expect(await there.findCaller(accessToken)).toMatchObject({ kind: 'user' });
    await here.sessions.revokeToken(refreshToken);
    await expect.poll(() => there.findCaller(accessToken)).toBe('invalid');
    await expect(there.sessions.refresh(refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('holds at once in a process that may have missed it, which listens until it is closed', async () => {
    const gaps = new Set<() => void>();
    let listening = 0;
    const deaf = bench.process({
      bus: {
        ...bench.bus,
        listen() {
          listening += 1;
          return () => void (listening -= 1);
        },
        onGap: (listener) => {
          gaps.add(listener);
          return () => void gaps.delete(listener);
        },
      },
    });
    const { accessToken, refreshToken } = await signedIn();
    expect(await deaf.findCaller(accessToken)).toMatchObject({ kind: 'user' });
    await here.sessions.revokeToken(refreshToken);
    for (const gap of gaps) gap();
    expect(await deaf.findCaller(accessToken)).toBe('invalid');
    expect([listening, gaps.size]).toEqual([1, 1]);
    deaf.close();
    expect([listening, gaps.size]).toEqual([0, 0]);
  });

  it('works with either token, and is content with tokens it does not know', async () => {
    const { accessToken } = await signedIn();
    await here.sessions.revokeToken('nothing of ours');
    await here.sessions.revokeToken('nothing of ours', 'usr_other');
    await expect(here.sessions.revokeToken(accessToken, 'usr_other')).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'userId',
    });
    expect(await here.findCaller(accessToken)).toMatchObject({ kind: 'user' });
    await here.sessions.revokeToken(accessToken);
    expect(await here.findCaller(accessToken)).toBe('invalid');
    // Who comes back after a while signs out with the token that has ended meanwhile.
    const other = await signedIn();
    const later = bench.process({ now: () => new Date(Date.now() + 86_400_000) });
    expect(await later.findCaller(other.accessToken)).toBe('invalid');
    await later.sessions.revokeToken(other.accessToken);
    await expect(here.sessions.refresh(other.refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('is for its own user, who sees the open ones', async () => {
    const { userId } = await signedIn();
    const me = createCaller(userId);
    const [session] = await here.sessions.list(me.id);
    const id = session?.id ?? '';
    await expect(here.sessions.revoke(createCaller('usr_other'), id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await here.sessions.revoke(me, id);
    expect(await here.sessions.list(me.id)).toEqual([]);
  });

  it('one of somebody, or all, is for administrators, who hear what there is not', async () => {
    const { userId, accessToken } = await signedIn();
    const { sessions } = here;
    await sessions.open({ userId, platform: 'wechat', scope: '', providerToken: null });
    await sessions.open({ userId, platform: 'idp', scope: '', providerToken: null });
    const own = await sessions.findSessionId(accessToken);
    expect((await sessions.list(userId)).map(({ platform }) => platform)).toEqual(['idp', 'wechat', 'idp']);
    const none = { code: 'NOT_FOUND' };
    await expect(sessions.revokeSessions('usr_none', null)).rejects.toMatchObject(none);
    await expect(sessions.revokeSessions(userId, 'ses_none')).rejects.toMatchObject(none);
    expect(await sessions.revokeSessions(userId, own)).toBe(1);
    expect((await sessions.list(userId)).map(({ platform }) => platform)).toEqual(['idp', 'wechat']);
    await expect(sessions.revokeSessions(userId, own)).rejects.toMatchObject(none);
    expect([await sessions.findSessionId(accessToken), await sessions.findSessionId('no token')]).toEqual([
      null,
      null,
    ]);
    expect([
      await sessions.revokeSessions(userId, null),
      await sessions.revokeSessions(userId, null),
    ]).toEqual([2, 0]);
  });

  it('shows the newest hundred', async () => {
    const { userId } = await signedIn();
    await bench.database.pool.query(
      `insert into workflow.sessions (id, user_id, platform, scope, salt, expires_at)
       select 'ses_old-' || number, $1, 'idp', '', '', now() + interval '1 day' from generate_series(1, 100) number`,
      [userId],
    );
    expect(await here.sessions.list(userId)).toHaveLength(100);
  });

  it('comes by itself at its end, thirty days after the last refresh: it is open no more, and not refreshed', async () => {
    const { userId, refreshToken } = await signedIn();
    const { rows } = await bench.database.pool.query<{ left: number }>(
      `select extract(epoch from expires_at - now())::float8 as left from workflow.sessions
       where user_id = '${userId}'`,
    );
    expect(rows[0]?.left).toBeLessThanOrEqual(30 * 86_400);
    expect(rows[0]?.left).toBeGreaterThan(30 * 86_400 - 3_600);
    await bench.database.pool.query(
      `update workflow.sessions set expires_at = now() - interval '1 second' where user_id = '${userId}'`,
    );
    await expect(here.sessions.refresh(refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
    expect(await here.sessions.list(userId)).toEqual([]);
  });

  it('keeps the identity provider’s own token sealed', async () => {
    const { id } = await here.users.linkUser(identity());
    await here.sessions.open({ userId: id, platform: 'idp', scope: '', providerToken: 'theirs' });
    const { rows } = await bench.database.pool.query<{ sealed: string }>(
      'select sealed_provider_token as sealed from workflow.sessions where sealed_provider_token is not null',
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain('theirs');
  });
});

/** An identity provider that only notes which tokens are revoked, and says that it could not. */
async function startRevoking() {
  const told: string[] = [];
  const server = createServer((request, response) => {
    const { host: name = '' } = request.headers;
    const issuer = `http://${name}`;
    if (request.url !== '/revoke') {
      const document = { issuer, revocation_endpoint: `${issuer}/revoke`, jwks_uri: `${issuer}/jwks` };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
    } else {
      void text(request).then((form) => {
        told.push(String(new URLSearchParams(form).get('token')));
        response.writeHead(503).end();
      });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const provider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientId: 'kiln',
    clientSecret: null,
    callbackUrl: 'https://kiln.example.org/auth/idp/callback',
    endpoints: null,
    audiences: [],
    parameters: {},
    internalUrl: null,
  };
  return { told, provider, stop: () => server.close() };
}

it('tells the identity provider of every session that is closed, and closes it also when it fails there', async () => {
  const { told, provider, stop } = await startRevoking();
  const { sessions, users } = bench.process({ provider });
  const { id: userId } = await users.linkUser(identity({ subject: 'leaver' }));
  const opened = async (providerToken: string | null) =>
    (await sessions.open({ userId, platform: 'idp', scope: '', providerToken })).refreshToken;
  await sessions.revokeToken(await opened('theirs-1'));
  await sessions.revokeToken(await opened(null));
  await opened('theirs-2');
  await opened('theirs-3');
  expect(await sessions.revokeSessions(userId, null)).toBe(2);
  await expect.poll(() => told.toSorted()).toEqual(['theirs-1', 'theirs-2', 'theirs-3']);
  expect(await sessions.list(userId)).toEqual([]);
  stop();
});

describe('users', () => {
  it('are made once, however many of their first sign-ins come at the same time', async () => {
    const newcomer = identity({ subject: 'newcomer' });
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? here : there).users.linkUser(newcomer)),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);

    const ofApp = (index: number) =>
      identity({ platform: 'wechat', unionId: 'union-new', appId: `wx${index}`, subject: `open-${index}` });
    const apps = Array.from({ length: 6 }, (_, index) => here.users.linkUser(ofApp(index)));
    expect(new Set((await Promise.all(apps)).map(({ id }) => id)).size).toBe(1);
  });

  it('are never joined by e-mail, nor across issuers', async () => {
    const one = await here.users.linkUser(identity({ subject: 'same' }));
    const other = await here.users.linkUser(
      identity({ subject: 'same', appId: 'https://other.example.org' }),
    );
    const third = await here.users.linkUser(identity({ platform: 'wechat', appId: 'wx1', subject: 'same' }));
    expect(new Set([one.id, other.id, third.id]).size).toBe(3);
  });

  it('are joined by the union id within one platform', async () => {
    const union = { platform: 'wechat', unionId: 'union-1', email: null, name: null } as const;
    const one = await here.users.linkUser(identity({ ...union, appId: 'wx1', subject: 'open-1' }));
    const other = await here.users.linkUser(identity({ ...union, appId: 'wx2', subject: 'open-2' }));
    const elsewhere = await here.users.linkUser(
      identity({ ...union, platform: 'douyin', appId: 'tt1', subject: 'open-1' }),
    );
    expect(other.id).toBe(one.id);
    expect(elsewhere.id).not.toBe(one.id);
  });

  it('add an identity while they are signed in, unless it is somebody else’s', async () => {
    const me = await here.users.linkUser(identity({ subject: 'joiner' }));
    const mine = identity({ platform: 'alipay', appId: 'ali1', subject: 'a-1' });
    expect(await here.users.linkUser(mine, { joins: createCaller(me.id) })).toMatchObject({ id: me.id });
    const other = await here.users.linkUser(identity({ subject: 'other-joiner' }));
    await expect(here.users.linkUser(mine, { joins: createCaller(other.id) })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  it('keep what a later sign-in does not say', async () => {
    await here.users.linkUser(
      identity({ subject: 'keeper', name: 'Kim', picture: 'https://p.example.org/1' }),
    );
    const again = await here.users.linkUser(identity({ subject: 'keeper', name: null, email: null }));
    expect(again).toMatchObject({
      name: 'Kim',
      email: 'anna@example.org',
      picture: 'https://p.example.org/1',
    });
  });

  it('have what was paid for them before their first sign-in at the identity provider, and nothing later', async () => {
    const { pool } = bench.database;
    const pay = (id: string, owner: string) =>
      pool.query(
        `insert into workflow.payments (id, owner, user_id, template_code, parameters, start, task_owner, amount,
          currency, price_id, expires_at, fingerprint)
        values ($1, $2, 'early', 't', '{}', '{}', 'anon', 1, 'usd', 'p', now(), '')`,
        [id, owner],
      );
    const paid = async () => {
      const { rows } = await pool.query<Record<'id' | 'owner' | 'user_id', string>>(
        "select id, owner, user_id from workflow.payments where template_code = 't' order by id",
      );
      return rows.map((row) => [row.id, row.owner, row.user_id]);
    };
    await pay('pay_1', 'anon');
    await pay('pay_2', 'key_shop');
    await here.users.linkUser(identity({ platform: 'wechat', appId: 'wx9', subject: 'early' }));
    expect(await paid()).toEqual([
      ['pay_1', 'anon', 'early'],
      ['pay_2', 'key_shop', 'early'],
    ]);
    const { id } = await here.users.linkUser(identity({ subject: 'early' }));
    await pay('pay_3', 'anon');
    await here.users.linkUser(identity({ subject: 'early' }));
    expect(await paid()).toEqual([
      ['pay_1', id, id],
      ['pay_2', 'key_shop', id],
      ['pay_3', 'anon', 'early'],
    ]);
  });

  it('are named by the subject of the identity provider too, while it names only one', async () => {
    const { id } = await here.users.linkUser(identity({ subject: 'by-subject' }));
    expect(await here.users.findUserId('by-subject')).toBe(id);
    expect(await here.users.findUserId('same')).toBe('same');
    expect(await here.users.findUserId('nobody')).toBe('nobody');
    // What has the form of an id is one, whatever subjects there are.
    await here.users.linkUser(identity({ subject: 'usr_by-subject' }));
    expect(await here.users.findUserId('usr_by-subject')).toBe('usr_by-subject');
    // The first that was linked is shown.
    const later = identity({ subject: 'later-subject', appId: 'https://other.example.org' });
    await here.users.linkUser(later, { joins: createCaller(id) });
    expect(await here.users.byIds([id])).toMatchObject([{ subject: 'by-subject' }]);
  });

  it('are listed a page at a time, and one more when there are more', async () => {
    const { id } = await here.users.linkUser(identity({ subject: 'listed' }));
    const [newest, next, ...further] = await here.users.list({ first: 1, after: null, search: null });
    expect([newest?.id, further]).toEqual([id, []]);
    expect((await here.users.list({ first: 1, after: id, search: null }))[0]?.id).toBe(next?.id);
    expect(await here.users.list({ first: 1, after: null, search: 'LISTED' })).toMatchObject([{ id }]);
    // Else the list would end there, as if there were no more.
    await here.users.deletePerson(id);
    await expect(here.users.list({ first: 1, after: id, search: null })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'after',
    });
  });

  it('are found by a part of their id, name, address or subject, as it is written', async () => {
    const wanted = identity({ subject: 'Sub%ject-7', name: 'Zed Zulu', email: 'zed@zulu.example' });
    const { id } = await here.users.linkUser(wanted);
    await here.users.linkUser(identity({ subject: 'other', name: 'Yan', email: 'yan@example.org' }));
    for (const search of [id.slice(4, 14), 'zED z', 'ED@ZULU', 'sub%J', '%'])
      expect((await here.users.list({ first: 9, after: null, search })).map((user) => user.id)).toEqual([id]);
    expect(await here.users.list({ first: 9, after: null, search: 'nobody is called so' })).toEqual([]);
  });

  it('have as much of a profile as is kept, in letters that can be', async () => {
    const long = identity({ subject: 'long', name: 'n'.repeat(501), email: 'a\0b@example.org' });
    const user = await here.users.linkUser(long);
    expect([user.name, user.email]).toEqual(['n'.repeat(500), 'ab@example.org']);
  });

  it('are deleted by administrators too; a key has no account', async () => {
    const { userId, accessToken } = await signedIn();
    const none = { code: 'NOT_FOUND' };
    await expect(here.users.deletePerson('usr_none')).rejects.toMatchObject(none);
    const key: Caller = { ...createCaller('key_a'), kind: 'key' };
    await expect(here.users.deleteAccount(key)).rejects.toMatchObject(none);
    expect(await here.users.exists(userId)).toBe(true);
    await here.users.deletePerson(userId);
    expect(await here.users.byIds([userId])).toEqual([null]);
    await expect.poll(() => here.findCaller(accessToken)).toBe('invalid');
  });

  it('are gone with their sessions when they delete their account', async () => {
    const { userId, accessToken, refreshToken } = await signedIn();
    expect(await there.findCaller(accessToken)).toMatchObject({ kind: 'user' });
    await expect(here.users.deleteAccount(anonymousCaller('t', null))).rejects.toMatchObject(UNAUTHENTICATED);
    await here.users.deleteAccount(createCaller(userId));
    expect(await here.users.byIds([userId])).toEqual([null]);
    expect(await here.users.exists(userId)).toBe(false);
    const joining = here.users.linkUser(identity({ subject: 'late' }), { joins: createCaller(userId) });
    await expect(joining).rejects.toMatchObject(UNAUTHENTICATED);
    await expect.poll(() => there.findCaller(accessToken)).toBe('invalid');
    await expect(here.sessions.refresh(refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('have their platform’s secrets sealed', async () => {
    const secret = { session_key: 'tell-nobody' };
    const { users } = bench.process({ secret: 'of a test' });
    await users.linkUser(identity({ subject: 'sealed', secret }));
    const { rows } = await bench.database.pool.query('select * from workflow.platform_users');
    expect(JSON.stringify(rows)).not.toContain('tell-nobody');
    const [sealed] = rows.filter(({ subject }) => subject === 'sealed') as { sealed_secret: string }[];
    const encryption = createEncryption('of a test', 'platform secrets');
    expect(await encryption.decrypt(sealed?.sealed_secret ?? '')).toEqual(secret);
  });
});

describe('a login code', () => {
  const createTestCodes = () =>
    createLoginCodes({
      database: workflowDatabase(bench.database),
      encryption: createEncryption('s', 'provider tokens'),
    });
  const readSession = async () => {
    const { id } = await here.users.linkUser(identity());
    return { userId: id, platform: 'idp', scope: 'openid', providerToken: 'theirs' } as const;
  };

  it('is good for one session, once', async () => {
    const codes = createTestCodes();
    const session = await readSession();
    const code = await codes.issue(session, null);
    const tries = await Promise.allSettled([codes.redeem(code, null), codes.redeem(code, null)]);
    expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(tries.find(({ status }) => status === 'fulfilled')).toMatchObject({ value: session });
  });

  it('with a challenge needs its verifier, and is burnt by a wrong one', async () => {
    const codes = createTestCodes();
    const challenge = createHash('sha256').update('the verifier').digest('base64url');
    const code = await codes.issue(await readSession(), challenge);
    await expect(codes.redeem(code, 'another')).rejects.toMatchObject(UNAUTHENTICATED);
    await expect(codes.redeem(code, 'the verifier')).rejects.toMatchObject(UNAUTHENTICATED);
    const second = await codes.issue(await readSession(), challenge);
    expect(await codes.redeem(second, 'the verifier')).toMatchObject({ scope: 'openid' });
  });

  it('is late after a minute', async () => {
    const codes = createTestCodes();
    const session = await readSession();
    const code = await codes.issue(session, null);
    const { rows } = await bench.database.pool.query<{ left: number }>(
      `select extract(epoch from max(expires_at) - now())::float8 as left from workflow.login_codes
       where user_id = '${session.userId}'`,
    );
    expect(rows[0]?.left).toBeLessThanOrEqual(60);
    expect(rows[0]?.left).toBeGreaterThan(0);
    await bench.database.pool.query(
      "update workflow.login_codes set expires_at = now() - interval '1 second'",
    );
    await expect(codes.redeem(code, null)).rejects.toMatchObject(UNAUTHENTICATED);
  });
});

describe('what has ended', () => {
  it('is forgotten: codes that nobody exchanged, sessions a day later, and nothing else', async () => {
    const { pool } = bench.database;
    const database = workflowDatabase(bench.database);
    const codes = createLoginCodes({ database, encryption: createEncryption('s', 'provider tokens') });
    const [gone, just, open] = [await signedIn(), await signedIn(), await signedIn()];
    const session = { platform: 'idp', scope: 'openid', providerToken: 'theirs' } as const;
    await codes.issue({ ...session, userId: gone.userId }, null);
    const code = await codes.issue({ ...session, userId: open.userId }, null);
    const end = (what: string, ago: string, { userId }: SignedIn) =>
      pool.query(
        `update workflow.${what} set expires_at = now() - interval '${ago}' where user_id = '${userId}'`,
      );
    await end('login_codes', '1 second', gone);
    await end('sessions', '25 hours', gone);
    await end('sessions', '23 hours', just);
    await pruneSignIn(database, 1_000);
    const left = async (what: string) => {
      const users = [gone, just, open].map(({ userId }) => userId);
      const { rows } = await pool.query<{ user_id: string }>(`select user_id from workflow.${what}`);
      return users.filter((id) => rows.some((row) => row.user_id === id));
    };
    expect(await left('sessions')).toEqual([just.userId, open.userId]);
    expect(await left('login_codes')).toEqual([open.userId]);
    expect(await codes.redeem(code, null)).toMatchObject({ userId: open.userId });
    expect(await here.findCaller(open.accessToken)).toMatchObject({ kind: 'user', id: open.userId });
    await expect(here.sessions.refresh(gone.refreshToken)).rejects.toMatchObject(UNAUTHENTICATED);
  });
});

describe('a service key', () => {
  const admin: Caller = { ...createCaller('usr_admin'), scopes: ['admin'] };

  it('is known by its secret, of which only the hash is kept, until it is revoked', async () => {
    const { key, secret } = await here.serviceKeys.create(admin, { name: 'shop', scopes: ['admin'] });
    expect(secret).toMatch(/^kiln_[0-9a-f]{64}$/);
    expect(await there.findCaller(secret)).toEqual({
      kind: 'key',
      id: key.id,
      scopes: ['admin'],
      generators: null,
      sessionId: null,
      expiresAt: null,
    });
    const { rows } = await bench.database.pool.query('select * from workflow.service_keys');
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect((await here.serviceKeys.list()).map(({ id }) => id)).toContain(key.id);
    expect(await here.serviceKeys.revoke(key.id)).toMatchObject({ revokedAt: expect.any(Date) as Date });
    expect(await there.findCaller(secret)).toBeNull();
    await expect(here.serviceKeys.revoke('key_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is given another secret; the one before works until its moment, and none of them once it is revoked', async () => {
    const { key, secret } = await here.serviceKeys.create(admin, { name: 'till', scopes: ['read'] });
    const { secret: second } = await here.serviceKeys.rotate(admin, key.id, 3_600);
    const callers = async (...secrets: readonly string[]) =>
      Promise.all(secrets.map(async (one) => await there.findCaller(one)));
    const { id } = key;
    expect(await callers(secret, second)).toMatchObject([{ id }, { id }]);
    const { secret: third } = await here.serviceKeys.rotate(admin, key.id, 0);
    expect(await callers(secret, second, third)).toMatchObject([null, null, { id }]);
    const limited: Caller = { ...admin, kind: 'key', generators: ['agg/imga'] };
    await expect(here.serviceKeys.rotate(limited, key.id, 0)).rejects.toMatchObject({ field: 'generators' });
    const most = 30 * 86_400;
    for (const grace of [-1, most + 1])
      await expect(here.serviceKeys.rotate(admin, key.id, grace)).rejects.toMatchObject({
        field: 'graceSeconds',
      });
    const { secret: last } = await here.serviceKeys.rotate(admin, key.id, most);
    expect(await callers(third, last)).toMatchObject([{ id }, { id }]);
    await here.serviceKeys.revoke(key.id);
    expect(await callers(third, last)).toEqual([null, null]);
    await expect(here.serviceKeys.rotate(admin, key.id, 0)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('may be used for what it was made for, each named once; unnamed it is all but administration', async () => {
    const create = async (key: object) =>
      (await here.serviceKeys.create(admin, { name: 'x'.repeat(100), scopes: [], ...key })).key;
    const generators = Array.from({ length: 100 }, (_, at) => `g/${at}`);
    expect(await create({ generators })).toMatchObject({ scopes: ['read', 'start', 'manage'], generators });
    const twice = { scopes: ['read', 'read'], generators: ['imga', 'agg/vidb', 'imga'] };
    expect(await create(twice)).toMatchObject({ scopes: ['read'], generators: ['imga', 'agg/vidb'] });
    for (const [field, wrong] of [
      ['name', { name: 'x'.repeat(101) }],
      ['generators', { generators: [] }],
      ['generators', { generators: [...generators, 'more'] }],
      ['generators', { generators: ['two words'] }],
      ['expiresAt', { expiresAt: new Date(Date.now() - 1_000) }],
    ] as const)
      await expect(create(wrong)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('makes others that may do no more, and may narrow them', async () => {
    const limited: Caller = { ...admin, kind: 'key', id: 'key_a', generators: ['imga', 'agg/vidb'] };
    const make = async (generators?: readonly string[]) =>
      (
        await here.serviceKeys.create(limited, {
          name: 'part',
          scopes: [],
          ...(generators && { generators }),
        })
      ).key;
    expect(await make()).toMatchObject({ generators: ['imga', 'agg/vidb'] });
    const narrow = await make(['imga']);
    expect(narrow).toMatchObject({ generators: ['imga'] });
    await expect(make(['imga', 'imgb'])).rejects.toMatchObject({ field: 'generators' });
    expect((await here.serviceKeys.rotate(limited, narrow.id, 0)).key.id).toBe(narrow.id);
  });

  it('makes and renews none that lasts longer than it does', async () => {
    const end = new Date(Date.now() + 3_600_000);
    const ending: Caller = { ...admin, kind: 'key', id: 'key_ending', expiresAt: end };
    const make = async (caller: Caller, expiresAt?: Date) =>
      (await here.serviceKeys.create(caller, { name: 'part', scopes: [], ...(expiresAt && { expiresAt }) }))
        .key;
    expect((await make(ending)).expiresAt).toEqual(end);
    const own = await make(ending, end);
    await here.serviceKeys.rotate(ending, own.id, 0);
    const [longer, endless] = [new Date(end.getTime() + 1_000), await make(admin)];
    const lasting = await make(admin, longer);
    for (const attempt of [
      () => make(ending, longer),
      () => here.serviceKeys.rotate(ending, endless.id, 0),
      () => here.serviceKeys.rotate(ending, lasting.id, 0),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field: 'expiresAt' });
    // A person's token ends soon; what they make does not end with it.
    expect((await make({ ...admin, expiresAt: end })).expiresAt).toBeNull();
  });

  it('ends by itself, and remembers its last use to the minute', async () => {
    const { pool } = bench.database;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { key, secret } = await here.serviceKeys.create(admin, { name: 'used', scopes: [], expiresAt });
    const lastUse = async (change = '') => {
      if (change !== '')
        await pool.query(`update workflow.service_keys set ${change} where id = '${key.id}'`);
      await here.findCaller(secret);
      return (await here.serviceKeys.list()).find(({ id }) => id === key.id)?.lastUsedAt?.getTime();
    };
    expect(key.lastUsedAt).toBeNull();
    const first = await lastUse();
    expect(first).toBeGreaterThan(Date.now() - 60_000);
    expect(await lastUse()).toBe(first);
    const later = await lastUse("last_used_at = now() - interval '61 seconds'");
    expect(later).toBeGreaterThanOrEqual(first ?? Infinity);
    expect(await here.findCaller(secret)).toMatchObject({ id: key.id, expiresAt });
    await lastUse("expires_at = now() - interval '1 second'");
    expect(await here.findCaller(secret)).toBeNull();
    // Another secret would be as dead.
    await expect(here.serviceKeys.rotate(admin, key.id, 0)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([
    ['name', { name: '', scopes: [] }],
    ['name', { name: 'two\nlines', scopes: [] }],
    ['scopes', { name: 'shop', scopes: ['everything'] }],
  ])('with a wrong %s is refused', async (field, key) => {
    await expect(here.serviceKeys.create(admin, key)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field,
    });
  });
});
