import { createHash } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Caller } from '../../platform/access/caller.ts';
import { graphql, rest, until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** What somebody owns is theirs: others are told that there is no such thing, and lists show one's own. */

const secrets = { first: 'secret-of-the-first', second: 'secret-of-the-second' };
const first = { authorization: `Bearer ${secrets.first}` };
const second = { authorization: `Bearer ${secrets.second}` };

let kiln: KilnUnderTest;
beforeAll(async () => {
  const keys = Object.entries(secrets).map(
    ([name, secret]) => `${name}=${createHash('sha256').update(secret).digest('hex')}`,
  );
  kiln = await startKiln({ settings: { REST_AUTH: 'compat', SERVICE_KEYS: keys.join(',') } });
});
afterAll(() => kiln.close());

/** Behind the gateway users are callers like any other; with tokens of their own: test/policy. */
function asUser(id: string) {
  const caller: Caller = { kind: 'user', id, scopes: [], traceId: 'test', address: null };
  return async (query: string, variables: Record<string, unknown> = {}) => {
    const context = { caller, signal: new AbortController().signal };
    const { data, errors } = await kiln.federation.execute({ query, variables, context });
    // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
    return { data: data as any, codes: errors?.map(({ extensions }) => extensions['code']) ?? [] };
  };
}

const anna = asUser('usr_anna');
const boris = asUser('usr_boris');
const CREATE = 'mutation { createTask(taskType: "tea", prompt: "mine") { id } }';
const TASK = 'query ($id: ID!) { task(id: $id) { id state } }';
const TASKS = '{ tasks(first: 200) { edges { node { id } } } }';
const listIds = (data: { tasks: { edges: { node: { id: string } }[] } }) =>
  data.tasks.edges.map(({ node }) => node.id);

describe("a user's task", () => {
  it('is read, listed and cancelled by its owner alone', async () => {
    const { id } = (await anna(CREATE)).data.createTask;
    expect((await anna(TASK, { id })).data.task.id).toBe(id);
    expect(await boris(TASK, { id })).toEqual({ data: { task: null }, codes: [] });
    expect(listIds((await anna(TASKS)).data)).toContain(id);
    expect(listIds((await boris(TASKS)).data)).toEqual([]);
    const cancel = 'mutation ($id: ID!) { cancelTask(id: $id) { state cancelRequestedAt } }';
    expect((await boris(cancel, { id })).codes).toEqual(['NOT_FOUND']);
    expect((await anna(TASK, { id })).data.task.state).not.toBe('CANCELLED');
    expect((await anna(cancel, { id })).data.cancelTask.cancelRequestedAt).not.toBeNull();
    await until(
      async () => (await anna(TASK, { id })).data.task.state,
      (state) => state === 'CANCELLED',
    );
  });

  it('does not exist for a stranger, on any face', async () => {
    const { id } = (await anna(CREATE)).data.createTask;
    expect(await graphql(kiln.url, TASK, { id })).toEqual({ data: { task: null } });
    const status = await rest(kiln.url, 'GET', `/api/task/status/${id}`);
    expect([status.status, status.body]).toEqual([
      200,
      { status: false, data: null, msg: `no task "${id}"` },
    ]);
    const read = new URLSearchParams({ query: `subscription { taskProgress(id: "${id}") { seq } }` });
    const events = await fetch(`${kiln.url}/graphql?${read.toString()}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(await events.text()).toContain('NOT_FOUND');
  });

  it('is read by service keys, which the operator gave out', async () => {
    const { id } = (await anna(CREATE)).data.createTask;
    for (const key of [first, second]) {
      expect((await graphql(kiln.url, TASK, { id }, key)).data.task.id).toBe(id);
    }
  });
});

describe("a service key's task", () => {
  it('is kept under the name of its key, and does not exist for strangers', async () => {
    const { id } = (await graphql(kiln.url, CREATE, {}, first)).data.createTask;
    const { rows } = await kiln.runtime.database.pool.query('select owner from media.tasks where id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ owner: 'key_first' }]);
    expect((await graphql(kiln.url, TASK, { id })).data).toEqual({ task: null });
    expect((await anna(TASK, { id })).data).toEqual({ task: null });
    expect((await graphql(kiln.url, TASK, { id }, second)).data.task.id).toBe(id);
  });
});

describe("nobody's task", () => {
  it('is for whoever knows its id, and in no list', async () => {
    const { id } = (await graphql(kiln.url, CREATE)).data.createTask;
    expect((await graphql(kiln.url, TASK, { id })).data.task.id).toBe(id);
    expect((await boris(TASK, { id })).data.task.id).toBe(id);
    expect((await graphql(kiln.url, TASKS)).data).toEqual({ tasks: { edges: [] } });
    expect(listIds((await boris(TASKS)).data)).not.toContain(id);
  });
});

describe('a list', () => {
  it('goes page by page, newest first, through one’s own alone', async () => {
    const clara = asUser('usr_clara');
    const own: string[] = [];
    for (let count = 0; count < 5; count += 1) own.push((await clara(CREATE)).data.createTask.id);
    await anna(CREATE);
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page =
        'query ($after: String) { tasks(first: 2, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } } }';
      const { data } = await clara(page, { after });
      seen.push(...listIds(data));
      after = data.tasks.pageInfo.hasNextPage ? data.tasks.pageInfo.endCursor : null;
    } while (after !== null);
    expect(seen).toEqual(own.toReversed());
  });
});

describe('a file', () => {
  it('is deleted by its owner alone', async () => {
    const form = new FormData();
    form.set('file', new Blob(['x']), 'x.txt');
    const { body } = await rest(kiln.url, 'POST', '/api/file/upload', form, first);
    const id = body.extra.key;
    const remove = 'mutation ($id: ID!) { deleteMedia(id: $id) { id url } }';
    expect((await anna(remove, { id })).codes).toEqual(['NOT_FOUND']);
    expect((await graphql(kiln.url, remove, { id })).errors?.[0]?.extensions['code']).toBe('NOT_FOUND');
    expect((await fetch(body.data)).status).toBe(200);
    expect((await graphql(kiln.url, remove, { id }, first)).data.deleteMedia).toEqual({ id, url: body.data });
    expect((await fetch(body.data)).status).toBe(404);
    expect((await graphql(kiln.url, remove, { id }, first)).errors?.[0]?.extensions['code']).toBe(
      'NOT_FOUND',
    );
  });
});

describe("nobody's file", () => {
  const REMOVE =
    'mutation ($id: ID!, $token: String) { deleteMedia(id: $id, manageToken: $token) { id manageToken } }';
  const readCode = ({ errors }: { errors?: readonly { extensions: Readonly<Record<string, unknown>> }[] }) =>
    errors?.[0]?.extensions['code'] ?? null;
  const readId = (address: string) => new URL(address).pathname.split('/')[2] ?? '';

  async function upload() {
    const form = new FormData();
    form.set('file', new Blob(['x']), 'x.txt');
    const { body, headers } = await rest(kiln.url, 'POST', '/api/file/upload', form);
    return { address: String(body.data), token: headers.get('x-manage-token') };
  }

  it('is not deleted by whoever has its address', async () => {
    const { address } = await upload();
    const other = await upload();
    const id = readId(address);
    for (const token of [null, '', 'guessed', other.token]) {
      expect(readCode(await graphql(kiln.url, REMOVE, { id, token }))).toBe('NOT_FOUND');
    }
    expect((await anna(REMOVE, { id })).codes).toEqual(['NOT_FOUND']);
    expect((await fetch(address)).status).toBe(200);
  });

  it('is deleted by who has the token of the upload, and by administrators', async () => {
    const { address, token } = await upload();
    expect(token).toMatch(/^[\w-]{43}$/);
    const { data } = await graphql(kiln.url, REMOVE, { id: readId(address), token });
    expect(data.deleteMedia).toEqual({ id: readId(address), manageToken: null });
    expect((await fetch(address)).status).toBe(404);
    const other = await upload();
    expect(readCode(await graphql(kiln.url, REMOVE, { id: readId(other.address) }, first))).toBeNull();
  });

  it('is deleted with the token of the submission when a task made it', async () => {
    const start = 'mutation { createTask(taskType: "chop", prompt: "a fox") { id manageToken } }';
    const { id, manageToken: token } = (await graphql(kiln.url, start)).data.createTask;
    const read = 'query ($id: ID!) { task(id: $id) { state manageToken outputs { id url } } }';
    const { task } = await until(
      async () => (await graphql(kiln.url, read, { id })).data,
      (data) => data.task.state === 'SUCCEEDED',
    );
    const [output] = task.outputs;
    expect([task.manageToken, output.url.includes(id)]).toEqual([null, false]);
    expect(readCode(await graphql(kiln.url, REMOVE, { id: output.id }))).toBe('NOT_FOUND');
    expect(readCode(await graphql(kiln.url, REMOVE, { id: output.id, token }))).toBeNull();
    expect((await fetch(output.url)).status).toBe(404);
  });

  it('answers the token over REST in a header, and none to callers who own what they make', async () => {
    const make = { task_type: 'tea', prompt: 'a fox' };
    const anonymous = await rest(kiln.url, 'POST', '/api/task/create/task', make);
    expect(anonymous.headers.get('x-manage-token')).toMatch(/^[\w-]{43}$/);
    const owned = await rest(kiln.url, 'POST', '/api/task/create/task', make, first);
    expect(owned.headers.get('x-manage-token')).toBeNull();
  });
});

describe('a cloned voice', () => {
  const VOICES = '{ voices(generator: "agg/speech_router") { id cloned } }';
  const SPEAK =
    'mutation ($voice: ID!) { synthesizeSpeech(input: { generator: "agg/speech_router", text: "Hello, this is what I sound like.", voiceId: $voice }) { id } }';
  const CLONE =
    'mutation ($sample: ID!, $voice: ID!) { cloneVoice(input: { generator: "agg/speech_router", sample: { fileId: $sample }, voiceId: $voice }) { id } }';
  const END = 'query ($id: ID!) { task(id: $id) { state error { message } outputs { id } } }';
  const awaitEnd = (id: string) =>
    until(
      async () => (await anna(END, { id })).data.task,
      ({ state }) => ['SUCCEEDED', 'FAILED'].includes(state),
    );
  const listed = async (ask: typeof anna) =>
    (await ask(VOICES)).data.voices.map(({ id }: { id: string }) => id) as string[];

  it('is listed for who cloned it, and spoken in by them alone', async () => {
    const [usual = ''] = await listed(anna);
    const spoken = await awaitEnd((await anna(SPEAK, { voice: usual })).data.synthesizeSpeech.id);
    const voice = 'VoiceOfAnna01';
    const clone = await anna(CLONE, { sample: spoken.outputs[0].id, voice });
    expect(await awaitEnd(clone.data.cloneVoice.id)).toMatchObject({ state: 'SUCCEEDED' });
    await until(
      () => listed(anna),
      (ids) => ids.includes(voice),
    );
    expect(await listed(boris)).not.toContain(voice);
    expect(JSON.stringify((await graphql(kiln.url, VOICES)).data)).not.toContain(voice);
    expect((await boris(SPEAK, { voice })).codes).toEqual(['BAD_USER_INPUT']);
    expect((await graphql(kiln.url, SPEAK, { voice })).errors?.[0]?.message).toContain('voiceId');
    expect((await anna(SPEAK, { voice })).codes).toEqual([]);
  });
});

describe('the catalog', () => {
  it('is changed by administrators alone, and read by everyone', async () => {
    const create = 'mutation { createVideoTemplate(input: { taskType: "mine" }) { id } }';
    expect((await anna(create)).codes).toEqual(['FORBIDDEN']);
    expect((await graphql(kiln.url, create)).errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
    const refused = await rest(kiln.url, 'POST', '/api/template/create', { task_type: 'mine' });
    expect([refused.status, refused.body.status]).toEqual([401, false]);
    expect((await graphql(kiln.url, create, {}, second)).data.createVideoTemplate.id).toMatch(/^\d+$/);
    const found = await boris('{ videoTemplates(taskType: "mine") { total } }');
    expect(found.data.videoTemplates.total).toBe(1);
  });
});

describe('a credential of our own form that is not valid', () => {
  it('is 401 on every face, whatever the operation; another one is ignored on media paths', async () => {
    const forged = { authorization: 'Bearer kiln_0000000000000000' };
    const read = await rest(kiln.url, 'GET', '/api/template/default', undefined, forged);
    expect([read.status, read.body]).toMatchObject([401, { status: false, data: null }]);
    const answer = await fetch(`${kiln.url}/graphql`, {
      method: 'POST',
      headers: { ...forged, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ health { service } }' }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
    const foreign = { authorization: 'Bearer sk-of-another-service' };
    expect((await rest(kiln.url, 'GET', '/api/template/default', undefined, foreign)).status).toBe(200);
  });
});
