import { createServer, type ServerResponse } from 'node:http';

import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { listenOn } from '../../platform/http/server.ts';
import { followers } from '../kit/clients/followers.ts';
import { graphql, until } from '../kit/clients/requests.ts';
import { extent } from '../kit/extent.ts';
import { executePoster, expectEveryEvent, underWay } from '../subscriptions/following.ts';
import { signInBuyer, submitForm, type Buyer } from './purchase.ts';
import { startSplitKiln, type SplitKiln } from './split.ts';

/** Restarts behind the gateway, of which those who follow over it are told nothing: their streams go on by themselves. */

let kiln: SplitKiln;
let model: Awaited<ReturnType<typeof startModel>>;
let ada: Buyer;
beforeAll(async () => {
  model = await startModel();
  kiln = await startSplitKiln({
    SANDBOX_AUTO_PAY: 'false',
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: model.url,
    REST_AUTH: 'open',
    // The model never ends its chats: a planned stop does not wait long for them.
    WORKER_GRACE_SECONDS: '3',
  });
  ada = await signInBuyer(kiln.url);
  await kiln.sandbox.latency({ wire: 'midjourney', queuedMs: 100, runningMs: 5_000, progressSteps: 5 });
});
afterAll(async () => {
  await kiln?.close();
  model?.stop();
});

/** A language model that says what the test says. */
async function startModel() {
  const answers: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    answers.push(response);
  });
  const { url } = await listenOn(server, '127.0.0.1', 0);
  const say = (content: string, finish_reason: string | null = null): void => {
    const choices = [{ index: 0, delta: { content }, finish_reason }];
    const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'slow-1', choices };
    answers.at(-1)?.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  return { url, say, asked: () => answers.length, stop: () => server.close().closeAllConnections() };
}

type Result = Record<string, unknown>;

interface Followed {
  /** The root field of each result, in their order. */
  readonly seen: Result[];
  /** Errors in results, and what ended the connection. */
  readonly faults: unknown[];
  /** Resolves at the end. */
  readonly over: Promise<void>;
  leave(): void;
}

/** Follows over a WebSocket that never comes back by itself. */
function overWebSocket(query: string, variables: Result, credential: Result = {}): Followed {
  const client = createClient({
    url: `${kiln.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: credential,
  });
  const [seen, faults]: [Result[], unknown[]] = [[], []];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const leave = client.subscribe<Record<string, Result>>(
    { query, variables },
    {
      next({ data, errors }) {
        if (errors !== undefined) faults.push(...errors);
        seen.push(...Object.values(data ?? {}));
      },
      error(thrown) {
        faults.push(thrown);
        resolve();
      },
      complete: resolve,
    },
  );
  void over.then(() => client.dispose());
  return { seen, faults, over, leave };
}

/** The same as one response of server-sent events. */
function overEvents(query: string, variables: Result): Followed {
  const [seen, faults]: [Result[], unknown[]] = [[], []];
  const leaving = new AbortController();
  const over = (async () => {
    const response = await fetch(`${kiln.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables }),
      signal: leaving.signal,
    });
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines.filter((one) => one.startsWith('data: {'))) {
        const { data, errors = [] } = JSON.parse(line.slice(6));
        faults.push(...errors);
        seen.push(...Object.values<Result>(data ?? {}));
      }
    }
  })();
  return { seen, faults, over, leave: () => leaving.abort() };
}

const OWN = 'subscription { tasksProgress { seq state at task { id } } }';
const EXECUTION = 'subscription ($id: ID!) { executionProgress(id: $id) { seq status progress } }';
const PAYMENT = 'subscription ($id: ID!) { paymentUpdated(id: $id) { status } }';
const CHAT = `subscription ($input: ChatInput!, $key: String!) {
  chatStream(input: $input, idempotencyKey: $key) { seq delta reply { text } error { code } }
}`;
const START = 'mutation { generateImage(input: { generator: "imga", prompt: "a quay" }) { id } }';

const signals = extent(['SIGKILL'] as const, ['SIGKILL', 'SIGTERM'] as const);
describe.each(signals)('a restart of media by %s', (signal) => {
  it('is nothing to who follows tasks and executions over any transport', async () => {
    const started = await executePoster(kiln.url, `a quay, ${signal}`);
    const tasks = Object.values(followers).map((follow) => follow(kiln.url, started));
    const executions = [overWebSocket, overEvents].map((follow) => follow(EXECUTION, { id: started.id }));
    const own = overWebSocket(OWN, {}, ada.headers);
    const { data } = await graphql(kiln.url, START, {}, ada.headers);
    await underWay(tasks);
    await until(
      async () => own.seen.length,
      (count) => count >= 2,
    );
    await kiln.end('media', signal);
    await kiln.start('media');
    for (const { over, events } of tasks) {
      expect(await over).toBeNull();
      expectEveryEvent(events, started);
    }
    for (const { over, seen, faults } of executions) {
      await over;
      expect(faults).toEqual([]);
      expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
      expect(seen.at(-1)).toMatchObject({ status: 'COMPLETED' });
    }
    await until(
      async () => own.seen.at(-1),
      (last) => last?.['state'] === 'SUCCEEDED',
    );
    own.leave();
    expect(own.faults).toEqual([]);
    // The stream begins with the newest entry of a task, which may be its second already.
    const first = Number(own.seen[0]?.['seq']);
    expect(own.seen.map(({ seq }) => seq)).toEqual(own.seen.map((_, index) => first + index));
    expect(new Set(own.seen.map(({ task }) => (task as Result)['id']))).toEqual(
      new Set([data.generateImage.id]),
    );
  });

  it('ends a chat that ran there by its last piece, over a stream that stays', async () => {
    const asked = model.asked();
    const messages = [{ role: 'user', content: 'Slowly, please.' }];
    const variables = { input: { generator: 'llm', messages }, key: `slow ${signal}` };
    const all = [overWebSocket, overEvents].map((follow) => follow(CHAT, variables));
    await until(
      async () => model.asked(),
      (count) => count === asked + 1,
    );
    model.say('Once ');
    for (const { seen } of all)
      await until(
        async () => seen.length,
        (count) => count === 1,
      );
    await kiln.end('media', signal);
    await kiln.start('media');
    for (const { over, seen, faults } of all) {
      await over;
      expect(faults).toEqual([]);
      expect(seen).toMatchObject([
        { seq: 1, delta: 'Once ' },
        // Nobody knows whether it was paid for.
        { seq: 2, delta: '', reply: null, error: { code: 'START_UNKNOWN' } },
      ]);
    }
    expect(model.asked()).toBe(asked + 1);
  });
});

it('a restart of workflow is nothing to who waits for a payment, and is told once each time that it changes', async () => {
  const opened = await ada.checkout('poster');
  const own = overWebSocket(PAYMENT, { id: opened.payment.id }, ada.headers);
  await until(
    async () => own.seen.length,
    (count) => count === 1,
  );
  await kiln.end('workflow', 'SIGKILL');
  await kiln.start('workflow');
  await submitForm(opened, 'card');
  await until(
    async () => own.seen.at(-1),
    (last) => last?.['status'] === 'COMPLETED',
  );
  own.leave();
  expect(own.faults).toEqual([]);
  const told = own.seen.map(({ status }) => status);
  expect(told).toEqual([...new Set(told)]);
});

it('all these restarts of media were a line of the log each, not one for every stream', () => {
  const lines = kiln.output('gateway').split('\n');
  const lost = lines.filter((line) => line.includes('subscriptions lost the connection'));
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThanOrEqual(5);
});
