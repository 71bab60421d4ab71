import { expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { sections } from '../../rest-compat/tables.ts';
import { createFallback } from './fallback.ts';
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
