import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, rest, until } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { moment, refusal, told } from './envelopes.ts';

/** Running templates over REST at a live server: the task section, and the executions of the template section. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
});
afterAll(() => kiln?.close());

const get = (path: string) => rest(kiln.url, 'GET', path);
const post = (path: string, body?: object | string, headers: Record<string, string> = {}) =>
  rest(kiln.url, 'POST', path, body, headers);

const ended = (id: string) =>
  until(
    () => get(`/task/${id}`),
    ({ body }) => !['pending', 'running'].includes(body.data.status),
  );

/** The address of an image that is kept here. */
async function storeImage(): Promise<string> {
  const made = await ended((await post('/task', { templateCode: 'poster' })).body.data);
  const form = new FormData();
  form.set('file', await (await fetch(made.body.data.result.videoUrl)).blob(), 'fox.png');
  return (await rest(kiln.url, 'POST', '/api/file/upload', form)).body.data;
}

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const nothingYet = { videoUrl: null, urls: null };

describe.concurrent('POST /task', () => {
  it('answers the id of a task, which ends with its result', async () => {
    const request = { type: 'gift', templateCode: 'poster', userId: 'u', parameters: { prompt: 'a fox' } };
    const sent = await post('/task', request);
    expect(sent).toEqual(told(UUID));
    expect(sent.body.message).toBe('task sent to the queue');
    const { body } = await ended(sent.body.data);
    const { urls } = body.data.result;
    expect(body.data).toEqual({
      id: sent.body.data,
      status: 'completed',
      progress: 100,
      result: { videoUrl: urls[0], urls },
      createdAt: moment,
      error: null,
      completedAt: moment,
    });
    expect((await fetch(urls[0])).headers.get('content-type')).toMatch(/^image\//);
    // One space of ids: the media service knows the task by the same one.
    expect((await get(`/api/task/status/${sent.body.data}`)).body).toMatchObject({ status: true });
  });

  it('runs a ComfyUI graph, whatever its caller keeps with it', async () => {
    const parameters = { prompt: 'a fox', order: { id: 7 }, width: 64, height: 64 };
    const { body } = await post('/task', { type: 'gift', templateCode: 'sketch', parameters });
    expect((await ended(body.data)).body.data.status).toBe('completed');
  });

  it('names everything that is wrong, in the words of this path', async () => {
    expect(await post('/task', { type: 7, parameters: 'x' })).toEqual(
      refusal(400, ['type', 'templateCode', 'parameters']),
    );
    expect(await post('/task')).toEqual(refusal(400, [null]));
    const wrong = { templateCode: 'poster', parameters: { prompt: 7, aspectRatio: '0:1' } };
    expect(await post('/task', wrong)).toEqual(refusal(400, ['parameters.prompt', 'parameters.aspectRatio']));
    expect(await post('/task', { templateCode: 'poster', userId: 'a b' })).toEqual(refusal(400, ['userId']));
    expect(await post('/task', { templateCode: 'none' })).toEqual(refusal(404));
  });

  it('is the same task again under the same Idempotency-Key', async () => {
    const request = { templateCode: 'poster', parameters: { prompt: 'a fox' } };
    const key = { 'idempotency-key': randomUUID() };
    const [one, other] = [await post('/task', request, key), await post('/task', request, key)];
    expect(one.body.data).toBe(other.body.data);
    const long = await post('/task', request, { 'idempotency-key': 'k'.repeat(256) });
    expect(long).toEqual(refusal(400, ['Idempotency-Key']));
    expect(long.body.message).toMatch(/^Idempotency-Key must have/);
  });
});

describe.concurrent('POST /task/{taskId}', () => {
  const request = { templateCode: 'poster', parameters: { prompt: 'a fox' } };

  it('keeps the id of its caller, which is taken wherever a task id is', async () => {
    const ids = [`order_7.${randomUUID()}`, randomUUID()];
    for (const id of ids) expect(await post(`/task/${id}`, request)).toEqual(told(id));
    for (const id of ids) {
      const { body } = await ended(id);
      expect(body.data).toMatchObject({ id, status: 'completed' });
      const progress = await get(`/templates/execution/${id}/progress`);
      expect(progress.body.data.taskId).toBe(id);
    }
  });

  it('answers the same request again, and refuses another one under that id', async () => {
    const id = `mine-${randomUUID()}`;
    expect(await post(`/task/${id}`, request)).toEqual(told(id));
    expect(await post(`/task/${id}`, request)).toEqual(told(id));
    const other = { ...request, parameters: { prompt: 'a hare' } };
    expect(await post(`/task/${id}`, other)).toEqual(refusal(400, ['taskId']));
  });

  it('is one task, however many ask for it at the same time', async () => {
    const id = `many-${randomUUID()}`;
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(`/task/${id}`, request)));
    for (const answer of answers) expect(answer).toEqual(told(id));
    const { rows } = await kiln.runtime.database.pool.query(
      'select from workflow.executions where external_id = $1',
      [id],
    );
    expect(rows).toHaveLength(1);
  });

  it('refuses the id of a task of ours', async () => {
    const { body } = await post('/task', request);
    expect(await post(`/task/${body.data}`, request)).toEqual(refusal(400, ['taskId']));
  });

  it('takes 1 to 128 letters, digits, dots, _ and -', async () => {
    for (const id of ['a%20b', 'a%2Fb', 'a'.repeat(129), '%C3%A9']) {
      expect(await post(`/task/${id}`, request)).toEqual(refusal(400, ['taskId']));
    }
    expect(await post('/task/%00', request)).toEqual(refusal(400, ['taskId']));
    expect(await post('/task/x', {})).toEqual(refusal(400, ['templateCode']));
  });
});

describe.concurrent('POST /templates/execute/{code}', () => {
  it.each(['poster', 'clip', 'sketch'])(
    'runs the bundled %s by the documented fields alone',
    async (code) => {
      const { body } = await post(`/templates/execute/${code}`, { userId: `u-${randomUUID()}` });
      expect((await ended(body.data.taskId)).body.data.status).toBe('completed');
    },
  );

  it('runs, and is found by task and by user, newest first', async () => {
    const userId = `u-${randomUUID()}`;
    const started = told({ executionId: UUID, taskId: UUID, status: 'running' });
    const ids: string[] = [];
    const taskIds: string[] = [];
    for (let more = 0; more < 3; more += 1) {
      const answer = await post('/templates/execute/poster', { userId });
      expect(answer).toEqual(started);
      ids.unshift(answer.body.data.executionId);
      taskIds.push(answer.body.data.taskId);
    }
    await Promise.all(taskIds.map((id) => ended(id)));
    const list = async (query = '') => (await get(`/templates/executions/user/${userId}${query}`)).body.data;
    expect(await list()).toEqual({
      executions: ids.map((executionId) => ({
        executionId,
        templateCode: 'poster',
        status: 'completed',
        createdAt: moment,
      })),
      total: 3,
    });
    const part = await list('?limit=1&offset=2');
    expect([part.executions[0].executionId, part.total]).toEqual([ids[2], 3]);
    // As often as one would need to meet the end of a page.
    await kiln.runtime.database.pool.query(
      `insert into workflow.executions select (another).* from (
         select jsonb_populate_record(executions, jsonb_build_object(
           'id', gen_random_uuid(), 'task_id', gen_random_uuid())) as another
         from workflow.executions, generate_series(1, 400) where user_id = $1) as others`,
      [userId],
    );
    const many = await list();
    expect([many.executions.length, many.total]).toEqual([1_000, 1_203]);
  });

  it('names everything that is wrong, in the words of this path', async () => {
    expect(await post('/templates/execute/poster', { userId: 1, imageUrl: 2 })).toEqual(
      refusal(400, ['userId', 'imageUrl']),
    );
    expect(await post('/templates/execute/poster', { imageUrl: 'ftp://x' })).toEqual(
      refusal(400, ['imageUrl']),
    );
    expect(await post('/templates/execute/poster')).toEqual(refusal(400, [null]));
  });

  it('takes the words that a template has a place for', async () => {
    const { body: made } = await post('/templates', { code: `words-${randomUUID()}`, name: 'Words' });
    const path = `/templates/execute/${made.data.code}`;
    expect(await post(path, {})).toEqual(refusal(400, ['prompt']));
    expect(await post(path, { prompt: 'a fox', aspectRatio: 'wide' })).toEqual(refusal(400, ['aspectRatio']));
    const { body } = await post(path, { prompt: 'a fox', aspectRatio: '1:1' });
    expect((await ended(body.data.taskId)).body.data.status).toBe('completed');
  });

  it.each([
    ['a model', 'IMAGE', 'gpt-image-1', 'union'],
    ['a generator', 'IMAGE', 'custom', 'custom'],
    ['nothing', 'IMAGE', '', 'agg/imga'],
    ['a model of videos', 'VIDEO', 'kling-v1-6', 'vidc'],
    ['a model of images for a video', 'VIDEO', 'gpt-image-1', 'agg/vidb'],
  ])('asks whoever makes it when the template names %s', async (_, templateType, imageModel, generator) => {
    const template = { code: `by-${randomUUID()}`, name: 'By', templateType, imageModel, imagePrompt: '' };
    const { body: made } = await post('/templates', template);
    const { body } = await post(`/templates/execute/${made.data.code}`, { prompt: 'a fox' });
    expect((await ended(body.data.taskId)).body.data.status).toBe('completed');
    const query = 'query ($id: ID!) { task(id: $id) { generator } }';
    const { task } = (await graphql(kiln.url, query, { id: body.data.taskId })).data;
    expect(task.generator).toBe(generator);
  });

  it('runs every video template from an image alone', async () => {
    const imageUrl = await storeImage();
    const { body: made } = await post('/templates', {
      code: `still-${randomUUID()}`,
      name: 'Still',
      templateType: 'VIDEO',
    });
    for (const code of ['clip', made.data.code]) {
      expect(await post(`/templates/execute/${code}`, { userId: 'u', imageUrl })).toMatchObject({
        status: 200,
      });
      const task = { templateCode: code, parameters: { imageUrl } };
      expect(await post('/task', task)).toEqual(told(UUID));
      const metadata = { imageUrl };
      expect(await post(`/payment/checkout/${code}`, { userId: 'u', metadata })).toMatchObject({
        status: 200,
      });
    }
  });

  it('passes the image on', async () => {
    const { body } = await post('/templates/execute/poster', { userId: 'u', imageUrl: await storeImage() });
    expect((await ended(body.data.taskId)).body.data.status).toBe('completed');
  });

  it.each([
    ['image-to-image', { prompt: 'a fox' }],
    ['image-resize', {}],
  ])('passes the image on to the graph %s, which needs one', async (graph, words) => {
    const template = { code: `graph-${randomUUID()}`, name: 'Graph', workflow: `comfy:${graph}` };
    const { body: made } = await post('/templates', template);
    const path = `/templates/execute/${made.data.code}`;
    expect(await post(path, words)).toEqual(refusal(400, ['imageUrl']));
    const unreachable = { ...words, imageUrl: 'http://10.0.0.1/a.png' };
    expect(await post(path, unreachable)).toEqual(refusal(400, ['imageUrl']));
    const imageUrl = await storeImage();
    const { body } = await post(path, { ...words, imageUrl });
    expect((await ended(body.data.taskId)).body.data.status).toBe('completed');
    const metadata = { ...words, imageUrl, order: { id: 7 } };
    const checkout = await post(`/payment/checkout/${made.data.code}`, { userId: 'u', metadata });
    expect(checkout.status).toBe(200);
  });
});

describe('a task', () => {
  it('is running while it runs, and failed when it was cancelled', async () => {
    await kiln.control('latency', { queuedMs: 0, runningMs: 60_000 });
    try {
      const { data: id } = (await post('/task', { templateCode: 'poster' })).body;
      const going = await until(
        () => get(`/task/${id}`),
        ({ body }) => body.data.status === 'running',
      );
      expect(going.body.data).toMatchObject({ result: nothingYet, completedAt: null });
      expect(going.body.data.progress).toBeLessThan(100);
      await graphql(kiln.url, 'mutation ($id: ID!) { cancelTask(id: $id) { id } }', { id });
      const over = await ended(id);
      const error = { code: 'CANCELLED', message: 'it was cancelled' };
      expect(over.body.data).toMatchObject({
        status: 'failed',
        result: nothingYet,
        completedAt: moment,
        error,
      });
      expect((await get(`/templates/execution/${id}/progress`)).body.data).toMatchObject({
        status: 'failed',
        result: nothingYet,
        error,
      });
    } finally {
      await kiln.control('latency', { queuedMs: 0, runningMs: 0 });
    }
  });

  it('that nobody knows is 404', async () => {
    for (const id of ['none', randomUUID()]) {
      expect(await get(`/task/${id}`)).toEqual(refusal(404));
      expect(await get(`/templates/execution/${id}/progress`)).toEqual(refusal(404));
    }
    expect(await rest(kiln.url, 'DELETE', '/task/x')).toEqual(refusal(405));
  });
});
