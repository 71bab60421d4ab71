import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { gql, InMemoryCache } from '@apollo/client';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Caller } from '../../platform/access/caller.ts';
import { isStream } from '../../platform/graphql/operations/streams.ts';
import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { makeWav } from '../kit/samples/wav.ts';
import { graphqlClient } from './graphql-client.ts';

/** What an application shows of a caller's own work: models, tasks with their inputs, files, live progress of all. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

function makeContext(id: string, signal = new AbortController().signal) {
  const scopes = id === 'usr_admin' ? (['admin'] as const) : [];
  const caller: Caller = { kind: 'user', id, scopes, traceId: 'test', address: null };
  return { caller, signal };
}

/** Asks as a signed-in user. */
async function as(id: string, query: string, variables: Record<string, unknown> = {}) {
  const { data, errors } = await kiln.federation.execute({ query, variables, context: makeContext(id) });
  expect(errors).toBeUndefined();
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
  return data as any;
}

const START = 'mutation ($input: ImageInput!) { generateImage(input: $input) { id } }';

async function image(user: string, input: object): Promise<string> {
  const { generateImage } = await as(user, START, { input: { generator: 'agg/imga', ...input } });
  await until(
    () => as(user, 'query ($id: ID!) { task(id: $id) { state } }', { id: generateImage.id }),
    ({ task }) => task.state === 'SUCCEEDED',
  );
  return generateImage.id;
}

// First, while nothing else is stored.
describe('thumbnails', () => {
  async function objects(): Promise<number> {
    const folder = path.join(kiln.dataDir, 'files', 'objects');
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).length;
  }

  it('are made of images when they are fetched, kept, and go with their file', async () => {
    const image = await sharp({ create: { width: 900, height: 450, channels: 3, background: '#246' } })
      .png()
      .toBuffer();
    const UPLOAD = 'mutation ($file: Upload!) { uploadFile(file: $file) { id url thumbnail(width: 200) } }';
    const { data } = await asking.upload(new Uint8Array(image), 'a.png', UPLOAD);
    const { id, thumbnail } = data.uploadFile;
    expect(thumbnail).toMatch(/\/thumbnail-320\.webp$/);
    const answer = await fetch(thumbnail);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp']);
    const { width, height } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
    expect([width, height]).toEqual([320, 160]);
    expect(await objects()).toBe(2);
    await fetch(thumbnail);
    expect(await objects()).toBe(2);
    expect((await fetch(thumbnail.replace('-320.', '-333.'))).headers.get('content-type')).toBe('image/png');
    await asking.ok('mutation ($id: ID!) { deleteMedia(id: $id) { id } }', { id });
    expect((await fetch(thumbnail)).status).toBe(404);
    expect(await objects()).toBe(0);
  });

  it('are the waveform of a recording, and the first frame of a video or a drawing in its shape', async () => {
    const UPLOAD =
      'mutation ($file: Upload!) { uploadFile(file: $file) { contentType thumbnail(width: 160) } }';
    const studio = new URL('../../sandbox/studio/instant/', import.meta.url);
    const readThumbnail = async (content: Uint8Array<ArrayBuffer>, name: string) => {
      const { data } = await asking.upload(content, name, UPLOAD);
      const answer = await fetch(data.uploadFile.thumbnail);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp']);
      return sharp(Buffer.from(await answer.arrayBuffer()));
    };
    const inkAt = async (image: Sharp, left: number) => {
      const part = await image.clone().extract({ left, top: 0, width: 40, height: 40 }).toBuffer();
      return (await sharp(part).stats()).channels[2]?.mean ?? 0;
    };

    const colourAt = async (image: Sharp, top: number) => {
      const part = await image.clone().extract({ left: 0, top, width: 128, height: 20 }).toBuffer();
      const [red, , blue] = (await sharp(part).stats()).channels;
      return { red: red?.mean ?? 0, blue: blue?.mean ?? 0 };
    };

    const sample = async (name: string, folder = new URL('../kit/samples/', import.meta.url)) =>
      new Uint8Array(await readFile(new URL(name, folder)));
    // Silent at first, then loud.
    const halves = [makeWav([0, 0.9]), await sample('half-opus.ogg'), await sample('half-vorbis.ogg')];
    for (const half of await Promise.all(halves.map((content) => readThumbnail(content, 'half')))) {
      // oxlint-disable-next-line no-await-in-loop -- three small images
      expect(await half.metadata()).toMatchObject({ width: 160, height: 40, format: 'webp' });
      // oxlint-disable-next-line no-await-in-loop
      expect(await inkAt(half, 110)).toBeGreaterThan(1.5 * (await inkAt(half, 10)));
    }
    const speech = await readThumbnail(await sample('speech.mp3', studio), 'speech.mp3');
    expect(await speech.metadata()).toMatchObject({ width: 160, height: 40 });
    expect((await speech.stats()).channels[2]?.stdev).toBeGreaterThan(10);

    const clip = await readThumbnail(await sample('clip.mp4', studio), 'clip.mp4');
    expect(await clip.metadata()).toMatchObject({ width: 128, height: 72 });
    // A red sky over a blue sea, and no drawing of one colour.
    const [sky, sea] = [await colourAt(clip, 0), await colourAt(clip, 50)];
    expect(sky.red).toBeGreaterThan(sky.blue + 10);
    expect(sea.blue).toBeGreaterThan(sea.red + 10);
    const drawn = await readThumbnail(await sample('high-profile.mp4'), 'high.mp4');
    expect(await drawn.metadata()).toMatchObject({ width: 160, height: 90 });
    const { data } = await asking.upload(makeWav([0.5]).subarray(0, 30), 'cut.wav', UPLOAD);
    expect((await fetch(data.uploadFile.thumbnail)).status).toBe(404);
  });

  it('are refused of what is neither', async () => {
    const UPLOAD = 'mutation ($file: Upload!) { uploadFile(file: $file) { url thumbnail } }';
    const { data } = await asking.upload(new TextEncoder().encode('hello'), 'a.txt', UPLOAD);
    expect(data.uploadFile.thumbnail).toBeNull();
    const address = data.uploadFile.url.replace(/[^/]+$/, 'thumbnail-320.webp');
    expect((await fetch(address)).status).toBe(404);
  });
});

describe.concurrent('root fields', () => {
  it('fail one by one: what the others did is answered', async () => {
    const { data, errors } = await asking.run(`mutation {
      paid: generateImage(input: { generator: "agg/imga", prompt: "a fox" }) { id }
      refused: generateImage(input: { generator: "nobody", prompt: "a fox" }) { id }
    }`);
    expect(data).toEqual({ paid: { id: expect.any(String) }, refused: null });
    expect(errors).toMatchObject([{ path: ['refused'], extensions: { code: 'BAD_USER_INPUT' } }]);
    const mixed = await asking.run('{ models { id } voices(generator: "nobody") { id } }');
    expect(mixed.data.models.length).toBeGreaterThan(10);
    expect(mixed.data.voices).toBeNull();
    expect(mixed.errors).toHaveLength(1);
  });
});

describe.concurrent('models', () => {
  it('are all there in a cache that goes by id', async () => {
    const query = '{ __typename models { __typename id model generator name isDefault kinds } }';
    const { models } = await asking.ok(query);
    const cache = new InMemoryCache();
    cache.writeQuery({ query: gql(query), data: { __typename: 'Query', models } });
    const cached = Object.keys(cache.extract()).filter((key) => key.startsWith('Model:'));
    expect(cached).toHaveLength(models.length);
    expect(models[0].id).toBe(`${models[0].generator}:${models[0].model}`);
    for (const one of models.filter(({ isDefault }: { isDefault: boolean }) => !isDefault)) {
      const same = models.filter(({ generator }: { generator: string }) => generator === one.generator);
      expect(same.some(({ isDefault }: { isDefault: boolean }) => isDefault)).toBe(true);
    }
  });
});

describe.concurrent('a task', () => {
  const QUERY = `query ($id: ID!) { task(id: $id) {
    owner provider model sandbox
    input { prompt model options files { input url media { id name task { id } } } }
  } }`;

  it('says what was asked for, who asked, and who did it', async () => {
    const source = await image('usr_anna', { prompt: 'a lighthouse' });
    const { task: made } = await as('usr_anna', 'query ($id: ID!) { task(id: $id) { outputs { id } } }', {
      id: source,
    });
    const fileId = made.outputs[0].id;
    const input = { prompt: 'a fox', aspectRatio: '1:1', count: 1, images: [{ fileId }] };
    const { task } = await as('usr_anna', QUERY, { id: await image('usr_anna', input) });
    expect(task).toEqual({
      owner: 'usr_anna',
      provider: expect.any(String),
      model: expect.any(String),
      sandbox: true,
      input: {
        prompt: 'a fox',
        model: null,
        options: { aspectRatio: '1:1', count: 1 },
        files: [
          {
            input: 'images',
            url: null,
            media: { id: fileId, name: expect.stringMatching(/\.\w+$/), task: { id: source } },
          },
        ],
      },
    });
  });

  it('tells only known callers what an anonymous task was asked for, unless everything is open', async () => {
    const { generateImage } = await asking.ok(START, { input: { generator: 'agg/imga', prompt: 'a fox' } });
    const { task } = await asking.ok(QUERY, { id: generateImage.id });
    expect(task).toMatchObject({ owner: null, input: { prompt: 'a fox' } });
  });
});

describe.concurrent('lists', () => {
  const TASKS = `query ($filter: TaskFilter) { tasks(filter: $filter, first: 1) { totalCount edges { node { id } } } }`;
  const MEDIAS = `query ($filter: MediaFilter, $first: Int!, $after: String) {
    medias(filter: $filter, first: $first, after: $after) {
      totalCount pageInfo { hasNextPage endCursor } edges { node { id contentType owner task { id } } }
    }
  }`;

  it('of tasks are filtered by text, model and owner, and counted', async () => {
    const id = await image('usr_clara', { generator: 'union', prompt: 'Ein 50%iger Fuchs' });
    await image('usr_clara', { generator: 'union', prompt: 'a boat' });
    const listed = async (filter: object) => (await as('usr_clara', TASKS, { filter })).tasks;
    expect(await listed({ text: '50%IGER' })).toEqual({ totalCount: 1, edges: [{ node: { id } }] });
    expect((await listed({ text: '%' })).totalCount).toBe(1);
    expect((await listed({ text: '_' })).totalCount).toBe(0);
    expect((await listed({})).totalCount).toBe(2);
    const { task } = await as('usr_clara', 'query ($id: ID!) { task(id: $id) { model } }', { id });
    expect((await listed({ model: task.model })).totalCount).toBe(2);
    expect((await listed({ model: 'none' })).totalCount).toBe(0);
    expect((await listed({ owner: 'usr_clara' })).totalCount).toBe(2);
    expect((await listed({ owner: 'usr_anna' })).totalCount).toBe(0);
    expect((await listed({ generator: 'union', states: ['SUCCEEDED'], kinds: ['IMAGE'] })).totalCount).toBe(
      2,
    );
    for (const filter of [
      { generator: 'agg/imga' },
      { states: ['QUEUED', 'FAILED'] },
      { kinds: ['VIDEO'] },
      { states: [] },
    ])
      expect(await listed(filter)).toEqual({ totalCount: 0, edges: [] });
    const [past, future] = ['2026-01-01T00:00:00Z', '3000-01-01T00:00:00Z'];
    expect((await listed({ createdAfter: past, createdBefore: future })).totalCount).toBe(2);
    expect((await listed({ createdAfter: future })).totalCount).toBe(0);
    expect((await listed({ createdBefore: past })).totalCount).toBe(0);
  });

  it('of tasks are filtered by a file among their inputs', async () => {
    const made = await image('usr_carl', { prompt: 'a first step' });
    const { task } = await as('usr_carl', 'query ($id: ID!) { task(id: $id) { outputs { id } } }', {
      id: made,
    });
    const file = task.outputs[0].id;
    const id = await image('usr_carl', {
      generator: 'union',
      prompt: 'a second',
      images: [{ fileId: file }],
    });
    const listed = async (user: string, filter: object) => (await as(user, TASKS, { filter })).tasks;
    expect(await listed('usr_carl', { file })).toEqual({ totalCount: 1, edges: [{ node: { id } }] });
    expect((await listed('usr_anna', { file })).totalCount).toBe(0);
    expect((await listed('usr_carl', { file: '%' })).totalCount).toBe(0);
  });

  it("of files are the caller's own, in pages", async () => {
    const [id] = await Promise.all([
      image('usr_dora', { prompt: 'a kettle' }),
      image('usr_dora', { prompt: 'a boat' }),
    ]);
    const all = (await as('usr_dora', MEDIAS, { first: 1 })).medias;
    const total = all.totalCount;
    expect(total).toBeGreaterThanOrEqual(2);
    expect(all.pageInfo.hasNextPage).toBe(true);
    const rest = (await as('usr_dora', MEDIAS, { first: 200, after: all.pageInfo.endCursor })).medias;
    expect(rest.edges).toHaveLength(total - 1);
    const kettle = (await as('usr_dora', MEDIAS, { first: 10, filter: { text: 'KETTLE' } })).medias;
    expect(kettle.edges[0].node).toMatchObject({ owner: 'usr_dora', task: { id } });
    const videos = { first: 10, filter: { kinds: ['VIDEO'] } };
    expect((await as('usr_dora', MEDIAS, videos)).medias.totalCount).toBe(0);
    const images = { first: 10, filter: { kinds: ['IMAGE', 'AUDIO'], generator: 'agg/imga' } };
    expect((await as('usr_dora', MEDIAS, images)).medias.totalCount).toBe(total);
    expect((await as('usr_nobody', MEDIAS, { first: 10 })).medias.totalCount).toBe(0);
    expect((await asking.ok(MEDIAS, { first: 10 })).medias).toMatchObject({ totalCount: 0, edges: [] });
    const one = 'query ($id: ID!) { media(id: $id) { id owner } }';
    const mediaId = kettle.edges[0].node.id;
    expect((await asking.ok(one, { id: mediaId })).media).toEqual({ id: mediaId, owner: null });
    expect((await asking.ok(one, { id: 'nonsense' })).media).toBeNull();
  });
});

describe.concurrent('tasksProgress', () => {
  const WATCH =
    'subscription ($since: DateTime) { tasksProgress(endedSince: $since) { seq at state task { id } } }';

  async function subscribe(user: string, signal: AbortSignal, since: string | null = null) {
    const request = { query: WATCH, variables: { since }, context: makeContext(user, signal) };
    const stream = await kiln.federation.subscribe(request);
    if (!isStream(stream)) throw new Error(JSON.stringify(stream));
    return stream;
  }

  it('follows every task of the caller, and begins again where it was lost', async () => {
    const leaving = new AbortController();
    const stream = await subscribe('usr_ella', leaving.signal);
    const { generateImage: first } = await as('usr_ella', START, {
      input: { generator: 'agg/imga', prompt: 'one' },
    });
    const { generateImage: second } = await as('usr_ella', START, {
      input: { generator: 'agg/imga', prompt: 'two' },
    });
    await as('usr_other', START, { input: { generator: 'agg/imga', prompt: 'not hers' } });
    const seen = new Map<string, number[]>();
    const open = new Set([first.id, second.id]);
    for await (const { data } of stream) {
      // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
      const { seq, state, task } = (data as any).tasksProgress;
      seen.set(task.id, [...(seen.get(task.id) ?? []), seq]);
      if (state === 'SUCCEEDED') open.delete(task.id);
      if (open.size === 0) break;
    }
    leaving.abort();
    expect(new Set(seen.keys())).toEqual(new Set([first.id, second.id]));
    for (const numbers of seen.values()) expect(numbers).toEqual(numbers.map((_, index) => index + 1));

    const again = new AbortController();
    const since = new Date(Date.now() - 60_000).toISOString();
    const ends: string[] = [];
    for await (const { data } of await subscribe('usr_ella', again.signal, since)) {
      // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
      const { state, task } = (data as any).tasksProgress;
      expect(state).toBe('SUCCEEDED');
      if (ends.push(task.id) === 2) break;
    }
    again.abort();
    expect(new Set(ends)).toEqual(new Set([first.id, second.id]));
  });

  it('follows the tasks of everyone for administrators alone', async () => {
    const request = {
      query: 'subscription { tasksProgress(everyone: true) { task { id } } }',
      variables: {},
    };
    const refused = await kiln.federation.subscribe({ ...request, context: makeContext('usr_ella') });
    expect(isStream(refused) ? null : refused.errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
    const leaving = new AbortController();
    const stream = await kiln.federation.subscribe({
      ...request,
      context: makeContext('usr_admin', leaving.signal),
    });
    if (!isStream(stream)) throw new Error(JSON.stringify(stream));
    const started = await as('usr_fritz', START, { input: { generator: 'agg/imga', prompt: 'his' } });
    for await (const { data } of stream) {
      // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
      if ((data as any).tasksProgress.task.id === started.generateImage.id) break;
    }
    leaving.abort();
  });

  it('is refused without a caller', async () => {
    const { errors } = await asking.run('subscription { tasksProgress { seq } }');
    expect(errors?.length).toBeGreaterThan(0);
  });
});

describe('operations on many tasks', () => {
  const FACTS = '{ id state total done refused problem }';
  const begin = (field: 'cancelTasks' | 'restartTasks') =>
    `mutation ($filter: TaskFilter!) { ${field}(filter: $filter) ${FACTS} }`;
  const ended = async (user: string, id: string) => {
    const all = await until(
      () => as(user, `{ bulkOperations ${FACTS} }`),
      ({ bulkOperations }) =>
        bulkOperations.some((one: { id: string; state: string }) => one.id === id && one.state !== 'RUNNING'),
    );
    return all.bulkOperations.find((one: { id: string }) => one.id === id);
  };
  const counted = async (user: string, filter: object) =>
    (await as(user, 'query ($filter: TaskFilter) { tasks(filter: $filter) { totalCount } }', { filter }))
      .tasks.totalCount;

  it("start the caller's own once more, each exactly once, and those of everybody for administrators", async () => {
    await Promise.all([
      image('usr_dan', { prompt: 'many a heron' }),
      image('usr_dan', { prompt: 'many an egret' }),
      image('usr_emil', { prompt: 'many a stork' }),
    ]);
    const filter = { text: 'many a' };
    const { restartTasks } = await as('usr_dan', begin('restartTasks'), { filter });
    expect(restartTasks).toMatchObject({ total: 2, problem: null });
    expect(await ended('usr_dan', restartTasks.id)).toMatchObject({ state: 'DONE', done: 2, refused: 0 });
    expect([await counted('usr_dan', filter), await counted('usr_emil', filter)]).toEqual([4, 1]);
    const one = { text: 'many a stork' };
    const { restartTasks: asAdmin } = await as('usr_admin', begin('restartTasks'), { filter: one });
    expect(await ended('usr_admin', asAdmin.id)).toMatchObject({ state: 'DONE', total: 1, done: 1 });
    expect(await counted('usr_emil', one)).toBe(2);
    expect(await as('usr_emil', '{ bulkOperations { id } }')).toEqual({ bulkOperations: [] });
  });

  it('cancel what has not ended, and stop when they are told to', async () => {
    await kiln.control('latency', { queuedMs: 20_000 });
    for (const prompt of ['a slow crane', 'a slow ibis']) {
      await as('usr_fay', START, { input: { generator: 'agg/imga', prompt } });
    }
    const { cancelTasks } = await as('usr_fay', begin('cancelTasks'), { filter: { text: 'slow crane' } });
    expect(await ended('usr_fay', cancelTasks.id)).toMatchObject({ state: 'DONE', total: 1, done: 1 });
    await kiln.control('latency', { queuedMs: 0 });
    expect(await counted('usr_fay', { states: ['QUEUED', 'RUNNING'], text: 'slow ibis' })).toBe(1);
    const stop = `mutation ($id: ID!) { stopBulkOperation(id: $id) ${FACTS} }`;
    const { stopBulkOperation } = await as('usr_fay', stop, { id: cancelTasks.id });
    expect(stopBulkOperation).toMatchObject({ state: 'DONE' });
  });
});
