import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  createKiln,
  isEnded,
  type Kiln,
  KilnError,
  type TaskProgress,
  verifyWebhook,
} from '../../clients/typescript/src/index.ts';
import { createSocket } from '../../clients/typescript/src/socket.ts';
import { startReceiver, type Receiver } from '../../subgraphs/media/webhooks/receiver.fixture.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { type BreakingLine, startBreakingLine } from './breaking-line.ts';
import { startEndingStream } from './ending-stream.ts';

/** @kiln/client against a whole Kiln, over sockets that break. */

const SECRET = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`;
const KEY = 'secret-of-the-client';
const IMAGE = { generator: 'imga', prompt: 'a lighthouse at dawn' } as const;

let server: KilnUnderTest;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startKiln({
    settings: {
      OUTBOUND_ALLOW: receiver.host,
      WEBHOOK_SECRET: SECRET,
      SERVICE_KEYS: `client=${createHash('sha256').update(KEY).digest('hex')}`,
    },
  });
});
afterAll(async () => {
  await server?.close();
  await receiver?.close();
});

/** Each test has a line and a client of its own, so that those that wait for a task do so at the same time. */
const it = test.extend<{ readonly line: BreakingLine; readonly kiln: Kiln }>({
  // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern
  line: async ({}, use) => {
    const line = await startBreakingLine(server.url);
    await use(line);
    await line.stop();
  },
  kiln: ({ line }, use) => use(createKiln({ url: line.url, key: KEY })),
});

async function collect(events: AsyncIterable<TaskProgress>): Promise<TaskProgress[]> {
  const list: TaskProgress[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** What a call is refused with. */
async function refusal(work: Promise<unknown>): Promise<KilnError> {
  const error = await work.then(
    () => new Error('it was not refused'),
    (error: unknown) => error,
  );
  if (error instanceof KilnError) return error;
  throw error;
}

describe('a task', () => {
  // Whoever starts next is refused: alone, before all others.
  it('throws the code of its failure', async ({ kiln }) => {
    await server.control('faults', {
      wire: 'midjourney',
      operation: 'imagine',
      fault: 'moderation',
      times: 1,
    });
    const { id } = await kiln.generate('image', IMAGE);
    const error = await refusal(kiln.result(id));
    expect(error).toMatchObject({ code: 'MODERATION_REFUSED', task: { id, state: 'FAILED' } });
  });

  it.concurrent('is started, followed to its end, and has its result', async ({ kiln }) => {
    const { id, state } = await kiln.generate('image', IMAGE);
    expect(state).toBe('QUEUED');
    const events = await collect(kiln.follow(id));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ state: 'SUCCEEDED', progress: 100 });
    const { outputs } = await kiln.result(id);
    expect(outputs).toMatchObject([{ contentType: 'image/png' }]);
  });

  it.concurrent('is followed on where the connection broke, each event once', async ({ line, kiln }) => {
    const { id } = await kiln.generate('image', IMAGE);
    line.cutAfter('"seq":2,', 1);
    const events = await collect(kiln.follow(id));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(isEnded(events.at(-1)?.task ?? { state: 'QUEUED' })).toBe(true);
  });

  it.concurrent('is started once when the answer to its start is lost', async ({ line, kiln }) => {
    line.cutInPlaceOfAnswer('answered twice');
    const task = await kiln.generate('image', { ...IMAGE, prompt: 'answered twice' });
    const { tasks } = await kiln.tasks({ filter: { text: 'answered twice' } });
    expect(tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it.concurrent('is the same for the same key, and refused for other input', async ({ kiln }) => {
    const idempotencyKey = crypto.randomUUID();
    const [first, second] = [
      await kiln.generate('image', IMAGE, { idempotencyKey }),
      await kiln.generate('image', IMAGE, { idempotencyKey }),
    ];
    expect(second.id).toBe(first.id);
    const other = kiln.generate('image', { ...IMAGE, prompt: 'another' }, { idempotencyKey });
    expect(await refusal(other)).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it.concurrent('takes its arguments one by one where it has no input type', async ({ kiln }) => {
    const made = await kiln.result((await kiln.generate('image', IMAGE)).id);
    const image = { fileId: made.outputs[0]?.id };
    const { id } = await kiln.generate('description', { generator: 'imga', image });
    const { result } = await kiln.result(id);
    expect(result).toMatchObject({ __typename: 'Description', prompts: expect.any(Array) });
  });

  it.concurrent('throws CANCELLED when it was cancelled', async ({ kiln }) => {
    const { id } = await kiln.generate('image', IMAGE);
    await kiln.cancel(id);
    const error = await refusal(kiln.result(id));
    expect(error).toMatchObject({ code: 'CANCELLED', task: { id, state: 'CANCELLED' } });
  });
});

// Alone: it looks at the tasks that came last.
it('lists tasks in pages', async ({ kiln }) => {
  const ids = [];
  for (let count = 0; count < 3; count++) ids.push((await kiln.generate('image', IMAGE)).id);
  const first = await kiln.tasks({ first: 2 });
  const second = await kiln.tasks({ first: 1, after: first.endCursor ?? '' });
  expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(ids.toReversed());
});

describe.concurrent('all tasks', () => {
  it('are followed as one stream, which goes on where it broke', async ({ line, kiln, expect }) => {
    const seen: string[] = [];
    const controller = new AbortController();
    let isCut = false;
    const following = (async () => {
      for await (const { seq, task } of kiln.followAll({ signal: controller.signal })) {
        seen.push(`${task.id} ${seq}`);
        if (seq === 1 && isCut) line.cutAfter('"seq":2,');
      }
    })();
    // Whoever begins to follow sees what comes from then on: until something has come, nobody follows yet.
    while (seen.length === 0) await kiln.result((await kiln.generate('image', IMAGE)).id);
    isCut = true;
    const tasks = await Promise.all([1, 2].map(() => kiln.generate('image', IMAGE)));
    const ends = await Promise.all(tasks.map(({ id }) => kiln.result(id)));
    const wanted = ends.flatMap(({ id, lastSeq }) =>
      Array.from({ length: lastSeq }, (_, at) => `${id} ${at + 1}`),
    );
    const own = () => seen.filter((one) => tasks.some(({ id }) => one.startsWith(id))).toSorted();
    await expect.poll(own).toEqual(wanted.toSorted());
    controller.abort(new Error('seen enough'));
    await expect(following).rejects.toThrow('seen enough');
  });
});

describe.concurrent('one socket', () => {
  const over = (line: BreakingLine, key: string | (() => string), states: string[] = []) => {
    const on = {
      opened: () => void states.push('opened'),
      lost: () => void states.push('lost'),
      ended: () => void states.push('ended'),
    };
    const socket = createSocket({ url: `${line.url.replace('http', 'ws')}/graphql`, key, on });
    return { socket, client: createKiln({ url: line.url, key, socket }) };
  };

  it('follows everything, and each goes on where the connection broke', async ({ line, expect }) => {
    const states: string[] = [];
    // The others mind no latency.
    await server.control('latency', { queuedMs: 0, runningMs: 1_000 });
    const { socket, client } = over(line, KEY, states);
    const tasks = await Promise.all([1, 2, 3].map(() => client.generate('image', IMAGE)));
    let cuts = 0;
    const followed = async (id: string) => {
      const list: TaskProgress[] = [];
      for await (const event of client.follow(id)) {
        list.push(event);
        if (event.seq === 2 && (cuts += 1) === 1) line.cut();
      }
      return list;
    };
    const lists = await Promise.all(tasks.map(({ id }) => followed(id)));
    for (const list of lists) {
      expect(list.map(({ seq }) => seq)).toEqual(list.map((_, index) => index + 1));
      expect(isEnded(list.at(-1)?.task ?? { state: 'QUEUED' })).toBe(true);
    }
    await server.control('latency', { queuedMs: 0, runningMs: 0 });
    expect(states).toEqual(['opened', 'lost', 'opened']);
    await socket.close();
    await expect.poll(() => states.at(-1)).toBe('ended');
  });

  it('goes on with the credential of then when it is opened again', async ({ line, kiln }) => {
    const asked: string[] = [];
    const { socket, client } = over(line, () => {
      asked.push(KEY);
      return KEY;
    });
    const { id } = await kiln.generate('image', IMAGE);
    const seen: number[] = [];
    for await (const { seq } of client.follow(id)) {
      seen.push(seq);
      if (seq === 1) socket.restart();
    }
    expect(seen).toEqual(seen.map((_, index) => index + 1));
    expect(asked.length).toBe(2);
    await socket.close();
  });

  it('is not lost when it is restarted, also while nothing is followed', async ({ line, kiln, expect }) => {
    const states: string[] = [];
    const { socket, client } = over(line, KEY, states);
    const { id } = await kiln.generate('image', IMAGE);
    await collect(client.follow(id));
    socket.restart();
    await expect.poll(() => states).toEqual(['opened', 'ended']);
    await collect(client.follow(id));
    expect(states).toEqual(['opened', 'ended', 'opened']);
    await socket.close();
  });

  it('says that the credential is refused, that there is no such task, and the reason of a signal', async ({
    line,
    kiln,
  }) => {
    const refused = over(line, 'kiln_forged');
    const { id } = await kiln.generate('image', IMAGE);
    expect(await refusal(collect(refused.client.follow(id)))).toMatchObject({ code: 'UNAUTHENTICATED' });
    await refused.socket.close();
    const { socket, client } = over(line, KEY);
    expect(await refusal(collect(client.follow(crypto.randomUUID())))).toMatchObject({ code: 'NOT_FOUND' });
    const controller = new AbortController();
    const following = collect(client.followAll({ signal: controller.signal }));
    controller.abort(new Error('seen enough'));
    await expect(following).rejects.toThrow('seen enough');
    await socket.close();
  });
});

describe.concurrent('a refused call', () => {
  it('says which input is wrong', async ({ kiln }) => {
    const error = await refusal(kiln.generate('image', { generator: 'imga', prompt: '' }));
    expect(error).toMatchObject({ name: 'KilnError', code: 'BAD_USER_INPUT', field: 'prompt' });
  });

  it('says that there is no such task, also when it is followed', async ({ kiln }) => {
    const id = '01a201f1-917f-7793-a864-b9a7e64fc940';
    expect(await refusal(kiln.task(id))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusal(collect(kiln.follow(id)))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('says that the credential is refused', async () => {
    const stranger = createKiln({ url: server.url, key: () => 'kiln_sk_wrong' });
    expect(await refusal(stranger.tasks())).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('says that nobody answers, with the cause', async () => {
    const nobody = createKiln({ url: 'http://127.0.0.1:9', retries: 0 });
    const error = await refusal(nobody.generate('image', IMAGE));
    expect(error).toMatchObject({ code: 'UNREACHABLE', cause: expect.any(Error) });
  });

  it('says that what answers is no Kiln', async () => {
    const other = createKiln({ url: receiver.url, retries: 0 });
    expect(await refusal(other.tasks())).toMatchObject({ code: 'BAD_ANSWER' });
  });

  it('throws the reason of its signal', async ({ kiln }) => {
    const signal = AbortSignal.abort(new Error('changed my mind'));
    await expect(kiln.generate('image', IMAGE, { signal })).rejects.toThrow('changed my mind');
  });

  it.for(['SUBSCRIPTION_SCHEMA_RELOAD', 'INTERNAL'])(
    'is no end of what is followed where its server says %s',
    async (code, { expect }) => {
      const gateway = await startEndingStream(code);
      const events = await collect(createKiln({ url: gateway.url }).follow('x'));
      gateway.stop();
      expect(events.map(({ seq }) => seq)).toEqual([1, 2]);
      expect(gateway.asked).toEqual([{ id: 'x' }, { id: 'x', afterSeq: 1 }]);
    },
  );

  it('ends a stream that says nothing for too long', async () => {
    const impatient = createKiln({ url: server.url, timeoutMs: 1, retries: 0 });
    const error = await refusal(collect(impatient.followAll()));
    expect(error).toMatchObject({ code: 'UNREACHABLE' });
  });
});

describe.concurrent('an upload', () => {
  it('tells its progress, and is an input of further work', async ({ kiln }) => {
    const bytes = await readFile(path.join(import.meta.dirname, '../kit/samples/image.png'));
    const shares: number[] = [];
    const file = await kiln.upload(new Blob([bytes], { type: 'image/png' }), {
      name: 'a "quoted" name.png',
      onProgress: (share) => shares.push(share),
    });
    expect(file).toMatchObject({ contentType: 'image/png', bytes: bytes.length });
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    const { id } = await kiln.generate('image', { ...IMAGE, images: [{ fileId: file.id }] });
    await expect(kiln.result(id)).resolves.toMatchObject({ state: 'SUCCEEDED' });
  });
});

describe.concurrent('a webhook', () => {
  it('is checked by its signature', async ({ kiln, expect }) => {
    const { id } = await kiln.generate('image', IMAGE, { callbackUrl: receiver.url });
    await kiln.result(id);
    const signed = () => receiver.received.find(({ headers }) => headers['webhook-id'] !== undefined);
    await expect.poll(signed).toBeDefined();
    const message = signed();
    if (message === undefined) throw new Error('no webhook');
    const received = { body: message.body, headers: message.headers, secret: SECRET };
    await expect(verifyWebhook(received)).resolves.toMatchObject({
      type: 'task.succeeded',
      data: { id, outputs: [{ contentType: 'image/png' }] },
    });
    const headers = new Headers(message.headers as Record<string, string>);
    await expect(verifyWebhook({ ...received, headers })).resolves.toMatchObject({ data: { id } });
    const forged = { ...received, body: message.body.replace('SUCCEEDED', 'FAILED') };
    expect(await refusal(verifyWebhook(forged))).toMatchObject({ code: 'BAD_SIGNATURE' });
    const old = { ...received, headers: { ...message.headers, 'webhook-timestamp': '1700000000' } };
    expect(await refusal(verifyWebhook(old))).toMatchObject({ code: 'BAD_SIGNATURE' });
  });
});

describe.concurrent('a chat', () => {
  it('comes in pieces, and whole at the end', async ({ kiln }) => {
    const input = { generator: 'llm', conversation: [{ role: 'USER', text: 'Name a colour.' }] } as const;
    let text = '';
    let whole: string | undefined;
    for await (const { delta, reply } of kiln.chat(input)) {
      text += delta;
      whole = reply?.text;
    }
    expect(text).not.toBe('');
    expect(whole).toBe(text);
  });
});
