import { createHash } from 'node:crypto';

import OpenAI, { APIError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Receiver, startReceiver } from '../../../subgraphs/media/webhooks/receiver.fixture.ts';
import { graphql, until } from '../../../test/kit/clients/requests.ts';
import { isWhole } from '../../../test/kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../../../test/kit/kiln.ts';

/** Batches by OpenAI's own SDK against a whole Kiln. */

let kiln: KilnUnderTest;
let anna: OpenAI;
let boris: OpenAI;
let receiver: Receiver;
beforeAll(async () => {
  const secrets = { anna: 'secret-of-anna', boris: 'secret-of-boris' };
  const keys = Object.entries(secrets).map(
    ([name, secret]) => `${name}=${createHash('sha256').update(secret).digest('hex')}`,
  );
  receiver = await startReceiver();
  kiln = await startKiln({
    isQuick: true,
    settings: { SERVICE_KEYS: keys.join(','), REST_AUTH: 'required', OUTBOUND_ALLOW: receiver.host },
  });
  [anna, boris] = [createClient(secrets.anna), createClient(secrets.boris)];
  const made = await graphql(
    kiln.url,
    'mutation ($url: String!) { createWebhookEndpoint(url: $url, eventTypes: ["batch.*"]) { endpoint { id } } }',
    { url: receiver.url },
    { authorization: `Bearer ${secrets.anna}` },
  );
  if (made.errors !== undefined) throw new Error(JSON.stringify(made.errors));
});
afterAll(async () => {
  await kiln?.close();
  await receiver?.close();
});

const createClient = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${kiln.url}/v1`, maxRetries: 0 });

/** A caller whose key has these scopes alone. */
async function createLimited(scopes: readonly string[]): Promise<OpenAI> {
  const { data } = await graphql(
    kiln.url,
    'mutation ($scopes: [String!]!) { createServiceKey(name: "limited", scopes: $scopes) { secret } }',
    { scopes },
    { authorization: 'Bearer secret-of-anna' },
  );
  return createClient((data as { createServiceKey: { secret: string } }).createServiceKey.secret);
}

type Endpoint = OpenAI.BatchCreateParams['endpoint'];

const writeLine = (name: string, url: Endpoint, body: object) =>
  JSON.stringify({ custom_id: name, method: 'POST', url, body });

async function begin(endpoint: Endpoint, text: string, client = anna): Promise<OpenAI.Batch> {
  const file = await toFile(Buffer.from(text), 'input.jsonl', { type: 'application/jsonl' });
  const { id } = await client.files.create({ file, purpose: 'batch' });
  return client.batches.create({
    input_file_id: id,
    endpoint,
    completion_window: '24h',
    metadata: { of: 'anna' },
  });
}

async function ended(id: string): Promise<OpenAI.Batch> {
  const ends = ['completed', 'failed', 'cancelled'];
  return until(
    () => anna.batches.retrieve(id),
    ({ status }) => ends.includes(status),
    60_000,
  );
}

/** What the operator's endpoint was told of a batch. */
async function readEvent(id: string) {
  const all = await until(
    async () =>
      receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: { id: string } }),
    (events) => events.some(({ data }) => data.id === id),
  );
  return all.filter(({ data }) => data.id === id);
}

interface Result {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: Record<string, unknown> };
}

async function readResults(file: string | undefined | null): Promise<Record<string, Result['response']>> {
  const text = await (await anna.files.content(file ?? '')).text();
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
  return Object.fromEntries(lines.map(({ custom_id: name, response }) => [name, response]));
}

const IMAGES = '/v1/images/generations';

/** The tier of each chat that OpenAI and Google were asked for. */
async function tiers(): Promise<unknown[]> {
  const answer = await fetch(`${kiln.sandboxUrl}/_control/requests`);
  const all = (await answer.json()) as {
    path: string;
    body: { service_tier?: string; serviceTier?: string };
  }[];
  const chats = all.filter(({ path }) => /chat\/completions|generateContent/i.test(path));
  return chats.map(({ body }) => body.service_tier ?? body.serviceTier);
}

interface VendorBatch {
  readonly status: string;
  readonly request_counts: { readonly total: number };
}

/** OpenAI's own batches, the newest first. */
async function vendorBatches(): Promise<readonly VendorBatch[]> {
  const answer = await fetch(`${kiln.sandboxUrl}/openai/v1/batches`, {
    headers: { authorization: 'Bearer sandbox' },
  });
  return ((await answer.json()) as { readonly data: readonly VendorBatch[] }).data;
}

const vendorStates = async () => (await vendorBatches()).map(({ status }) => status);

interface TaskOfAnna {
  readonly cost: { readonly amount: number };
  readonly attempts: readonly { readonly state: string; readonly error: { readonly code: string } | null }[];
}

/** Her tasks of images by OpenAI, the newest first. */
async function tasksOfAnna(): Promise<readonly TaskOfAnna[]> {
  const asked =
    'query { tasks { edges { node { model cost { amount } attempts { state error { code } } } } } }';
  const { data } = await graphql(kiln.url, asked, {}, { authorization: 'Bearer secret-of-anna' });
  const { edges } = (data as { tasks: { edges: { node: TaskOfAnna & { model: string } }[] } }).tasks;
  return edges.map(({ node }) => node).filter(({ model }) => model === 'gpt-image-2');
}

describe('a batch', () => {
  it('makes every image of a file, and tells those that can not be made apart', async () => {
    const lines = ['a', 'b', 'c'].map((name) =>
      writeLine(name, IMAGES, { model: 'gpt-image-2', prompt: `fox ${name}` }),
    );
    const wrong = writeLine('wrong', IMAGES, { model: 'no-such-model', prompt: 'x' });
    const begun = await begin(IMAGES, `${[...lines, wrong].join('\n')}\n`);
    expect(begun).toMatchObject({ object: 'batch', status: 'validating', metadata: { of: 'anna' } });
    const batch = await ended(begun.id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 4, completed: 3, failed: 1 },
      completed_at: expect.any(Number),
    });
    expect(await readEvent(batch.id)).toEqual([
      {
        id: batch.id.replace('batch_', 'evt_'),
        object: 'event',
        created_at: batch.completed_at,
        timestamp: expect.any(String),
        type: 'batch.completed',
        data: { id: batch.id },
      },
    ]);
    const made = await readResults(batch.output_file_id);
    expect(Object.keys(made)).toEqual(['a', 'b', 'c']);
    expect((await vendorBatches()).map(({ request_counts: { total } }) => total)).toEqual([3]);
    const ofBatch = await tasksOfAnna();
    const usual = await anna.images
      .generate({ model: 'gpt-image-2', prompt: 'fox a', response_format: 'url' })
      .asResponse();
    const price = Number.parseFloat(usual.headers.get('x-kiln-cost') ?? '');
    expect(price).toBeGreaterThan(0);
    expect(ofBatch.map(({ cost }) => cost.amount)).toEqual([price / 2, price / 2, price / 2]);
    const body = made['a']?.body as { readonly data: readonly { readonly url: string }[] } | undefined;
    expect((await fetch(body?.data[0]?.url ?? '')).status).toBe(200);
    const refused = await readResults(batch.error_file_id);
    expect(refused['wrong']).toMatchObject({
      status_code: 404,
      body: { error: { code: 'model_not_found' } },
    });
  });

  it('has chats and finished videos', async () => {
    const chat = await begin(
      '/v1/chat/completions',
      ['gpt-6-luna', 'gemini-3.8-flash']
        .map((model) =>
          writeLine(model, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }),
        )
        .join('\n'),
    );
    const said = await readResults((await ended(chat.id)).output_file_id);
    for (const model of ['gpt-6-luna', 'gemini-3.8-flash']) {
      expect(said[model]?.body['choices']).toMatchObject([{ message: { role: 'assistant' } }]);
    }
    expect(await tiers()).toEqual(['flex', 'flex']);
    await kiln.control('faults', { wire: 'minimax', operation: 'video', fault: 'late-moderation', times: 1 });
    const video = await begin(
      '/v1/videos',
      [
        writeLine('sea', '/v1/videos', { model: 'kling-v2-5-turbo', prompt: 'the sea', seconds: '5' }),
        writeLine('refused', '/v1/videos', { model: 'MiniMax-Hailuo-02', prompt: 'a refused sea' }),
      ].join('\n'),
    );
    const films = await ended(video.id);
    const filmed = await readResults(films.output_file_id);
    expect(filmed['sea']?.body).toMatchObject({ object: 'video', status: 'completed' });
    const failed = { status_code: 500, body: { status: 'failed', error: { code: 'moderation_blocked' } } };
    expect(await readResults(films.error_file_id)).toMatchObject({ refused: failed });
  });

  it('tries a call again that is refused for a while, and is read in pages', async () => {
    await fetch(`${kiln.sandboxUrl}/_control`, { method: 'DELETE' });
    await kiln.control('faults', { wire: 'openai', operation: 'chat', fault: 'rate-limited', retryAfter: 1 });
    const path = '/v1/chat/completions';
    const chat = {
      model: 'gpt-6-luna',
      messages: [{ role: 'user', content: 'hi' }],
      service_tier: 'default',
    };
    const patient = await begin(path, writeLine('patient', path, chat));
    const wrong = Array.from({ length: 501 }, (_, index) => writeLine(`n${index}`, '/v1/videos', {}));
    const many = await begin('/v1/videos', wrong.join('\n'));
    expect((await ended(patient.id)).request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    expect(await tiers()).toEqual(['default', 'default']);
    const batch = await ended(many.id);
    expect(batch.request_counts).toEqual({ total: 501, completed: 0, failed: 501 });
    const results = Object.entries(await readResults(batch.error_file_id));
    expect(results.map(([name]) => name)).toEqual(wrong.map((_, index) => `n${index}`));
    expect(new Set(results.map(([, { status_code: status }]) => status))).toEqual(new Set([400]));
  });

  it('pays the usual price of a chat that names it, and where there is no room at half of it', async () => {
    await fetch(`${kiln.sandboxUrl}/_control`, { method: 'DELETE' });
    const path = '/v1/chat/completions';
    const chat = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'hi' }] };
    const named = writeLine('named', path, { ...chat, service_tier: 'default' });
    expect((await ended((await begin(path, named)).id)).request_counts?.completed).toBe(1);
    expect(await tiers()).toEqual(['default']);
    // Ten pauses of a second.
    if (!isWhole) return;
    await kiln.control('faults', { wire: 'openai', operation: 'chat', fault: 'rate-limited', times: 11 });
    expect(
      (await ended((await begin(path, writeLine('full', path, chat))).id)).request_counts?.completed,
    ).toBe(1);
    expect(await tiers()).toEqual(['default', ...Array.from({ length: 11 }, () => 'flex'), undefined]);
  });

  it('fails with the lines at fault when its file is none', async () => {
    const same = writeLine('a', IMAGES, { prompt: 'x' });
    const text = [
      same,
      same,
      '{',
      writeLine('b', '/v1/videos', {}),
      writeLine('c', IMAGES, { stream: true }),
      '',
      writeLine('', IMAGES, {}),
      JSON.stringify({ custom_id: 'd', method: 'GET', url: IMAGES, body: {} }),
      JSON.stringify({ custom_id: 'e', method: 'POST', url: IMAGES }),
      writeLine('f', IMAGES, { response_format: 'b64_json' }),
      `"${'x'.repeat(1 << 20)}"`,
    ].join('\n');
    const batch = await ended((await begin(IMAGES, text)).id);
    expect(batch.status).toBe('failed');
    expect(await readEvent(batch.id)).toMatchObject([{ type: 'batch.failed' }]);
    expect(batch.errors?.data?.map(({ code, line }) => [line, code])).toEqual([
      [2, 'duplicate_custom_id'],
      [3, 'invalid_json_line'],
      [4, 'mismatched_endpoint'],
      [5, 'invalid_request'],
      [7, 'missing_required_parameter'],
      [8, 'invalid_method'],
      [9, 'missing_required_parameter'],
      [10, 'invalid_request'],
      [11, 'invalid_json_line'],
    ]);
    const nothing = await ended((await begin(IMAGES, '\n')).id);
    expect(nothing).toMatchObject({ status: 'failed', errors: { data: [{ code: 'empty_file' }] } });
  });

  it('begins nothing more once it is cancelled, and keeps what was made', async () => {
    await kiln.control('latency', { wire: 'midjourney', runningMs: 400 });
    const lines = Array.from({ length: 60 }, (_, index) =>
      writeLine(`n${index}`, IMAGES, { model: 'midjourney', prompt: `number ${index}` }),
    );
    const { id } = await begin(IMAGES, lines.join('\n'));
    await until(
      () => anna.batches.retrieve(id),
      ({ request_counts: counts }) => (counts?.completed ?? 0) > 0,
      60_000,
    );
    expect((await anna.batches.cancel(id)).status).toBe('cancelling');
    const batch = await ended(id);
    expect(batch.status).toBe('cancelled');
    expect(await readEvent(batch.id)).toMatchObject([{ type: 'batch.cancelled' }]);
    expect(batch.request_counts?.completed).toBeLessThan(60);
    expect(await anna.batches.cancel(id)).toEqual(batch);
    expect(Object.keys(await readResults(batch.output_file_id))).toHaveLength(
      batch.request_counts?.completed ?? 0,
    );
    await kiln.control('latency', { wire: 'midjourney', runningMs: 0 });
  });

  it.runIf(isWhole)('makes what its vendor leaves out of a batch at the usual price', async () => {
    await kiln.control('faults', { wire: 'openai', operation: 'batches', fault: 'upstream-error' });
    const line = writeLine('fox', IMAGES, { model: 'gpt-image-2', prompt: 'a fox' });
    const batch = await ended((await begin(IMAGES, line)).id);
    expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    const [task] = await tasksOfAnna();
    expect(task?.attempts.map(({ state, error }) => [state, error?.code])).toEqual([
      ['FAILED', 'LOST'],
      ['SUCCEEDED', undefined],
    ]);
    const halves = (await tasksOfAnna()).filter(({ attempts }) => attempts.length === 1);
    // Of a prompt of as many tokens.
    expect(halves.map(({ cost }) => cost.amount * 2)).toContain(task?.cost.amount);
  });

  it.runIf(isWhole)("cancels its vendor's with it, also where its owner's key may not cancel", async () => {
    const starter = await createLimited(['read', 'start']);
    await kiln.control('latency', { wire: 'openai', runningMs: 60_000 });
    const lines = ['a', 'b'].map((name) => writeLine(name, IMAGES, { model: 'gpt-image-2', prompt: name }));
    const { id } = await begin(IMAGES, lines.join('\n'), starter);
    await until(vendorStates, ([newest]) => newest === 'in_progress', 30_000);
    await anna.batches.cancel(id);
    const batch = await ended(id);
    expect(batch).toMatchObject({
      status: 'cancelled',
      request_counts: { total: 2, completed: 0, failed: 2 },
    });
    expect((await vendorStates())[0]).toBe('cancelled');
    await kiln.control('latency', { wire: 'openai', runningMs: 0 });
  });

  it("is its owner's own, and listed newest first", async () => {
    const { data, has_more: hasMore } = await anna.batches.list({ limit: 2 });
    expect([data.length, hasMore]).toEqual([2, true]);
    const next = await anna.batches.list({ limit: 2, after: data[1]?.id ?? '' });
    expect(next.data.map(({ id }) => id)).not.toContain(data[0]?.id);
    expect((await boris.batches.list()).data).toEqual([]);
    const file = await toFile(Buffer.from('{}'), 'a.jsonl');
    const { id } = await anna.files.create({ file, purpose: 'batch' });
    const refusal = await anna.batches
      .create({ input_file_id: id, endpoint: '/v1/embeddings', completion_window: '24h' })
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(APIError);
    expect(refusal).toMatchObject({ status: 400, param: 'endpoint' });
  });

  it.each([
    ['endpoint', 'no endpoint', { endpoint: undefined }],
    ['completion_window', 'another time', { completion_window: '1h' }],
    ['metadata', 'metadata of numbers', { metadata: { of: 1 } }],
    [
      'metadata',
      'too many metadata',
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ''])) },
    ],
    ['input_file_id', 'a file that there is not', { input_file_id: '01a2b3c4-0000-7000-8000-000000000000' }],
  ])('names %s where it is refused for %s', async (param, _, change) => {
    const file = await toFile(Buffer.from('{}'), 'a.jsonl');
    const { id: input_file_id } = await anna.files.create({ file, purpose: 'batch' });
    const wanted = { input_file_id, endpoint: IMAGES, completion_window: '24h', ...change };
    const refused = { status: 400, code: 'invalid_value', param };
    await expect(anna.batches.create(wanted as never)).rejects.toMatchObject(refused);
  });

  it('is not there for others, nor a list without a credential', async () => {
    const none = { status: 404, code: 'not_found' };
    await expect(anna.batches.retrieve('batch_of_nobody')).rejects.toMatchObject(none);
    const after = { status: 400, param: 'after' };
    await expect(anna.batches.list({ after: 'batch_of_nobody' })).rejects.toMatchObject(after);
    await expect(createClient('sk-of-nobody').batches.list()).rejects.toMatchObject({ status: 401 });
  });

  it.each([
    ['is read', 'GET', ''],
    ['is cancelled', 'POST', '/cancel'],
  ])('is refused to whoever has no credential when it %s, as all else is', async (_, method, action) => {
    const address = `${kiln.url}/v1/batches/batch_${'0'.repeat(32)}${action}`;
    const response = await fetch(address, { method });
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { error: { code: 'invalid_api_key' } },
    ]);
  });

  it('is made, read and cancelled by keys with the scope for it, and by no others', async () => {
    const file = await toFile(Buffer.from(writeLine('a', IMAGES, { model: 'no-such-model' })), 'a.jsonl');
    const { id: input_file_id } = await anna.files.create({ file, purpose: 'batch' });
    const wanted = { input_file_id, endpoint: IMAGES, completion_window: '24h' } as const;
    const [reader, starter, manager] = await Promise.all(
      [['read'], ['read', 'start'], ['manage']].map(createLimited),
    );
    const { id } = await starter!.batches.create(wanted);
    expect((await reader!.batches.retrieve(id)).id).toBe(id);
    expect((await starter!.batches.list()).data.map((batch) => batch.id)).toEqual([id]);
    const refused = [
      ['start', () => reader!.batches.create(wanted)],
      ['start', () => manager!.batches.create(wanted)],
      ['read', () => manager!.batches.retrieve(id)],
      ['read', () => manager!.batches.list()],
      ['manage', () => starter!.batches.cancel(id)],
    ] as const;
    await expect(manager!.batches.cancel(id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    for (const [scope, call] of refused) {
      const message = expect.stringContaining(`needs the scope ${scope} `);
      await expect(call()).rejects.toMatchObject({ status: 403, code: 'insufficient_permissions', message });
    }
  });
});
