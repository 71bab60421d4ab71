import type { IncomingMessage } from 'node:http';

import { createClient } from 'graphql-ws';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { startTestGateway, until, type TestGateway } from '../server/server-under-test.fixture.ts';
import { createCredentialGuard } from './credential-guard.ts';
import type { Identity } from './credentials.ts';

/** Whatever stays open ends with the credential it was opened with, over each transport. */

const PROGRESS = 'subscription { taskProgress(id: "t1") { seq } }';
const authorization = 'Bearer token-of-ada';

const ada: Identity = { kind: 'user', id: 'usr_ada', scopes: [], sessionId: 'ses_1', expiresAt: null };
let gateway: TestGateway;
/** What the credential stands for now. */
let standsFor: Identity | 'invalid' | 'nobody can be asked';
beforeEach(async () => {
  standsFor = ada;
  gateway = await startTestGateway({
    async resolveCredential() {
      if (standsFor === 'nobody can be asked') throw new Error('the workflow subgraph is away');
      return standsFor;
    },
  });
});
afterEach(() => gateway.close());

/** Opens a stream and answers its text when it is over. */
async function stream(accept: string): Promise<string> {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, authorization },
    body: JSON.stringify({ query: PROGRESS }),
  });
  return answer.text();
}

/** Opens a socket; answers how it was closed, null when its subscription came to its end. */
async function socket(): Promise<unknown> {
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { authorization },
  });
  const { promise, resolve } = Promise.withResolvers<unknown>();
  client.subscribe(
    { query: PROGRESS },
    { next: () => undefined, error: resolve, complete: () => resolve(null) },
  );
  return promise;
}

const transports = {
  'server-sent events': () => stream('text/event-stream'),
  multipart: () => stream('multipart/mixed;subscriptionSpec=1.0, application/json'),
  'a WebSocket': socket,
};
const last = {
  'server-sent events': expect.stringMatching(
    /"code":"UNAUTHENTICATED".*\n\nevent: complete\nid: complete\n/s,
  ),
  multipart: expect.stringMatching(/"payload":null.*"code":"UNAUTHENTICATED".*--graphql--\r\n$/s),
  'a WebSocket': expect.objectContaining({ code: 4403 }),
};

const openAll = (): Promise<Record<string, unknown>> => {
  const all = Object.entries(transports).map(async ([name, open]) => [name, await open()] as const);
  return Promise.all(all).then(Object.fromEntries);
};
const isFollowedBy = (count: number) => until(() => gateway.world.listenerCount() === count);

test('every transport ends when the credential is revoked, and so does what it followed', async () => {
  const over = openAll();
  await isFollowedBy(3);
  standsFor = 'invalid';
  expect(await over).toEqual(last);
  await isFollowedBy(0);
  await until(() => gateway.server.openStreams() === 0);
});

test('every transport ends when the credential stands for somebody else', async () => {
  const over = openAll();
  await isFollowedBy(3);
  standsFor = { ...ada, id: 'usr_ben' };
  expect(await over).toEqual(last);
});

test('every transport ends when the credential expires by itself', async () => {
  standsFor = { ...ada, expiresAt: new Date(Date.now() + 300) };
  expect(await openAll()).toEqual(last);
});

test('every transport goes on while nobody can be asked, to the end of its own events', async () => {
  const over = openAll();
  await isFollowedBy(3);
  standsFor = 'nobody can be asked';
  const looks = () => gateway.lines.filter((line) => line.includes('a credential could not be checked'));
  await until(() => looks().length >= 3);
  gateway.world.advance('t1', 10);
  gateway.world.finish('t1');
  expect(await over).toEqual({
    'server-sent events': expect.stringMatching(/"seq":1.*event: complete/s),
    multipart: expect.stringMatching(/"seq":1.*--graphql--\r\n$/s),
    'a WebSocket': null,
  });
});

test('only known callers are asked about, one question at a time; who has ended is told once and asked about no more', async () => {
  const asked: string[] = [];
  const nobody = anonymousCaller('t', null);
  const guard = createCredentialGuard({
    everyMs: 2,
    logger: silentLogger(),
    callers: {
      async find({ url: name = '' }, options) {
        asked.push(name);
        expect(options).toEqual({ authorization: `Bearer ${name}`, strict: true });
        if (name === 'slow') return new Promise<never>(() => undefined);
        if (name === 'ended') throw new AppError('UNAUTHENTICATED', 'it has ended');
        return { ...nobody, ...ada };
      },
    },
  });
  const ends: string[] = [];
  const watch = (url: string, caller: Caller = { ...nobody, ...ada }) =>
    guard.watch(
      { request: { url, headers: {} } as IncomingMessage, caller, authorization: `Bearer ${url}` },
      () => ends.push(url),
    );
  const stops = [watch('nobody', nobody), watch('ended'), watch('slow'), watch('open')];
  const looks = (name: string) => asked.filter((one) => one === name).length;
  await until(() => looks('open') >= 5);
  expect([ends, looks('nobody'), looks('ended'), looks('slow')]).toEqual([['ended'], 0, 1, 1]);
  for (const stop of stops) stop();
  const before = looks('open');
  const stop = watch('other');
  await until(() => looks('other') >= 3);
  stop();
  expect(looks('open') - before).toBe(0);
});
