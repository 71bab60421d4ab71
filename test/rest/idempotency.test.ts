import { createHash } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, rest, type RestAnswer } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** The Idempotency-Key header: the same request again is the same task, another request under the same key is refused. */

const secrets = { anna: 'secret-of-anna', boris: 'secret-of-boris' };
const toKeyHeader = (name: keyof typeof secrets) => ({ authorization: `Bearer ${secrets[name]}` });

let kiln: KilnUnderTest;
beforeAll(async () => {
  const keys = Object.entries(secrets).map(
    ([name, secret]) => `${name}=${createHash('sha256').update(secret).digest('hex')}`,
  );
  kiln = await startKiln({ isQuick: true, settings: { SERVICE_KEYS: keys.join(','), REST_AUTH: 'compat' } });
});
afterAll(() => kiln.close());

const CREATE = '/api/task/create/task';
const tea = { task_type: 'tea', prompt: 'a cup' };

function create(key: string, body: object, caller: Record<string, string> = toKeyHeader('anna')) {
  return rest(kiln.url, 'POST', CREATE, body, { ...caller, 'idempotency-key': key });
}

function image(key: string, content: string, query = 'prompt=a%20boat'): Promise<RestAnswer> {
  const form = new FormData();
  form.set('img_file', new Blob([content], { type: 'image/png' }), 'boat.png');
  const headers = { ...toKeyHeader('anna'), 'idempotency-key': key };
  return rest(kiln.url, 'POST', `/api/agg/imga/sync/image?${query}`, form, headers);
}

async function taskCount(): Promise<number> {
  const { rows } = await kiln.runtime.database.pool.query<{ count: string }>(
    'select count(*) from media.tasks',
  );
  return Number(rows[0]?.count);
}

describe('a key', () => {
  it('makes one task of many requests, also of those that come at once', async () => {
    const before = await taskCount();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('many', tea)));
    const later = await create('many', { prompt: 'a cup', ar: '9:16', task_type: 'tea', unknown: 1 });
    const ids = [...answers, later].map(({ status, body }) => [status, body.status, body.data]);
    expect(new Set(ids.map(String)).size).toBe(1);
    expect(ids[0]).toEqual([200, true, expect.any(String)]);
    expect(await taskCount()).toBe(before + 1);
    // The second version of the path is the same operation.
    const headers = { ...toKeyHeader('anna'), 'idempotency-key': 'many' };
    const second = await rest(kiln.url, 'POST', `${CREATE}/v2`, tea, headers);
    expect(second.body.data).toBe(answers[0]?.body.data);
  });

  it.each([
    ['another prompt', { ...tea, prompt: 'a pot' }],
    ['another type', { ...tea, task_type: 'chop' }],
    ['another ratio', { ...tea, ar: '1:1' }],
    ['an image', { ...tea, img_url: 'https://example.org/a.png' }],
  ])('under which %s was asked is a conflict', async (_, other) => {
    const first = await create('conflict', tea);
    const before = await taskCount();
    const { status, body } = await create('conflict', other);
    expect([status, body]).toEqual([
      409,
      { status: false, data: null, msg: expect.stringContaining('Idempotency-Key') },
    ]);
    expect(await taskCount()).toBe(before);
    expect((await create('conflict', tea)).body.data).toBe(first.body.data);
  });

  it('that is too long is refused by its name', async () => {
    const { body } = await create('k'.repeat(256), tea);
    expect(body).toEqual({ status: false, data: null, msg: 'Idempotency-Key must have 1 to 255 characters' });
  });

  it('of another operation is a conflict, over GraphQL alike', async () => {
    const { body } = await create('shared', tea);
    expect((await image('shared', 'x')).status).toBe(409);
    const mutation = `mutation ($prompt: String!) { createTask(taskType: "tea", prompt: $prompt, aspectRatio: "9:16", idempotencyKey: "shared") { id } }`;
    const same = await graphql(kiln.url, mutation, { prompt: 'a cup' }, toKeyHeader('anna'));
    expect(same.data).toEqual({ createTask: { id: body.data } });
    const other = await graphql(kiln.url, mutation, { prompt: 'a pot' }, toKeyHeader('anna'));
    expect(other.errors?.[0]?.extensions).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('is not burnt by a request that was refused', async () => {
    expect((await create('refused', { ...tea, task_type: 'coffee' })).status).toBe(422);
    expect((await create('refused', { ...tea, ar: '0:0' })).body.status).toBe(false);
    expect((await create('refused', tea)).body).toMatchObject({ status: true });
  });

  it('belongs to its caller', async () => {
    const mine = await create('ours', tea, toKeyHeader('anna'));
    const yours = await create('ours', tea, toKeyHeader('boris'));
    const strangers = await create('ours', tea, {});
    const ids = [mine, yours, strangers].map(({ status, body }) => [status, body.data]);
    expect(ids.map(([status]) => status)).toEqual([200, 200, 200]);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(3);
    // Without a credential it belongs to the address.
    expect((await create('ours', tea, {})).body.data).toBe(strangers.body.data);
    expect((await create('ours', { ...tea, prompt: 'x' }, {})).status).toBe(409);
  });

  it('belongs to the user that an anonymous request names', async () => {
    const headers = { 'idempotency-key': 'shared-address' };
    const checkout = (userId: string, prompt = 'a fox') =>
      rest(kiln.url, 'POST', '/payment/checkout/poster', { userId, metadata: { prompt } }, headers);
    const [one, again, other] = [await checkout('u-1'), await checkout('u-1'), await checkout('u-2')];
    expect([one.status, again.status, other.status]).toEqual([200, 200, 200]);
    expect(again.body.data).toEqual(one.body.data);
    expect(other.body.data.paymentId).not.toBe(one.body.data.paymentId);
    const { status, body } = await checkout('u-1', 'a hare');
    expect([status, body.code]).toEqual([409, 409]);
    expect(body.message).toContain('Idempotency-Key');
  });

  it('recognises a file by its bytes, and lets a synchronous caller wait for the task there is', async () => {
    const [one, two] = await Promise.all([image('file', 'same bytes'), image('file', 'same bytes')]);
    expect(one.body.data.task_id).toBe(two.body.data.task_id);
    // Its state does not matter: the task has ended.
    expect((await image('file', 'same bytes')).body.data.task_id).toBe(one.body.data.task_id);
    expect((await image('file', 'other bytes')).status).toBe(409);
  });

  it.each(['', ' '])('of %j counts as none', async (key) => {
    const [one, two] = [await create(key, tea), await create(key, tea)];
    expect(one.body.data).not.toBe(two.body.data);
  });

  it('that is too long is explained', async () => {
    expect((await create('k'.repeat(255), tea)).body.status).toBe(true);
    const { status, body } = await create('k'.repeat(256), tea);
    expect([status, body]).toEqual([200, { status: false, data: null, msg: expect.stringContaining('255') }]);
  });
});
