import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { Comfy, type ComfyEvent } from '@comfyorg/sdk';
import { schemas } from '@comfyorg/sdk/low';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import bundled from '../../subgraphs/media/comfy-workflows/bundled-workflows.json' with { type: 'json' };
import { type Receiver, startReceiver } from '../../subgraphs/media/webhooks/receiver.fixture.ts';
import { openStreams } from '../../test/kit/clients/other-address.ts';
import { graphql, until } from '../../test/kit/clients/requests.ts';
import { signedIn } from '../../test/kit/clients/sign-in.ts';
import { isWhole } from '../../test/kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../../test/kit/kiln.ts';
import { rpc } from '../mcp/mcp-client.fixture.ts';

/** Comfy's own SDK against a whole Kiln with two machines, and what it does not say: replay, webhooks, refusals. */

const secrets = { anna: 'secret-of-anna', boris: 'secret-of-boris' };
type Name = keyof typeof secrets;
/** Most streams of one caller. */
const MOST_STREAMS = 100;

let kiln: KilnUnderTest;
let receiver: Receiver;
let anna: Comfy;
let photo: Buffer;
beforeAll(async () => {
  const keys = Object.entries(secrets).map(
    ([name, secret]) => `${name}=${createHash('sha256').update(secret).digest('hex')}`,
  );
  receiver = await startReceiver();
  kiln = await startKiln({
    settings: {
      OUTBOUND_ALLOW: receiver.host,
      SERVICE_KEYS: keys.join(','),
      REST_AUTH: 'required',
      CONNECTION_LIMIT: String(MOST_STREAMS),
    },
  });
  await fast();
  anna = createClient('anna');
  photo = await readFile(new URL('../../test/kit/samples/image.png', import.meta.url));
});
afterAll(async () => {
  await kiln?.close();
  await receiver?.close();
});

const fast = () => kiln.control('latency', { queuedMs: 0, runningMs: 0 });

/** The SDK takes its address from the environment, when it is made. */
function createClient(name: Name): Comfy {
  const before = process.env['COMFY_BASE_URL'];
  process.env['COMFY_BASE_URL'] = kiln.url;
  const client = new Comfy({ apiKey: secrets[name] });
  if (before === undefined) delete process.env['COMFY_BASE_URL'];
  else process.env['COMFY_BASE_URL'] = before;
  return client;
}

async function api(name: Name, method: string, path: string, body?: object, headers: object = {}) {
  const response = await fetch(`${kiln.url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${secrets[name]}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers };
}

/** A request of Anna's as it is, and its answer. */
async function send(path: string, init: RequestInit): Promise<readonly [number, unknown]> {
  const headers = { ...(init.headers as object), authorization: `Bearer ${secrets.anna}` };
  const response = await fetch(`${kiln.url}/api/v2${path}`, { ...init, headers });
  return [response.status, await response.json()];
}

const loading = (image: unknown) => ({ class_type: 'LoadImage', inputs: { image } });
const photoGraph = () => ({
  1: { class_type: 'LoadImage', inputs: { image: '' } },
  2: {
    class_type: 'ImageScale',
    inputs: { image: ['1', 0], width: 32, height: 16, upscale_method: 'area', crop: 'disabled' },
  },
  4: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'small' } },
});
const plainGraph = () => ({
  1: { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 0 } },
  2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'x' } },
});

describe("Comfy's SDK", () => {
  it('uploads an image once, runs a graph of it, and downloads what each node made', async () => {
    const workflow = anna.workflows.fromJson(photoGraph());
    const asset = anna.assets.fromBytes(photo, { filename: 'photo.png' });
    workflow.setInput('1', 'image', asset);
    const job = await anna.run(workflow);
    expect([job.status, asset.createdNew]).toEqual(['succeeded', true]);
    const [made] = job.getOutputs('4');
    expect(made).toMatchObject({ type: 'image', contentType: 'image/png', jobId: job.id });
    const png = Buffer.from((await made?.toBytes()) ?? []);
    expect([png.readUInt32BE(16), png.readUInt32BE(20), png.length]).toEqual([32, 16, made?.sizeBytes]);
    expect(await made?.toBytes({ range: [0, 4] })).toEqual(new Uint8Array(png.subarray(0, 5)));
    expect(job.getOutputs('2')).toEqual([]);

    const { workflow: submitted, format } = await job.getWorkflow();
    const reference = { __type: 'core/ASSET', info: { id: asset.id, hash: await asset.hash() } };
    expect(submitted).toMatchObject({ 1: { inputs: { image: reference } }, 4: photoGraph()[4] });
    expect(format).toBe('api');
    expect((await anna.jobs.get(job.id)).outputs).toHaveLength(1);
    expect(schemas.zJob.parse((await api('anna', 'GET', `/jobs/${job.id}`)).body).outputs).toHaveLength(1);
    const uploaded = schemas.zAsset.parse((await api('anna', 'GET', `/assets/${asset.id}`)).body);
    expect([uploaded.hash, uploaded.file_path]).toEqual([await asset.hash(), 'photo.png']);
    const result = schemas.zAsset.parse((await api('anna', 'GET', `/assets/${made?.id}`)).body);
    expect([result.hash, result.job_id]).toEqual([null, job.id]);

    const again = anna.assets.fromBytes(photo, { filename: 'again.png' });
    await again.commit();
    expect([again.id, again.createdNew]).toEqual([asset.id, false]);
    const others = createClient('boris').assets.fromBytes(photo);
    await others.commit();
    expect([others.id === asset.id, others.createdNew]).toEqual([false, true]);
    await again.delete();
    await expect(anna.assets.get(asset.id ?? '')).rejects.toMatchObject({ name: 'NotFound' });
  });

  it('follows a job to its end, and reads a text that it made', async () => {
    await kiln.control('latency', { queuedMs: 0, runningMs: 300, progressSteps: 3 });
    const graph = {
      1: { class_type: 'PrimitiveString', inputs: { value: 'a lighthouse' } },
      2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    };
    const job = await anna.submit(anna.workflows.fromJson(graph));
    const events: ComfyEvent[] = [];
    for await (const event of job.events()) events.push(event);
    await fast();
    expect(events.at(-1)).toMatchObject({ kind: 'statusChange', status: 'succeeded' });
    expect(events.map(({ kind }) => kind)).toContain('progress');
    const output = events.find((event) => event.kind === 'outputReady')?.output;
    expect([output?.nodeId, output?.type]).toEqual(['2', 'text']);
    expect(Buffer.from((await output?.toBytes()) ?? []).toString()).toBe('a lighthouse');
    const asset = await api('anna', 'GET', `/assets/${job.id}.text.0`);
    expect(asset.body).toMatchObject({ file_path: 'text-1.txt', size_bytes: 12, job_id: job.id, hash: null });
    expect((await api('anna', 'GET', `/assets/${job.id}.text.1/content`)).body.error.code).toBe('not_found');
    // One that has ended stays as it is.
    const cancelled = await api('anna', 'POST', `/jobs/${job.id}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'succeeded']);
    const { completed_at: completedAt, expires_at: expiresAt } = cancelled.body;
    // Tasks are kept forever (TASK_RETENTION_DAYS), for which this API has no word.
    expect(Date.parse(expiresAt) - Date.parse(completedAt)).toBe(36_525 * 86_400_000);
  });

  it('is shown what a sampler has so far, and what runs', async ({ onTestFinished }) => {
    const holdAt = (percent: number) => kiln.control('latency', { holdAt: percent });
    onTestFinished(async () => {
      await holdAt(100);
      await fast();
    });
    // Of its seven nodes the fifth samples, from 57 to 71 percent. It waits before that until its machine is listened to, and
    // there, with one preview shown, until a second stream is open.
    await kiln.control('latency', { queuedMs: 0, runningMs: 1_500, progressSteps: 12, holdAt: 46 });
    const graph = bundled[0]?.workflow as unknown as Record<string, { class_type: string }>;
    const job = await anna.submit(anna.workflows.fromJson(graph));
    await until(
      async () => (await api('anna', 'GET', `/jobs/${job.id}`)).body.progress?.current_node ?? null,
      (node) => node !== null,
      20_000,
    );
    await holdAt(62);
    const events: ComfyEvent[] = [];
    const later: string[] = [];
    for await (const event of job.events()) {
      if (event.kind === 'preview' && later.length === 0) {
        for await (const { kind } of job.events()) if (later.push(kind) === 3) break;
        await holdAt(100);
      }
      events.push(event);
    }
    expect(later).toEqual(['statusChange', 'preview', 'progress']);
    const sampler = Object.keys(graph).find((id) => graph[id]?.class_type === 'KSampler');
    const preview = events.find((event) => event.kind === 'preview');
    expect([preview?.nodeId, preview?.contentType]).toEqual([sampler, 'image/jpeg']);
    expect(
      Buffer.from(preview?.data ?? [])
        .subarray(0, 3)
        .toString('hex'),
    ).toBe('ffd8ff');
    const lines = events.flatMap((event) => (event.kind === 'log' ? [event.message] : []));
    expect(lines).toContain(`node ${sampler} (KSampler)`);
    expect(new Set(lines).size).toBe(lines.length);
  });

  // `npm test` has it without the SDK: test/providers/engine/comfyui-engine.test.ts.
  it.runIf(isWhole)('gets the end of a job from the other machine when its own dies', async () => {
    await kiln.control('latency', { queuedMs: 0, runningMs: 60_000 });
    const job = await anna.submit(anna.workflows.fromJson(plainGraph()));
    const jobs = async () => {
      const answer = await fetch(`${kiln.sandboxUrl}/_control/jobs`);
      const all = (await answer.json()) as readonly { readonly wire: string; readonly state: string }[];
      return all.filter(({ state }) => state === 'running');
    };
    const [running] = await until(jobs, (all) => all.length === 1, 20_000);
    await fast();
    await kiln.control('faults', { wire: running?.wire, fault: 'node-down', times: 1_000_000 });
    expect((await job.result()).outputs).toHaveLength(1);
    await fetch(`${kiln.sandboxUrl}/_control`, { method: 'DELETE' });
    await fast();
  });

  it('cancels a job, and names what is refused', async () => {
    await kiln.control('latency', { queuedMs: 0, runningMs: 60_000 });
    const job = await anna.submit(anna.workflows.fromJson(plainGraph()));
    expect((await job.cancel()).status).toMatch(/^cancel/);
    await job.wait(20_000);
    expect([job.status, job.error]).toEqual(['canceled', null]);
    await fast();
    const submitted = (graph: object) =>
      anna.submit(anna.workflows.fromJson(graph as Record<string, unknown>));
    const gone = { __type: 'core/ASSET', info: { id: '01a20ea5-3134-738d-81c9-6098724dedc2' } };
    const without = { ...photoGraph(), 1: { class_type: 'LoadImage', inputs: { image: gone } } };
    await expect(submitted(without)).rejects.toMatchObject({ name: 'MissingAsset' });
    await expect(submitted({ nodes: [], links: [] })).rejects.toMatchObject({ name: 'WorkflowFormatUi' });
    const imaginary = { ...plainGraph(), 3: { class_type: 'ImaginaryNode', inputs: {} } };
    await expect(submitted(imaginary)).rejects.toMatchObject({
      name: 'InvalidWorkflow',
      details: { node_errors: { 3: [{ reason: expect.stringContaining('ImaginaryNode') }] } },
    });
    await expect(anna.jobs.get(gone.info.id)).rejects.toMatchObject({ name: 'NotFound' });
    const outside = { ...plainGraph()[2], inputs: { images: ['1', 0], filename_prefix: '../../evil/x' } };
    await expect(anna.run(anna.workflows.fromJson({ ...plainGraph(), 2: outside }))).rejects.toMatchObject({
      name: 'JobFailed',
      error: { code: 'node_execution_error', node_id: '2', class_type: 'SaveImage' },
    });
  });
});

describe('a job', () => {
  it('is started once under an Idempotency-Key of any length', async () => {
    const body = { workflow: plainGraph() };
    const submit = async (key: string) =>
      (await api('anna', 'POST', '/jobs', body, { 'idempotency-key': key })).status;
    const long = 'k'.repeat(255);
    expect([await submit(long), await submit(long), await submit(`${long}k`)]).toEqual([201, 422, 201]);
  });

  it('is started once under an Idempotency-Key, and its end is posted to webhook_url', async () => {
    const key = { 'idempotency-key': 'one' };
    const body = { workflow: plainGraph(), webhook_url: receiver.url };
    const first = await api('anna', 'POST', '/jobs', body, key);
    expect(first).toMatchObject({ status: 201, body: { outputs: [], error: null } });
    const second = await api('anna', 'POST', '/jobs', body, key);
    expect([second.status, second.body.error]).toMatchObject([
      422,
      { code: 'idempotency_key_reuse', details: { job_id: first.body.id } },
    ]);
    const other = await api('anna', 'POST', '/jobs', { workflow: photoGraph() }, key);
    expect(other).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'idempotency_key_reuse',
          message: expect.stringMatching(/^Idempotency-Key was used for another request/),
        },
      },
    });
    const away = { workflow: plainGraph(), webhook_url: 'ftp://files.example.org/told' };
    expect(await api('anna', 'POST', '/jobs', away)).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'invalid_request',
          message: expect.stringMatching(/^webhook_url can't be called/),
          details: { problems: [{ field: 'webhook_url' }] },
        },
      },
    });
    const told = await until(
      async () => receiver.received,
      (all) => all.some((one) => one.body.includes(first.body.id as string)),
      30_000,
    );
    expect(told).toHaveLength(1);
  });

  it('is replayed after the event that a client has seen, each entry once and in order', async () => {
    const { body } = await api('anna', 'POST', '/jobs', { workflow: plainGraph() });
    const read = async (seen?: number) => {
      const response = await fetch(`${kiln.url}${body.urls.events as string}`, {
        headers: {
          authorization: `Bearer ${secrets.anna}`,
          ...(seen !== undefined && { 'last-event-id': String(seen) }),
        },
      });
      return response.text();
    };
    await read();
    const all = await read(0);
    const ids = [...all.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(all).toMatch(/event: output\ndata: .*"node_id":"2"/);
    expect(all.trimEnd()).toMatch(/event: status\ndata: \{"status":"succeeded","queue_position":null\}$/);
    const rest = await read(ids.at(-2));
    expect([...rest.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual([ids.at(-1)]);
  });

  it('is told no more on a stream whose key is revoked', async () => {
    const authorization = `Bearer ${secrets.anna}`;
    const CREATE = 'mutation { createServiceKey(name: "passing", scopes: []) { secret key { id } } }';
    const { data } = await graphql(kiln.url, CREATE, {}, { authorization });
    const { secret, key } = data.createServiceKey;
    await kiln.control('latency', { queuedMs: 0, runningMs: 60_000 });
    const theirs = { authorization: `Bearer ${secret}` };
    const { body } = await api('anna', 'POST', '/jobs', { workflow: plainGraph() }, theirs);
    const stream = await fetch(`${kiln.url}${body.urls.events as string}`, { headers: theirs });
    const REVOKE = 'mutation ($id: ID!) { revokeServiceKey(id: $id) { id } }';
    await graphql(kiln.url, REVOKE, { id: key.id }, { authorization });
    // Its job is cancelled as well: either may end the stream first.
    expect(await stream.text()).toMatch(/: the credential has ended\n\n$|"status":"canceled"[^\n]*\n\n$/);
    await api('anna', 'POST', `/jobs/${body.id}/cancel`);
    await fast();
  });

  it('is refused one stream more than its caller may have, and polls meanwhile', async () => {
    await kiln.control('latency', { queuedMs: 0, runningMs: 60_000 });
    const { body } = await api('boris', 'POST', '/jobs', { workflow: plainGraph() });
    const url = `${kiln.url}${body.urls.events as string}`;
    const headers = { authorization: `Bearer ${secrets.boris}` };
    const streams = await openStreams(url, MOST_STREAMS, { headers });
    const refused = await fetch(url, { headers });
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await refused.json()).toMatchObject({ error: { code: 'too_many_streams' } });
    const told = { notifications: { taskIds: [body.id] } };
    const overMcp = await rpc(kiln.url, 'subscriptions/listen', told, { headers });
    expect(overMcp.error?.message).toMatch(/^too many streams are open/);
    expect((await api('boris', 'GET', `/jobs/${body.id}`)).status).toBe(200);
    const { body: hers } = await api('anna', 'POST', '/jobs', { workflow: plainGraph() });
    expect((await api('anna', 'POST', `/jobs/${hers.id}/cancel`)).status).toBe(200);
    streams.close();
    const open = () => fetch(url, { headers });
    const again = await until(open, ({ status }) => status === 200);
    await again.body?.cancel();
    await api('boris', 'POST', `/jobs/${body.id}/cancel`);
    await fast();
  });

  it('ends with its owner’s account, and is nobody’s afterwards', async () => {
    const { access_token: token } = await signedIn(kiln.url, 'sandbox-ben');
    const theirs = { authorization: `Bearer ${token}` };
    await kiln.control('latency', { queuedMs: 0, runningMs: 60_000 });
    const { body } = await api('anna', 'POST', '/jobs', { workflow: plainGraph() }, theirs);
    const stream = await fetch(`${kiln.url}${body.urls.events as string}`, { headers: theirs });
    const { data } = await graphql(kiln.url, 'mutation { deleteAccount }', {}, theirs);
    expect(data.deleteAccount).toBe(true);
    // Its job is cancelled as well: either may end the stream first.
    expect(await stream.text()).toMatch(/: the credential has ended\n\n$|"status":"canceled"[^\n]*\n\n$/);
    const after = await api('anna', 'GET', `/jobs/${body.id}`, undefined, theirs);
    expect([after.status, after.body.error.code]).toEqual([401, 'unauthorized']);
    const rows = () =>
      kiln.runtime.database.pool.query('select 1 from media.tasks where id = $1', [body.id as string]);
    await until(rows, ({ rowCount }) => rowCount === 0, 20_000);
    const others = await api('anna', 'GET', `/jobs/${body.id}`);
    expect([others.status, others.body.error.code]).toEqual([404, 'not_found']);
    await fast();
  });

  it('says that it was lost when every machine has forgotten it', async () => {
    await kiln.control('faults', { wire: 'comfyui', fault: 'lost', times: 1_000 });
    const job = await anna.submit(anna.workflows.fromJson(plainGraph()));
    await job.wait(60_000);
    expect([job.status, job.error]).toMatchObject(['failed', { code: 'lost', node_id: null }]);
    const authorization = `Bearer ${secrets.anna}`;
    const events = await fetch(`${kiln.url}/api/v2/jobs/${job.id}/events`, { headers: { authorization } });
    expect(await events.text()).toMatch(/"level":"error"[^]*"status":"failed"/);
    await fetch(`${kiln.sandboxUrl}/_control`, { method: 'DELETE' });
    await fast();
  });

  it.each([
    ['no graph', { workflow: 'a lighthouse' }, 'invalid_workflow', 'workflow must be a graph'],
    ['an address that is none', { workflow: plainGraph(), webhook_url: 7 }, 'invalid_request', 'webhook_url'],
    ['a key of partners', { workflow: plainGraph(), extra_data: { a: 1 } }, 'invalid_request', 'extra_data'],
    [
      'a reference without an id',
      { workflow: { ...photoGraph(), 1: loading({ __type: 'core/ASSET', info: {} }) } },
      'missing_asset',
      'node 1: info.id',
    ],
    [
      'a reference within a value',
      { workflow: { ...photoGraph(), 1: loading([{ __type: 'core/ASSET', info: { id: 'x' } }]) } },
      'missing_asset',
      'whole value of an input',
    ],
    [
      'a saved graph beside other nodes',
      { workflow: { ...plainGraph(), 3: { class_type: 'workflow/text-to-image', inputs: {} } } },
      'invalid_workflow',
      'node 3: a saved workflow is called by a graph that has this one node',
    ],
  ])('is refused with %s', async (_, body, code, message) => {
    const refused = await api('anna', 'POST', '/jobs', body);
    expect([refused.status, refused.body.error]).toMatchObject([
      422,
      { code, message: expect.stringContaining(message) },
    ]);
  });

  it('runs a saved graph by its name, is refused at its node, and is not cancelled once it has ended', async () => {
    const inputs = { prompt: 'a lighthouse' };
    const workflow = anna.workflows.fromJson({ 1: { class_type: 'workflow/text-to-image', inputs } });
    const job = await anna.run(workflow);
    expect([job.status, job.outputs.length]).toEqual(['succeeded', 1]);
    const wrong = async (name: string, given: object) => {
      const calling = { 7: { class_type: `workflow/${name}`, inputs: given } };
      return (await api('anna', 'POST', '/jobs', { workflow: calling })).body.error;
    };
    const gone = { __type: 'core/ASSET', info: { id: '01a20ea5-3134-738d-81c9-6098724dedc2' } };
    expect(await wrong('image-to-image', { prompt: 'x', image: gone })).toMatchObject({
      code: 'missing_asset',
      details: { node_errors: { 7: [{ field: 'inputs.7.image.fileId' }] } },
    });
    for (const [name, field] of [
      ['text-to-image', 'inputs.7.prompt'],
      ['nobody-knows', 'workflow.7.class_type'],
    ] as const) {
      expect(await wrong(name, {})).toMatchObject({
        code: 'invalid_workflow',
        details: { node_errors: { 7: [{ field }] } },
      });
    }
    const cancelled = await api('anna', 'POST', `/jobs/${job.id}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'succeeded']);
    const { completed_at: completedAt, expires_at: expiresAt } = cancelled.body;
    // Tasks are kept forever (TASK_RETENTION_DAYS), for which this API has no word.
    expect(Date.parse(expiresAt) - Date.parse(completedAt)).toBe(36_525 * 86_400_000);
  });

  it('leaves no file behind whose form breaks off, and names what is no form, path or method', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"`;
    const file = `${part('file')}; filename="left-behind.txt"\r\n\r\nwhole\r\n`;
    const sending = (body: string) => send('/assets', { method: 'POST', headers, body });
    expect(await sending(`${file}${part('content_type')}\r\n\r\ntext/pl`)).toMatchObject([
      422,
      { error: { code: 'invalid_request' } },
    ]);
    expect(await sending(`${part('other')}\r\n\r\nx\r\n--b--\r\n`)).toMatchObject([
      422,
      { error: { message: 'file is needed: a part of a multipart form' } },
    ]);
    const authorization = `Bearer ${secrets.anna}`;
    const { data } = await graphql(kiln.url, '{ medias { edges { node { name } } } }', {}, { authorization });
    expect(JSON.stringify(data)).not.toContain('left-behind');
    expect(await send('/jobs', { method: 'POST', body: '[]' })).toMatchObject([
      422,
      { error: { message: expect.stringContaining('the body must be a JSON object') } },
    ]);
    expect(await send('/jobs', { method: 'DELETE' })).toMatchObject([
      405,
      { error: { code: 'method_not_allowed' } },
    ]);
    expect((await send('/jobs/%E0%A4%A', {}))[0]).toBe(404);
    expect((await send('/assets/01a20ea5-3134-738d-81c9-6098724dedc2.text.0', {}))[0]).toBe(404);
  });

  it('refuses bytes other than its sender meant, fields that are reserved, and callers without a credential', async () => {
    const form = new FormData();
    form.append('content_type', 'image/png');
    form.append('file_path', 'a.png');
    form.append('expected_hash', `blake3:${'0'.repeat(64)}`);
    form.append('file', new Blob([Uint8Array.from(photo)]), 'a.png');
    const authorization = `Bearer ${secrets.anna}`;
    const sent = { method: 'POST', body: form, headers: { authorization } };
    const response = await fetch(`${kiln.url}/api/v2/assets`, sent);
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { error: { code: 'hash_mismatch' } },
    ]);
    const { data } = await graphql(
      kiln.url,
      '{ medias { totalCount edges { node { name } } } }',
      {},
      { authorization },
    );
    expect(JSON.stringify(data)).not.toContain('"a.png"');
    const reserved = await api('anna', 'POST', '/jobs', { workflow: plainGraph(), inputs: {} });
    expect([reserved.status, reserved.body.error.message]).toEqual([422, expect.stringContaining('inputs')]);
    const anonymous = await fetch(`${kiln.url}/api/v2/jobs/x`, { headers: { authorization: 'Bearer none' } });
    expect([anonymous.status, await anonymous.json()]).toMatchObject([
      401,
      { error: { code: 'unauthorized' } },
    ]);
    const unknown = await api('anna', 'GET', '/nothing');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found']);
    const put = await api('anna', 'PUT', '/jobs');
    expect([put.status, put.body.error.code, put.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'POST',
    ]);
    const empty = await fetch(`${kiln.url}/api/v2/assets`, { ...sent, body: new FormData() });
    expect([empty.status, await empty.json()]).toMatchObject([422, { error: { code: 'invalid_request' } }]);
  });

  const reference = (info: object) => ({ __type: 'core/ASSET', info });
  const load = (image: unknown) => ({ 1: { class_type: 'LoadImage', inputs: { image } } });
  it.each([
    ['no graph', 'invalid_workflow', { workflow: 'x' }],
    ['an asset without an id', 'missing_asset', { workflow: load(reference({})) }],
    ['an asset within a value', 'missing_asset', { workflow: load([reference({ id: 'a' })]) }],
    [
      'a saved workflow among other nodes',
      'invalid_workflow',
      { workflow: { ...plainGraph(), 9: { class_type: 'workflow/text-to-image', inputs: {} } } },
    ],
    ['a webhook that is no address', 'invalid_request', { workflow: plainGraph(), webhook_url: 1 }],
    [
      'a webhook of a private address',
      'invalid_request',
      { workflow: plainGraph(), webhook_url: 'http://10.0.0.1' },
    ],
    ['keys of partners', 'invalid_request', { workflow: plainGraph(), extra_data: { api_key: 'x' } }],
    ['a list', 'invalid_request', []],
  ])('is not submitted with %s: %s', async (_, code, body) => {
    const { status, body: refusal } = await api('anna', 'POST', '/jobs', body);
    expect([status, refusal.error.code]).toEqual([422, code]);
  });

  it('calls a saved workflow by its name, with an asset', async () => {
    const form = new FormData();
    form.append('file', new Blob([Uint8Array.from(photo)]), 'b.png');
    const headers = { authorization: `Bearer ${secrets.anna}` };
    const stored = await fetch(`${kiln.url}/api/v2/assets`, { method: 'POST', body: form, headers });
    const { id } = (await stored.json()) as { readonly id: string };
    const inputs = { image: reference({ id }), width: 64, height: 64 };
    const made = await api('anna', 'POST', '/jobs', {
      workflow: { 5: { class_type: 'workflow/image-resize', inputs } },
    });
    expect(made.status).toBe(201);
    const job = await until(
      async () => (await api('anna', 'GET', `/jobs/${made.body.id}`)).body,
      ({ completed_at: end }) => end !== null,
      20_000,
    );
    expect([job.status, job.outputs.length]).toEqual(['succeeded', 1]);
  });
});
