import { createHash } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, postForm, rest, until } from '../kit/clients/requests.ts';
import { signedIn, type SignInData } from '../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** Accounts from before the first sign-in to after the last, and the keys of programs, at the public face. */

const BACK_OFFICE = 'secret-of-the-back-office';
const office = { authorization: `Bearer ${BACK_OFFICE}` };

let kiln: KilnUnderTest;
beforeAll(async () => {
  const hash = createHash('sha256').update(BACK_OFFICE).digest('hex');
  kiln = await startKiln({ settings: { REST_AUTH: 'compat', SERVICE_KEYS: `office=${hash}` } });
});
afterAll(() => kiln?.close());

const toBearer = ({ access_token: token }: SignInData) => ({ authorization: `Bearer ${token}` });
const get = (path: string, headers = {}) => rest(kiln.url, 'GET', path, undefined, headers);
const buy = async (userId: string, headers = {}): Promise<string> => {
  const { body } = await rest(kiln.url, 'POST', '/payment/checkout/poster', { userId }, headers);
  return body.data.paymentId;
};
const history = async (userId: string, headers = {}) => {
  const { status, body } = await get(`/payment/history?userId=${userId}`, headers);
  return status === 200 ? body.data.payments.map(({ id }: { id: string }) => id) : status;
};
const executions = async (userId: string, headers = {}) => {
  const { status, body } = await get(`/templates/executions/user/${userId}`, headers);
  return status === 200
    ? body.data.executions.map((one: { executionId: string }) => one.executionId)
    : status;
};

describe('who has not signed in yet', () => {
  it('is named by anybody, and finds what was bought and run for them once they have', async () => {
    const name = 'sandbox-ada';
    const bought = await buy(name);
    const run = await rest(kiln.url, 'POST', '/templates/execute/poster', { userId: name }, office);
    const { executionId } = run.body.data;
    expect(await history(name)).toEqual([bought]);
    expect(await executions(name, office)).toEqual([executionId]);

    const ada = await signedIn(kiln.url, name);
    for (const word of [name, ada.user.id]) {
      expect(await history(word, toBearer(ada))).toEqual([bought]);
      expect(await executions(word, toBearer(ada))).toEqual([executionId]);
      expect(await executions(word, office)).toEqual([executionId]);
      // From now on the name needs its bearer's token.
      expect(await history(word)).toBe(401);
      expect(await executions(word)).toBe(401);
      expect((await rest(kiln.url, 'POST', '/payment/checkout/poster', { userId: word })).status).toBe(401);
    }
    const RUN = '{ viewer { executions(first: 1) { totalCount edges { node { id } } } } }';
    expect((await graphql(kiln.url, RUN, {}, toBearer(ada))).data.viewer.executions).toEqual({
      totalCount: 1,
      edges: [{ node: { id: executionId } }],
    });
    expect((await get(`/payment/${bought}`)).status).toBe(404);
    expect((await get(`/payment/${bought}`, toBearer(ada))).body.data.userId).toBe(ada.user.id);
  });
});

describe('a deleted account', () => {
  const DELETE = 'mutation { deleteAccount }';
  const PAYMENT = 'query ($id: ID!) { payment(id: $id) { id status userId user { email } } }';

  it('takes its files with it and leaves the books without the person, whom nobody can become again', async () => {
    const ben = await signedIn(kiln.url, 'sandbox-ben');
    const headers = toBearer(ben);
    const bought = await buy(ben.user.id, headers);
    const form = new FormData();
    form.set('file', new Blob(['mine']), 'mine.txt');
    const upload = await rest(kiln.url, 'POST', '/api/file/upload', form, headers);
    expect((await graphql(kiln.url, DELETE, {}, headers)).data).toEqual({ deleteAccount: true });

    expect((await get('/auth/idp/userinfo', headers)).status).toBe(401);
    const refresh = { refresh_token: ben.refresh_token };
    expect((await rest(kiln.url, 'POST', '/auth/idp/refresh', refresh)).status).toBe(401);
    const { pool } = kiln.runtime.database;
    for (const table of ['users where id', 'platform_users where user_id', 'sessions where user_id']) {
      expect((await pool.query(`select from workflow.${table} = $1`, [ben.user.id])).rowCount).toBe(0);
    }
    const kept = await graphql(kiln.url, PAYMENT, { id: bought }, office);
    expect(kept.data.payment).toEqual({ id: bought, status: 'PENDING', userId: ben.user.id, user: null });
    await until(
      () => fetch(upload.body.data),
      ({ status }) => status === 404,
    );

    const again = await signedIn(kiln.url, 'sandbox-ben');
    expect(again.user.id).not.toBe(ben.user.id);
    expect(await history('sandbox-ben', toBearer(again))).toEqual([]);
    expect((await get(`/payment/${bought}`, toBearer(again))).status).toBe(404);
    expect(await history(ben.user.id)).toBe(401);
    expect(await history(ben.user.id, toBearer(again))).toBe(403);
  });
});

describe('the list of users', () => {
  const USERS = `query ($first: Int!, $after: String, $search: String) {
    users(first: $first, after: $after, search: $search) {
      edges { node { id subject openSessions lastSignInAt } } pageInfo { hasNextPage endCursor }
    }
  }`;
  const END = `mutation ($userId: ID!, $sessionId: ID) {
    endUserSessions(userId: $userId, sessionId: $sessionId)
  }`;
  const SESSIONS = 'query ($userId: ID!) { userSessions(userId: $userId) { id platform current } }';
  const readCode = ({ errors }: Awaited<ReturnType<typeof graphql>>) => errors?.[0]?.extensions['code'];
  const list = async (variables: object) =>
    (await graphql(kiln.url, USERS, { first: 50, ...variables }, office)).data.users;

  it('is for administrators alone, as is the end of the sessions of others', async () => {
    const ben = toBearer(await signedIn(kiln.url, 'sandbox-ben'));
    for (const [headers, code] of [
      [{}, 'UNAUTHENTICATED'],
      [ben, 'FORBIDDEN'],
    ] as const) {
      expect(readCode(await graphql(kiln.url, USERS, { first: 1 }, headers))).toBe(code);
      for (const query of [END, SESSIONS]) {
        expect(readCode(await graphql(kiln.url, query, { userId: 'sandbox-ben' }, headers))).toBe(code);
      }
    }
  });

  it('is searched and paged, and whose sessions are ended has to sign in again', async () => {
    await signedIn(kiln.url, 'sandbox-ben');
    const them = await signedIn(kiln.url, 'sandbox-admin');
    const seen = { id: them.user.id, subject: 'sandbox-admin', openSessions: 1 };
    const found = await list({ search: 'X-ADMIN' });
    expect(found.edges).toEqual([{ node: { ...seen, lastSignInAt: expect.any(String) } }]);
    expect((await list({ search: 'x%admin' })).edges).toEqual([]);

    const page = await list({ first: 1 });
    expect(page.edges[0].node).toMatchObject(seen);
    expect(page.pageInfo.hasNextPage).toBe(true);
    const { edges } = await list({ after: page.pageInfo.endCursor });
    expect(edges.map(({ node }: { node: { subject: string } }) => node.subject)).not.toContain(
      'sandbox-admin',
    );

    const end = (userId: string, sessionId?: string) => graphql(kiln.url, END, { userId, sessionId }, office);
    const other = await signedIn(kiln.url, 'sandbox-admin');
    const sessions = async () =>
      (await graphql(kiln.url, SESSIONS, { userId: 'sandbox-admin' }, office)).data.userSessions;
    const [newest, oldest] = await sessions();
    expect(oldest).toEqual({ id: expect.stringMatching(/^ses_/), platform: 'idp', current: false });
    expect((await end(them.user.id, newest.id)).data.endUserSessions).toBe(1);
    expect(await sessions()).toEqual([oldest]);
    expect(readCode(await graphql(kiln.url, '{ viewer { id } }', {}, toBearer(other)))).toBe(
      'UNAUTHENTICATED',
    );
    for (const [userId, sessionId] of [
      [them.user.id, newest.id],
      ['sandbox-ben', oldest.id],
    ]) {
      expect(readCode(await end(userId, sessionId))).toBe('NOT_FOUND');
    }
    expect((await end(them.user.id)).data.endUserSessions).toBe(1);
    expect(readCode(await graphql(kiln.url, '{ viewer { id } }', {}, toBearer(them)))).toBe(
      'UNAUTHENTICATED',
    );
    expect(readCode(await end('usr_none'))).toBe('NOT_FOUND');
  });
});

describe('a service key', () => {
  const CREATE = `mutation ($name: String!, $scopes: [String!]!) {
    createServiceKey(name: $name, scopes: $scopes) { secret key { id name scopes revokedAt } }
  }`;
  const LIST = '{ serviceKeys { id name scopes lastUsedAt revokedAt } }';
  const REVOKE = 'mutation ($id: ID!) { revokeServiceKey(id: $id) { id revokedAt } }';
  const create = async (name: string, scopes: string[]) =>
    (await graphql(kiln.url, CREATE, { name, scopes }, office)).data.createServiceKey;
  const readCode = (answer: Awaited<ReturnType<typeof graphql>>) =>
    answer.errors?.[0]?.extensions['code'] ?? null;

  it('does what its scopes say, is kept as a hash, listed, and over with its end', async () => {
    const plain = await create('reads', []);
    const admin = await create('manages', ['admin']);
    const asked = async (secret: string) =>
      readCode(await graphql(kiln.url, LIST, {}, { authorization: `Bearer ${secret}` }));
    expect(await asked(plain.secret)).toBe('FORBIDDEN');
    expect(await asked(admin.secret)).toBeNull();

    const { rows } = await kiln.runtime.database.pool.query('select * from workflow.service_keys');
    expect(JSON.stringify(rows)).toContain(createHash('sha256').update(plain.secret).digest('hex'));
    for (const { secret } of [plain, admin]) expect(JSON.stringify(rows)).not.toContain(secret.slice(5));

    expect((await graphql(kiln.url, REVOKE, { id: admin.key.id }, office)).data.revokeServiceKey).toEqual({
      id: admin.key.id,
      revokedAt: expect.any(String),
    });
    expect(await asked(admin.secret)).toBe('UNAUTHENTICATED');
    const { serviceKeys } = (await graphql(kiln.url, LIST, {}, office)).data;
    expect(serviceKeys).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: plain.key.id, scopes: ['read', 'start', 'manage'], revokedAt: null }),
        expect.objectContaining({ id: admin.key.id, scopes: ['admin'], revokedAt: expect.any(String) }),
      ]),
    );
    expect(JSON.stringify(serviceKeys)).not.toContain('kiln_');
  });

  it('with another secret still takes the one before, and says until when', async () => {
    const { key, secret } = await create('rotated', []);
    const ROTATE = `mutation ($id: ID!, $grace: Int!) {
      rotateServiceKey(id: $id, graceSeconds: $grace) { secret key { id formerUntil } }
    }`;
    const rotate = async (grace: number) =>
      (await graphql(kiln.url, ROTATE, { id: key.id, grace }, office)).data.rotateServiceKey;
    const asked = async (word: string) =>
      readCode(await graphql(kiln.url, '{ tasks { totalCount } }', {}, { authorization: `Bearer ${word}` }));
    const second = await rotate(3_600);
    expect(second.key).toEqual({ id: key.id, formerUntil: expect.any(String) });
    expect(Date.parse(second.key.formerUntil)).toBeGreaterThan(Date.now());
    expect([await asked(secret), await asked(second.secret)]).toEqual([null, null]);
    const third = await rotate(0);
    expect(third.key.formerUntil).toBeNull();
    expect(await asked(third.secret)).toBeNull();
  });

  it('of the settings manages the others, and is not among them', async () => {
    const { serviceKeys } = (await graphql(kiln.url, LIST, {}, office)).data;
    expect(serviceKeys.map(({ name }: { name: string }) => name)).not.toContain('office');
    expect(readCode(await graphql(kiln.url, CREATE, { name: 'odd', scopes: ['everything'] }, office))).toBe(
      'BAD_USER_INPUT',
    );
  });
});

describe('a service key', () => {
  const MAKE = `mutation ($scopes: [String!]!, $generators: [String!], $expiresAt: DateTime) {
    createServiceKey(name: "limited", scopes: $scopes, generators: $generators, expiresAt: $expiresAt) { secret key { id scopes expiresAt } } }`;
  const keyWith = async (variables: object) => {
    const { data, errors } = await graphql(kiln.url, MAKE, { scopes: [], ...variables }, office);
    if (errors !== undefined) return { refused: errors[0]?.extensions['code'] };
    return {
      headers: { authorization: `Bearer ${data.createServiceKey.secret}` },
      made: data.createServiceKey,
    };
  };
  const readCode = async (query: string, headers = {}) =>
    (await graphql(kiln.url, query, {}, headers)).errors?.[0]?.extensions['code'] ?? null;
  const START = 'mutation { generateImage(input: { generator: "union", prompt: "x" }) { id } }';
  const TASK = 'mutation { createTask(taskType: "tea", prompt: "x") { id } }';
  const CANCEL = 'mutation { cancelTask(id: "01a2b3c4-0000-7000-8000-000000000000") { id } }';

  it('does what its scopes say, and no more, on GraphQL and REST alike', async () => {
    const allowed = async (scopes: string[]) => {
      const { headers } = await keyWith({ scopes });
      const codes = [
        await readCode('{ tasks { totalCount } }', headers),
        await readCode(START, headers),
        await readCode(CANCEL, headers),
        await readCode('{ serviceKeys { id } }', headers),
      ];
      const { status } = await rest(kiln.url, 'POST', '/templates/execute/poster', { prompt: 'x' }, headers);
      return [...codes.map((code) => code !== 'FORBIDDEN'), status !== 403];
    };
    expect(await allowed(['read'])).toEqual([true, false, false, false, false]);
    expect(await allowed(['start'])).toEqual([false, true, false, false, true]);
    expect(await allowed(['manage'])).toEqual([false, false, true, false, false]);
    expect(await allowed([])).toEqual([true, true, true, false, true]);
    expect(await allowed(['admin'])).toEqual([true, true, true, true, true]);
  });

  it('follows payments, asks about them and ends checkouts by its scopes too, although browsers do so without a credential', async () => {
    const allowed = async (scopes: string[]) => {
      const { headers } = await keyWith({ scopes });
      const query = 'subscription { paymentUpdated(id: "pay_none") { status } }';
      const told = await fetch(`${kiln.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
        body: JSON.stringify({ query }),
      });
      const ended = await readCode('mutation { cancelPayment(id: "pay_none") { status } }', headers);
      const asked = await readCode('mutation { reconcilePayment(id: "pay_none") { status } }', headers);
      const { status } = await get('/payment/success?payment_id=pay_none', headers);
      const isRead = [!(await told.text()).includes('FORBIDDEN'), asked !== 'FORBIDDEN', status !== 403];
      return [...isRead, ended !== 'FORBIDDEN'];
    };
    expect(await allowed(['start'])).toEqual([false, false, false, false]);
    expect(await allowed(['read'])).toEqual([true, true, true, false]);
    expect(await allowed(['manage'])).toEqual([false, false, false, true]);
    expect((await get('/payment/success?payment_id=pay_none')).status).toBe(404);
  });

  it('is refused before a start that it would wait for and may not read', async () => {
    const { headers } = await keyWith({ scopes: ['start'] });
    const tasks = async () =>
      (await kiln.runtime.database.pool.query('select count(*)::int as count from media.tasks')).rows[0];
    const before = await tasks();
    const path = '/api/union/img/sync/generate/image';
    const refused = await postForm(kiln.url, path, { prompt: 'x' }, headers);
    expect([refused.status, refused.body.msg]).toEqual([403, expect.stringContaining('scope read')]);
    expect(await tasks()).toEqual(before);
  });

  it('uses the generators of its list alone, in chats, tasks and templates too', async () => {
    const { headers } = await keyWith({ generators: ['vidb'] });
    for (const query of [
      START,
      TASK,
      'mutation { chat(input: { generator: "llm", messages: [{ role: USER, content: "x" }] }) { text } }',
    ]) {
      expect(await readCode(query, headers)).toBe('FORBIDDEN');
    }
    expect((await rest(kiln.url, 'POST', '/templates/execute/poster', { prompt: 'x' }, headers)).status).toBe(
      403,
    );
    expect(
      await readCode('mutation { generateVideo(input: { generator: "vidb", prompt: "x" }) { id } }', headers),
    ).toBeNull();
  });

  it('makes no key that may do more than it, or lasts longer', async () => {
    const end = new Date(Date.now() + 3_600_000).toISOString();
    const parent = await keyWith({ scopes: ['admin'], generators: ['vidb', 'vidc'], expiresAt: end });
    const make = `mutation ($generators: [String!], $expiresAt: DateTime) {
      createServiceKey(name: "child", scopes: ["admin"], generators: $generators, expiresAt: $expiresAt) {
        key { generators expiresAt }
      }
    }`;
    const childWith = async (wanted: object) => {
      const { data, errors } = await graphql(kiln.url, make, { ...wanted }, parent.headers);
      return data?.createServiceKey?.key ?? errors?.[0]?.extensions['field'];
    };
    expect(await childWith({})).toEqual({ generators: ['vidb', 'vidc'], expiresAt: end });
    const sooner = new Date(Date.now() + 60_000).toISOString();
    expect(await childWith({ generators: ['vidc'], expiresAt: sooner })).toEqual({
      generators: ['vidc'],
      expiresAt: sooner,
    });
    expect(await childWith({ generators: ['vidb', 'imga'] })).toBe('generators');
    expect(await childWith({ expiresAt: new Date(Date.now() + 7_200_000).toISOString() })).toBe('expiresAt');
  });

  it('ends by itself, and is not made ended', async () => {
    const soon = new Date(Date.now() + 1_500).toISOString();
    const { headers } = await keyWith({ expiresAt: soon });
    expect(await readCode('{ tasks { totalCount } }', headers)).toBeNull();
    await expect.poll(() => readCode('{ tasks { totalCount } }', headers)).toBe('UNAUTHENTICATED');
    expect(await keyWith({ expiresAt: '2020-01-01T00:00:00Z' })).toEqual({ refused: 'BAD_USER_INPUT' });
    expect(await keyWith({ scopes: ['everything'] })).toEqual({ refused: 'BAD_USER_INPUT' });
  });
});

it.each([
  ['users', 'search', `{ users(search: "${'x'.repeat(201)}") { edges { cursor } } }`],
  ['users', 'after', '{ users(after: "somebody") { edges { cursor } } }'],
  ['the audit log', 'before', '{ auditLog(before: "yesterday") { id } }'],
  ['the audit log', 'after', '{ auditEntries(after: "yesterday") { edges { cursor } } }'],
  ['payments', 'after', '{ payments(after: "yesterday") { totalCount } }'],
])('a list of %s refuses a wrong %s, naming it', async (_, field, query) => {
  const { errors } = await graphql(kiln.url, query, {}, office);
  expect(errors?.map(({ extensions }) => extensions)).toMatchObject([{ code: 'BAD_USER_INPUT', field }]);
});

it('of no templates at all nothing is brought over to the payment provider', async () => {
  const query = 'mutation { syncTemplates(codes: []) { template { code } } }';
  expect(await graphql(kiln.url, query, {}, office)).toEqual({ data: { syncTemplates: [] } });
});

describe('a template that costs something', () => {
  it('is run without paying by keys alone, and a free one by users too', async () => {
    const ada = toBearer(await signedIn(kiln.url));
    const run = async (code: string, headers = {}) =>
      (await rest(kiln.url, 'POST', `/templates/execute/${code}`, { prompt: 'x' }, headers)).status;
    expect([await run('poster'), await run('poster', ada), await run('poster', office)]).toEqual([
      401, 403, 200,
    ]);
    const free = { code: 'free-poster', name: 'free', creditCost: 0, templateType: 'IMAGE' };
    expect((await rest(kiln.url, 'POST', '/templates', free, office)).status).toBe(200);
    expect([await run('free-poster'), await run('free-poster', ada)]).toEqual([401, 200]);
  });
});

describe('the audit log', () => {
  const LOG = `query ($what: String, $first: Int! = 1000, $after: String) {
    auditEntries(what: $what, first: $first, after: $after) {
      edges { node { id caller address what target } }
      pageInfo { hasNextPage endCursor }
    }
  }`;
  const page = async (variables: object, headers = office) =>
    (await graphql(kiln.url, LOG, { ...variables }, headers)).data?.auditEntries;
  const entries = async (what: string) =>
    (await page({ what })).edges.map(({ node }: { readonly node: object }) => node);

  it('says who signed in, changed templates, made keys, and looked at or ended what is of others', async () => {
    const ada = await signedIn(kiln.url);
    const start = 'mutation { createTask(taskType: "tea", prompt: "mine") { id } }';
    const { id } = (await graphql(kiln.url, start, {}, toBearer(ada))).data.createTask;
    for (const headers of [toBearer(ada), office]) {
      await graphql(kiln.url, 'query ($id: ID!) { task(id: $id) { id } }', { id }, headers);
      await graphql(kiln.url, 'mutation ($id: ID!) { cancelTask(id: $id) { id } }', { id }, headers);
    }
    const template = { code: 'written-down', name: 'x' };
    expect((await rest(kiln.url, 'POST', '/templates', template, office)).status).toBe(200);
    const by = { caller: 'key_office', address: '127.0.0.1' };
    expect(await entries('createTemplate')).toContainEqual(
      expect.objectContaining({ ...by, target: 'written-down' }),
    );
    expect(await entries('completeSignIn')).toContainEqual(expect.objectContaining({ target: ada.user.id }));
    const made = await graphql(
      kiln.url,
      'mutation { createServiceKey(name: "logged", scopes: ["read"]) { key { id } secret } }',
      {},
      office,
    );
    const { key, secret } = made.data.createServiceKey;
    const reader = { authorization: `Bearer ${secret}` };
    const words =
      'query ($id: ID!) { task(id: $id) { ...Words } } fragment Words on Task { input { prompt } }';
    for (const query of ['query ($id: ID!) { task(id: $id) { state } }', words])
      await graphql(kiln.url, query, { id }, reader);
    // A program's read of how far it is is none of a prompt.
    expect(await entries('read task')).toEqual([
      expect.objectContaining({ caller: key.id, target: id }),
      expect.objectContaining({ ...by, target: id }),
    ]);
    expect(await entries('createServiceKey')).toContainEqual(
      expect.objectContaining({ ...by, target: key.id }),
    );
    const newest = await page({ first: 1 });
    expect(newest.pageInfo.hasNextPage).toBe(true);
    const older = await page({ first: 1, after: newest.pageInfo.endCursor });
    expect(Number(older.edges[0].node.id)).toBeLessThan(Number(newest.edges[0].node.id));
    expect(await graphql(kiln.url, LOG, {}, toBearer(ada))).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it('is only added to', async () => {
    const { pool } = kiln.runtime.database;
    await expect(pool.query("update audit.entries set caller = 'nobody'")).rejects.toThrow('not changed');
    await expect(pool.query('delete from audit.entries')).rejects.toThrow('not changed');
    await expect(pool.query('truncate audit.entries')).rejects.toThrow('not changed');
    const insert =
      "insert into audit.entries (at, caller, what, trace_id) values (now() - interval '400 days', 'usr_old', 'refundPayment', 't')";
    await pool.query(insert);
    expect((await entries('refundPayment')).map(({ caller }: { caller: string }) => caller)).toContain(
      'usr_old',
    );
    await kiln.runtime.audit.prune(100);
    expect(await entries('refundPayment')).toEqual([]);
    expect((await entries('createTemplate')).length).toBeGreaterThan(0);
  });
});
