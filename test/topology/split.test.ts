import { createServer } from 'node:http';

import OpenAI, { toFile } from 'openai';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { listenOn } from '../../platform/http/server.ts';
import { FOLLOW, followers } from '../kit/clients/followers.ts';
import { graphql, rest, taskEnd, until } from '../kit/clients/requests.ts';
import { extent, isWhole } from '../kit/extent.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { entries, executePoster, expectEveryEvent, storedLog, underWay } from '../subscriptions/following.ts';
import { followResuming } from '../subscriptions/resuming.ts';
import { startWorkerWithoutWakeUps } from './mute-worker.ts';
import { isReady } from './places.ts';
import { startNode } from './processes.ts';
import { submitForm, signInBuyer, type Buyer } from './purchase.ts';
import { startSplitKiln, type Role, type SplitKiln, type SplitOptions } from './split.ts';

let kiln: SplitKiln;
let old: Awaited<ReturnType<typeof startOldService>>;
beforeAll(async () => {
  old = await startOldService();
  // Nothing is paid but by the buttons of the hosted page.
  // In `npm test` media alone is a process of its own, which is killed.
  kiln = await startSplitKiln(
    { SANDBOX_AUTO_PAY: 'false', FALLBACK_MEDIA_URL: old.url },
    extent<SplitOptions>({ processes: ['media'] }, {}),
  );
});
afterAll(async () => {
  old?.stop();
  await kiln?.close();
});
beforeEach(() =>
  kiln.sandbox.latency({ wire: 'midjourney', queuedMs: 100, runningMs: 5_000, progressSteps: 5 }),
);

/** A service that was there before: it knows one task, which has ended. */
async function startOldService() {
  const server = createServer((request, response) => {
    const [name = ''] = request.url?.split('/').slice(-1) ?? [];
    const data = { task_id: name, url: `http://${request.headers.host}/film.mp4` };
    const answer = name === 'old-1' ? { status: true, data } : { status: false, data: null };
    response.end(name === 'film.mp4' ? Buffer.alloc(2_000, 7) : JSON.stringify(answer));
  });
  const { url } = await listenOn(server, '127.0.0.1', 0);
  return { url, stop: () => server.close().closeAllConnections() };
}

describe("OpenAI's API at a gateway alone", () => {
  it('has the bytes of images and files from the media process', async () => {
    await kiln.sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 100 });
    const openai = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${kiln.url}/v1`, maxRetries: 0 });
    const { data } = await openai.images.generate({ model: 'midjourney', prompt: 'a ferry' });
    const bytes = Buffer.from(data?.[0]?.b64_json ?? '', 'base64');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    const file = await toFile(Buffer.from('{}'), 'a.json');
    const { id } = await openai.files.create({ file, purpose: 'user_data' });
    expect(await (await openai.files.content(id)).text()).toBe('{}');
  });
});

describe('a purchase with the payment provider, gateway, subgraphs and worker apart', () => {
  let ada: Buyer;
  beforeAll(async () => {
    ada = await signInBuyer(kiln.url);
  });

  const bought = [
    ['clip', 'video/mp4'],
    ['poster', 'image/png'],
    ['sketch', 'image/png'],
  ] as const;
  it.each(bought.slice(0, extent(1, 3)))(
    'of %s is told by the webhook alone, and the worker finishes what was bought',
    async (code, type) => {
      await kiln.sandbox.latency({ wire: 'midjourney', runningMs: 200 });
      const opened = await ada.checkout(code);
      const { payment, sessionId, url } = opened;
      expect([payment.status, url]).toEqual(['PENDING', `${kiln.sandbox.url}/stripe/pay/${sessionId}`]);
      expect(await ada.comeBack(opened)).toBe('PENDING');
      expect(await submitForm(opened, 'card')).toBe(
        `${kiln.url}/payment/success?session_id=${sessionId}&payment_id=${payment.id}`,
      );
      const { data } = await ada.delivered(payment.id);
      expect(data.payment).toMatchObject({
        status: 'COMPLETED',
        userId: ada.userId,
        execution: { task: { state: 'SUCCEEDED', outputs: [{ contentType: type }] } },
      });
      const file = await fetch(data.payment.execution.task.outputs[0].url);
      expect([file.status, file.headers.get('content-type')]).toEqual([200, type]);
      await file.body?.cancel();
    },
  );

  // In `npm test` test/rest/workflow/purchase.test.ts goes by REST.
  it.runIf(isWhole)(
    'goes by REST alone, and waits where nobody takes the money while the workflow process is away',
    async () => {
      const userId = ada.userId;
      const body = { userId, metadata: { prompt: 'a late ferry' } };
      const { body: answer } = await rest(kiln.url, 'POST', '/payment/checkout/poster', body, ada.headers);
      const { url, paymentId } = answer.data;
      await kiln.end('workflow', 'SIGKILL');
      const success = await whileAway('workflow', async () => {
        const back = (await submitForm({ url }, 'card')) ?? '';
        expect((await fetch(back)).status).toBe(503);
        return back.slice(kiln.url.length);
      });
      const after = await rest(kiln.url, 'GET', success);
      expect(after).toMatchObject({ status: 200, body: { data: { payment: { id: paymentId } } } });
      expect(after.body.data).toMatchObject({ payment: { status: 'completed' }, execution: {} });
      const { data } = await ada.delivered(paymentId);
      const { id } = data.payment.execution;
      expect(after.body.data.execution.executionId).toBe(id);
    },
  );
});

describe('a gateway that reaches both subgraphs over HTTP', () => {
  it('gives every client growing progress, the end, and what the other subgraph joins', async () => {
    const started = await executePoster(kiln.url, 'a ferry');
    const all = Object.values(followers).map((follow) => follow(kiln.url, started));
    for (const { over } of all) expect(await over).toBeNull();
    const log = await storedLog(kiln.url, started.taskId);
    for (const { events } of all) {
      expectEveryEvent(events, started);
      expect(entries(events)).toEqual(log);
    }
    const image = await fetch(all[0]?.events.at(-1)?.task.outputs[0]?.url ?? '');
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  // In `npm test` gateway/federation has streams over one socket, test/subscriptions/vanishing many subscribers of a Kiln.
  it.runIf(isWhole)('carries many subscribers over its one socket to each subgraph', async () => {
    const started = await executePoster(kiln.url, 'a full ferry');
    const all = await Promise.all(Array.from({ length: 150 }, () => openExecution(started.id)));
    const texts = await Promise.all(all.map(({ whole }) => whole));
    const log = await storedLog(kiln.url, started.taskId);
    const expected = [...log.map(({ seq }) => String(seq)), 'complete'].join();
    expect(new Set(texts.map((text) => listIds(text).join()))).toEqual(new Set([expected]));
  });

  const ends = [
    ['gateway', 'SIGTERM'],
    ['media', 'SIGKILL'],
    ['media', 'SIGTERM'],
    ['gateway', 'SIGKILL'],
  ] as const;
  // In `npm test` media is killed below, and clients come back to a Kiln in test/subscriptions/resume.
  it.runIf(isWhole).each(ends)(
    'loses no event when %s is ended by %s and started again',
    async (role, signal) => {
      const started = await executePoster(kiln.url, `a ferry without ${role}, ${signal}`);
      const all = Object.values(followers).map((follow) => followResuming(follow, kiln.url, started));
      await underWay(all);
      await kiln.end(role, signal);
      await kiln.start(role);
      for (const { done } of all) await done;
      const log = await storedLog(kiln.url, started.taskId);
      for (const { events } of all) {
        expectEveryEvent(events, started);
        expect(entries(events)).toEqual(log);
      }
    },
  );

  it('goes on with an execution over a restart of media, also for who comes back by Last-Event-ID', async () => {
    const started = await executePoster(kiln.url, 'a ferry in parts');
    const before = await openExecution(started.id);
    await until(
      async () => before.text(),
      (text) => text.includes('id: 3\n'),
    );
    const seen = listIds(before.text());
    const after = await openExecution(started.id, seen.at(-1));
    await kiln.end('media', 'SIGKILL');
    await kiln.start('media');
    const [whole, rest] = await Promise.all([before.whole, after.whole]);
    const log = await storedLog(kiln.url, started.taskId);
    const all = [...log.map(({ seq }) => String(seq)), 'complete'];
    expect([listIds(whole), [...seen, ...listIds(rest)]]).toEqual([all, all]);
    expect(whole).not.toContain('UNAVAILABLE');
    expect(rest).toContain('"status":"COMPLETED"');
  });

  // In `npm test` gateway/federation has a joined subgraph that is away.
  it.runIf(isWhole)('goes on without what the other subgraph joins while that one is away', async () => {
    const started = await executePoster(kiln.url, 'a ferry alone');
    await kiln.end('workflow', 'SIGKILL');
    const text = await whileAway('workflow', async () => {
      const response = await fetch(`${kiln.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: FOLLOW, variables: { id: started.taskId } }),
      });
      return response.text();
    });
    const results = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''));
    expect(listIds(text).at(-1)).toBe('complete');
    expect(results.at(-1)).toMatchObject({
      data: { taskProgress: { state: 'SUCCEEDED', task: { outputs: [{}], execution: null } } },
      errors: [{ message: expect.stringContaining('workflow'), extensions: { code: 'UNAVAILABLE' } }],
    });
    await until(
      () => graphql(kiln.url, 'query ($id: ID!) { execution(id: $id) { status } }', { id: started.id }),
      ({ data }) => data.execution.status === 'COMPLETED',
    );
  });

  it('serves the documented paths, and files, as if it were one process', async () => {
    await kiln.sandbox.latency({ wire: 'midjourney', runningMs: 200 });
    const submitted = await rest(kiln.url, 'POST', '/api/task/create/task', {
      task_type: 'tea',
      prompt: 'a lighthouse',
    });
    const ended = await taskEnd(kiln.url, submitted.body.data);
    expect(ended.body.status).toBe(true);
    const image = await fetch(ended.body.data.urls[0], { headers: { range: 'bytes=0-7' } });
    expect([image.status, Buffer.from(await image.arrayBuffer()).toString('latin1')]).toEqual([
      206,
      '\x89PNG\r\n\x1a\n',
    ]);
  });

  it('asks an old service for its ids, and answers what has ended when that is gone', async () => {
    const first = await rest(kiln.url, 'GET', '/api/task/status/old-1');
    const { url } = first.body.data;
    expect(url).toContain(`${kiln.url}/files/`);
    old.stop();
    const { body } = await rest(kiln.url, 'GET', '/api/task/status/old-1');
    expect(body).toMatchObject({ status: true, data: { url } });
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(Buffer.alloc(2_000, 7));
  });

  it('hands notices of upstreams on to the process that knows the attempts', async () => {
    const post = (path: string) => fetch(`${kiln.url}${path}`, { method: 'POST', body: '{}' });
    const [unsigned, unknown] = [await post('/hooks/fal?attempt=a&mac=b'), await post('/hooks/nobody')];
    // Both in the words of media: the gateway knows no provider.
    expect([unsigned.status, await unsigned.json()]).toEqual([
      401,
      { error: expect.stringContaining('signed') },
    ]);
    expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'no such provider' }]);
  });

  it.runIf(isWhole)(
    'serves the same for a supergraph file that names the subgraphs, with the documented paths',
    async () => {
      const [port] = await freePorts(1);
      const url = `http://127.0.0.1:${port}`;
      const { INTERNAL_KEY = '', MEDIA_URL = '', WORKFLOW_URL = '' } = kiln.settings;
      const gateway = await startNode(
        'gateway/main.ts',
        ['--role', 'gateway', '--supergraph', await kiln.writeSupergraph()],
        {
          settings: { PORT: String(port), INTERNAL_KEY, MEDIA_URL, WORKFLOW_URL, RATE_LIMIT: 'off' },
          ready: () => isReady(url),
        },
      );
      try {
        const started = await executePoster(url, 'a ferry by file');
        const { events, over } = followers['graphql-ws'](url, started);
        expect(await over).toBeNull();
        expectEveryEvent(events, started);
        const status = await rest(url, 'GET', `/api/task/status/${started.taskId}`);
        expect(status.body).toMatchObject({ status: true, data: { task_id: started.taskId } });
      } finally {
        await gateway.end();
      }
    },
  );
});

describe('wake-ups that get lost', () => {
  // In `npm test` postgres-event-bus.test.ts cuts a listening connection, events.test.ts loses wake-ups of events.
  it.runIf(isWhole)('cost no event when the listening connection is cut again and again', async () => {
    const started = await executePoster(kiln.url, 'a ferry in the dark');
    const { events, over } = followers['graphql-ws'](kiln.url, started);
    let cuts = 0;
    for (const seen of [1, 2, 3, 4]) {
      await until(
        async () => events.length,
        (length) => length >= seen,
      );
      // It comes back after a moment, to be cut again.
      cuts += await until(cutListener, (count) => count > 0);
    }
    expect(await over).toBeNull();
    expect(cuts).toBeGreaterThanOrEqual(4);
    expectEveryEvent(events, started);
    expect(entries(events)).toEqual(await storedLog(kiln.url, started.taskId));
  });

  it.runIf(isWhole)(
    'cost no event, nor the end, when the worker in another process is never heard',
    async () => {
      await kiln.end('worker', 'SIGTERM');
      const worker = await startWorkerWithoutWakeUps(kiln.settings);
      try {
        await kiln.sandbox.latency({ wire: 'midjourney', runningMs: 8_000 });
        const started = await executePoster(kiln.url, 'a silent ferry');
        const all = Object.values(followers).map((follow) => follow(kiln.url, started));
        for (const { over } of all) expect(await over).toBeNull();
        expect(worker.lost()).toBeGreaterThan(3);
        const log = await storedLog(kiln.url, started.taskId);
        for (const { events } of all) {
          expectEveryEvent(events, started);
          expect(entries(events)).toEqual(log);
        }
        await until(
          () => graphql(kiln.url, 'query ($id: ID!) { execution(id: $id) { status } }', { id: started.id }),
          ({ data }) => data.execution.status === 'COMPLETED',
        );
      } finally {
        await worker.stop();
      }
    },
  );
});

/** Does something while a killed part is away; then it is started again, whatever came of that. */
async function whileAway<Value>(role: Role, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } finally {
    await kiln.start(role);
  }
}

/** Ends the connection on which the media process listens, as a failing network would; answers how many there were. */
async function cutListener(): Promise<number> {
  const admin = new Client({ connectionString: kiln.settings['DATABASE_URL'] });
  await admin.connect();
  try {
    const { rowCount } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'kiln media' and (query ilike 'listen %' or query = 'select 1')
         and datname = current_database()`,
    );
    return rowCount ?? 0;
  } finally {
    await admin.end();
  }
}

/** Follows an execution over server-sent events, as it comes over the wire. */
async function openExecution(
  id: string,
  lastEventId?: string,
): Promise<{ text(): string; readonly whole: Promise<string> }> {
  const query = `subscription ($id: ID!) { executionProgress(id: $id) { status progress } }`;
  const search = new URLSearchParams({ query, variables: JSON.stringify({ id }) });
  const { body } = await fetch(`${kiln.url}/graphql?${search.toString()}`, {
    headers: { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) },
  });
  let text = '';
  const whole = (async () => {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    return text;
  })();
  return { text: () => text, whole };
}

function listIds(text: string): string[] {
  return [...text.matchAll(/^id: (\w+)$/gm)].map(([, id]) => id ?? '');
}
