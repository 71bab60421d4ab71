import { expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import type { AuthMode } from '../../platform/access/policy.ts';
import { AppError } from '../../platform/errors.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { sections } from '../../rest-compat/tables.ts';
import { createFallback, type FallbackReads } from './fallback.ts';
import type { OldReader } from './old-reader.ts';
import { createEndedAnswers } from './store-ended.ts';

/** Who gets what the old service has answered to somebody. */

const routes = sections.flatMap(({ routes: own }) => own);
const route = routes.find(({ method, path }) => method === 'GET' && path === '/api/task/status/{task_id}');
const nobody = anonymousCaller('trace', '192.0.2.1');
const ALICE = 'Bearer the old token of Alice';
const done = (url: string) => ({ status: true, data: { task_id: 'a', url } });

/** An old service that knows task `a` of Alice, and answers by the parameters of the request. */
function world(options: { readonly isGone?: boolean } = {}) {
  const rows = new Map<string, object>();
  const asked: (string | null)[] = [];
  const reader: OldReader = async ({ authorization, target }) => {
    asked.push(authorization);
    if (authorization !== ALICE) return { status: 404, body: {} };
    return { status: 200, body: done(new URL(target, 'http://old').searchParams.get('size') ?? 'whole') };
  };
  const ended = createEndedAnswers({
    stored: {
      find: async (_operation, id) => {
        const body = rows.get(id);
        return body === undefined ? null : { body: body as never, hasCopies: true };
      },
      save: async ({ id, body }) => void rows.set(id, body),
    },
    copier: { copy: async (body) => ({ body, isComplete: true }) },
    logger: silentLogger(),
  });
  const fallback = (isGone = options.isGone) =>
    createFallback({
      executor: { execute: async () => ({}), subscribe: async () => ({}) },
      logger: silentLogger(),
      authMode: 'required',
      readers: { media: isGone === true ? null : reader, workflow: null },
      ended,
      reads: { count: () => undefined },
    });
  async function read(who: { authorization?: string; caller?: Caller; query?: string; isGone?: boolean }) {
    if (route === undefined) throw new Error('no such route');
    const answer = await fallback(who.isGone).answer({
      route,
      pathParams: { task_id: 'a' },
      query: new URLSearchParams(who.query),
      target: `/api/task/status/a${who.query === undefined ? '' : `?${who.query}`}`,
      authorization: who.authorization,
      context: { caller: who.caller ?? nobody, signal: new AbortController().signal },
    });
    return answer?.body ?? null;
  }
  return { read, asked, rows };
}

it('stores what was fetched with a credential for whoever has that credential', async () => {
  const { read, asked } = world();
  expect(await read({ authorization: ALICE })).toEqual(done('whole'));
  expect(await read({ authorization: ALICE })).toEqual(done('whole'));
  expect(asked).toEqual([ALICE]);
  expect(await read({})).toBeNull();
  expect(await read({ authorization: 'Bearer the old token of Bob' })).toBeNull();
  expect(await read({ isGone: true })).toBeNull();
  expect(await read({ authorization: ALICE, isGone: true })).toEqual(done('whole'));
});

it('stores what was fetched by a known user for that user, whatever their token is by then', async () => {
  const { read } = world();
  const caller: Caller = { ...nobody, kind: 'user', id: 'usr_alice' };
  expect(await read({ authorization: ALICE, caller })).toEqual(done('whole'));
  expect(await read({ authorization: 'Bearer a newer one', caller, isGone: true })).toEqual(done('whole'));
  expect(await read({ authorization: ALICE, isGone: true })).toBeNull();
});

it('stores an answer with the parameters of its request', async () => {
  const { read, asked } = world();
  expect(await read({ authorization: ALICE, query: 'size=small' })).toEqual(done('small'));
  expect(await read({ authorization: ALICE })).toEqual(done('whole'));
  expect(await read({ authorization: ALICE, query: 'size=small' })).toEqual(done('small'));
  expect(asked).toHaveLength(2);
});

it('gives anybody what an import has stored', async () => {
  const { read, rows } = world();
  rows.set('a', done('imported'));
  expect(await read({ isGone: true })).toEqual(done('imported'));
  expect(await read({ isGone: true, query: 'size=small' })).toEqual(done('imported'));
});

/** Payments at an old workflow service, read by callers in a mode of REST_AUTH. */
function paymentsFor(
  authMode: AuthMode,
  reader: OldReader | null = async () => ({ status: 200, body: payment }),
  count: FallbackReads['count'] = () => undefined,
) {
  const subjects: Readonly<Record<string, string>> = { usr_ada: 'sub-ada', usr_bob: 'sub-bob' };
  const fallback = createFallback({
    executor: {
      execute: async ({ context: { caller } }) => ({
        data: { viewer: { subject: subjects[caller.id] ?? null } },
      }),
      subscribe: async () => ({}),
    },
    logger: silentLogger(),
    authMode,
    readers: { media: null, workflow: reader },
    ended: null,
    reads: { count },
  });
  const request = (
    path: string,
    caller: Caller,
    pathParams: Readonly<Record<string, string>>,
    query = '',
  ) => {
    const found = routes.find((one) => one.method === 'GET' && one.path === path);
    if (found === undefined) throw new Error('no such route');
    const context = { caller, signal: new AbortController().signal };
    return {
      route: found,
      pathParams,
      query: new URLSearchParams(query),
      target: path,
      authorization: 'Bearer a credential',
      context,
    };
  };
  return {
    read: async (caller: Caller) =>
      (await fallback.answer(request('/payment/{paymentId}', caller, { paymentId: 'pay-7' })))?.body,
    list: (caller: Caller) =>
      fallback.joined(request('/payment/history', caller, {}, 'userId=sub-ada'), {
        data: { payments: [], total: 0 },
      }),
  };
}

const payment = { data: { id: 'pay-7', userId: 'sub-ada', status: 'completed', ppSessionId: 'cs_1' } };
const history = { data: { payments: [{ id: 'pay-7' }], total: 1 } };
const nothing = { data: { payments: [], total: 0 } };
const user = (id: string): Caller => ({ ...nobody, kind: 'user', id });
const key: Caller = { ...nobody, kind: 'key', id: 'key-1' };

it('shows a payment to whom it belongs and to keys, by the rules of the payments here', async () => {
  const required = paymentsFor('required');
  expect(await required.read(user('usr_ada'))).toEqual(payment);
  expect(await required.read(key)).toEqual(payment);
  for (const other of [user('usr_bob'), nobody]) {
    await expect(required.read(other)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
  const compat = paymentsFor('compat');
  expect(await compat.read(user('usr_ada'))).toEqual(payment);
  expect(await compat.read(user('usr_bob'))).toEqual({ data: { ...payment.data, ppSessionId: null } });
  expect(await paymentsFor('open').read(nobody)).toEqual(payment);
});

it('joins the list of a user for whoever may read it, and has none of somebody else', async () => {
  const listed: OldReader = async () => ({ status: 200, body: history });
  const { list } = paymentsFor('required', listed);
  expect([await list(user('usr_ada')), await list(user('usr_bob'))]).toEqual([history, nothing]);
  expect(await paymentsFor('compat', listed).list(nobody)).toEqual(history);
});

it('answers a list without the old service when that is away or refuses it', async () => {
  const away: OldReader = () => Promise.reject(new AppError('UNAVAILABLE', 'away'));
  const refusing: OldReader = async () => ({ status: 403, body: history });
  for (const reader of [away, refusing, null]) {
    expect(await paymentsFor('open', reader).list(nobody)).toEqual(nothing);
  }
});

it('has nothing where the old service wants a credential of its own, and passes on what it says of one', async () => {
  const counts: string[] = [];
  const wanting: OldReader = async () => ({ status: 401, body: { message: 'sign in' } });
  const { read } = paymentsFor('open', wanting, (_, outcome) => void counts.push(outcome));
  expect(await read(key)).toBeUndefined();
  expect(await read({ ...user('usr_ada'), sessionId: 'session-1' })).toBeUndefined();
  expect(await read(user('usr_ada'))).toEqual({ message: 'sign in' });
  expect(counts).toEqual(['unknown', 'unknown', 'answered']);
});
