import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createLifecycle } from '../platform/process/lifecycle.ts';
import { silentLogger } from '../platform/process/logger.ts';
import { sections } from '../rest-compat/tables.ts';
import { createStripe } from '../subgraphs/workflow/payments/provider/stripe.ts';
import { remoteSandbox } from '../subgraphs/workflow/remote-sandbox.ts';
import { graphql, rest } from '../test/kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../test/kit/kiln.ts';
import { runComparison } from './compare/program.ts';
import { composeImport } from './import/compose.ts';
import { importAll } from './import/import-all.ts';
import { readOptions } from './import/options.ts';
import { createReport } from './import/report.ts';
import { CLIENT_SECRET, pollTask, useMedia, useWorkflow } from './testing/clients.ts';
import { runProgram, startProgram } from './testing/programs.ts';

/**
 * The move from an existing installation to Kiln, as docs/migrating.md has it: recording, comparison, import, the switch,
 * and what stays when the old one is gone. All of it with one Kiln, which has the settings of the switch from its start.
 */

const metricsKey = 'a-key-that-only-this-test-knows-0123';

let kiln: KilnUnderTest;
let folder: string;
let recorders: readonly Awaited<ReturnType<typeof recording>>[] = [];
/** How many calls the old service had when its clients stopped. */
let callsOfClients = 0;
const lifecycle = createLifecycle({ logger: silentLogger(), graceMs: 5_000 });
let old: Awaited<ReturnType<typeof startProgram>>;
let addresses: { readonly media: string; readonly workflow: string; readonly token: string };
let products: readonly { readonly productId: string; readonly priceId: string }[];

beforeAll(async () => {
  old = await startProgram('migration/testing/old-service/main.ts', [':memory:']);
  addresses = JSON.parse(old.line);
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-move-'));
  const starting = [recording('media'), recording('workflow')];
  kiln = await startKiln({
    settings: {
      FALLBACK_MEDIA_URL: addresses.media,
      FALLBACK_WORKFLOW_URL: addresses.workflow,
      METRICS_KEY: metricsKey,
      LEGACY_JWKS: `issuer=https://old.example.org,audience=old-api,jwks=${addresses.media}/jwks,until=2099-12-31`,
    },
  });
  recorders = await Promise.all(starting);
  products = [await product('Portrait', 500), await product('Dear', 12_345)];
  await fetch(`${addresses.media}/products`, { method: 'POST', body: JSON.stringify(products) });
});
afterAll(async () => {
  await lifecycle.stop('the test is over');
  await Promise.all([old, ...recorders].map((program) => program?.stop()));
  await kiln?.close();
  await rm(folder, { recursive: true, force: true });
});

const locateFile = (service: string) => path.join(folder, `${service}.jsonl`);

/** A recording proxy before one of the old services. */
async function recording(service: 'media' | 'workflow') {
  const words = ['--to', addresses[service], '--out', locateFile(service), '--port', '0'];
  const program = await startProgram('migration/record/main.ts', words);
  return { ...program, url: /http:\/\/[\d.:]+/.exec(program.line)?.[0] ?? '' };
}

async function callsSinceClients() {
  const calls = (await (await fetch(`${addresses.media}/calls`)).json()) as Record<string, string>[];
  return calls.slice(callsOfClients);
}

/** A product that the old service once made at the payment provider. */
async function product(name: string, amount: number) {
  const { url, secretKey, webhookSecret } = remoteSandbox(kiln.sandboxUrl, kiln.runtime.http).stripe;
  const { catalog } = createStripe({ secretKey, webhookSecrets: [webhookSecret], baseUrl: url });
  const about = { templateCode: name, name, description: null, isActive: true, idempotencyKey: `p-${name}` };
  const productId = await catalog.createProduct(about);
  const price = { productId, amount, currency: 'usd', lookupKey: name, idempotencyKey: `c-${name}` };
  return { productId, priceId: await catalog.createPrice(price) };
}

async function importing(...words: readonly string[]) {
  return importingWith({}, ...words);
}

/** Imports with settings that the Kiln that runs does not have. */
async function importingWith(
  settings: Partial<KilnUnderTest['runtime']['config']>,
  ...words: readonly string[]
) {
  const { media, workflow } = addresses;
  const options = readOptions(['--media', media, '--workflow', workflow, '--per-second', '500', ...words]);
  const report = createReport(options);
  const server = { ...kiln.runtime.config.server, publicUrl: kiln.url };
  const config = { ...kiln.runtime.config, ...settings, server };
  await importAll(await composeImport({ ...kiln.runtime, config, lifecycle }), options, report);
  return { text: report.text(), isComplete: report.isComplete() };
}

describe('recording and comparing', () => {
  it('records what clients send, without their secrets', async () => {
    const [media, workflow] = recorders;
    await Promise.all([useMedia(media?.url ?? ''), useWorkflow(workflow?.url ?? '')]);
    expect(await pollTask(media?.url ?? '', 'task-41')).toMatchObject({ status: 'processing' });
    const ends = await Promise.all(recorders.map(({ stop }) => stop()));
    expect(ends[0]?.stdout).toContain('8 requests recorded');
    expect(ends.map(({ stderr, exitCode }) => [stderr, exitCode])).toEqual([
      ['', 0],
      ['', 0],
    ]);
    expect(await readFile(locateFile('media'), 'utf8')).not.toContain(CLIENT_SECRET);
    callsOfClients = (await callsSinceClients()).length;
  });

  it('says what is wrong with the words of a recording', async () => {
    const words = ['--to', addresses.media, '--out', locateFile('none')];
    const said = await Promise.all([
      runProgram('migration/record/main.ts', [...words, '--port', 'none']),
      runProgram('migration/record/main.ts', ['--to', 'nowhere']),
    ]);
    expect(said.map(({ stderr, exitCode }) => [stderr.split('\n')[0], exitCode])).toEqual([
      ['--port must be a number up to 65535', 1],
      ['--to URL and --out FILE are needed', 1],
    ]);
  });

  it('stops recording though a client holds a stream that never ends', async () => {
    const endless = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
    });
    await once(endless.listen(0, '127.0.0.1'), 'listening');
    const to = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
    const words = ['--to', to, '--out', locateFile('endless'), '--port', '0'];
    const recorder = await startProgram('migration/record/main.ts', words);
    const address = /http:\/\/[\d.:]+/.exec(recorder.line)?.[0] ?? '';
    const reader = (await fetch(`${address}/events`)).body?.getReader();
    await reader?.read();
    const { stdout, stderr, exitCode } = await recorder.stop();
    endless.close();
    expect([stderr, exitCode]).toEqual(['', 0]);
    expect(stdout).toContain('1 requests recorded');
    expect(await readFile(locateFile('endless'), 'utf8')).toContain('data: one');
    await reader?.cancel().catch(() => undefined);
  });

  it('finds where the media services differ, in a table, with reads alone at the old side', async () => {
    const { media } = addresses;
    const words = [
      '--recorded',
      locateFile('media'),
      '--old',
      media,
      '--new',
      kiln.url,
      '--per-second',
      '200',
    ];
    const { stdout, stderr, exitCode } = await runProgram('migration/compare/main.ts', words);
    expect([stderr, exitCode]).toEqual(['', 1]);
    const lines = stdout.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '));
    expect(lines).toEqual([
      'operation | requests | equal | differing | first difference',
      'GET /api/template/check/task_type | 1 | 0 | 1 | data.is_available is absent here',
      'GET /api/file/health | 1 | 0 | 1 | ok is absent here',
      'POST /api/agg/imga/async/generate/image | 1 | 1 | 0',
      'GET /api/agg/imga/async/query/status | 2 | 2 | 0',
      'GET /api/task/status/{task_id} | 1 | 1 | 0',
      '',
      'Fields that clients send and Kiln does not read (the move breaks what they ask for):',
      'POST /api/agg/imga/async/generate/image: client_hint (1 requests)',
      '',
      'Not compared:',
      'POST /api/file/upload/s3 (1 requests): it changes data, money or sign-in',
      '',
      'Not documented, so not compared:',
      'GET /events (1 requests)',
      '',
    ]);
    expect((await callsSinceClients()).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('compares recorded answers alone, as JSON, and follows what it started by its id here', async () => {
    const words = ['--recorded', locateFile('workflow'), '--new', kiln.url, '--json', '--per-second', '200'];
    const { text, exitCode } = await runComparison(words, sections);
    const equal = { requests: 1, equal: 1, differing: 0, differences: {} };
    const differing = { requests: 1, equal: 0, differing: 1 };
    expect(exitCode).toBe(1);
    expect(JSON.parse(text)).toEqual({
      operations: [
        { operation: 'GET /templates', ...equal },
        { operation: 'GET /payment/health', ...equal },
        {
          operation: 'POST /templates/execute/{code}',
          ...differing,
          differences: { 'data.status is "running" here, "started" there': 1 },
        },
        { operation: 'GET /templates/execution/{taskId}/progress', ...equal },
        { operation: 'GET /task/{taskId}', ...equal },
      ],
      notCompared: [],
      undocumented: [],
      unreadFields: [],
      isEqual: false,
    });
  });

  it("compares with what a browser's HAR has, and prints no secret of it", async () => {
    const file = path.resolve(import.meta.dirname, 'fixtures/browser.har');
    const words = ['--recorded', file, '--base', 'https://media.old.example.org', '--new', kiln.url];
    const { text, exitCode } = await runComparison(words, sections);
    expect(exitCode).toBe(1);
    expect(text).toContain('data.is_available is absent here');
    expect(text).toContain('POST /api/agg/imga/async/generate/image: watermark (1 requests)');
    expect(text).toContain('POST /api/llm/chat: top_secret_option (1 requests)');
    expect(text).toContain('GET /api/file/health (1 requests): no answer was recorded');
    expect(text).not.toContain('old-secret');
    await expect(runComparison(['--recorded', file], sections)).rejects.toThrow('--new must be an http://');
  });
});

const template = async (code: string) => {
  const { body } = await rest(kiln.url, 'GET', `/templates/get/${code}`);
  return (body as { data: Record<string, unknown> }).data;
};

describe('importing templates', () => {
  it('says in a dry run what it would do, and writes nothing', async () => {
    const { text, isComplete } = await importing('--dry-run');
    expect(text).toContain('Dry run: nothing was written');
    expect(text).toContain('video templates: 105 taken over, 1 not taken over');
    expect(isComplete).toBe(false);
    expect(await rest(kiln.url, 'GET', '/templates/get/portrait')).toMatchObject({ status: 404 });
  });

  it('is a program beside a Kiln that runs, which says where it stopped', async () => {
    // The media service has no templates of the other one.
    const words = ['--media', addresses.media, '--workflow', addresses.media, '--dry-run'];
    const { databaseUrl } = kiln.runtime.config.data;
    const settings = { DATABASE_URL: databaseUrl ?? '', DATA_DIR: kiln.dataDir };
    const { stdout, stderr, exitCode } = await runProgram('migration/import/main.ts', words, settings);
    expect(stderr).toBe(`The import stopped: ${addresses.media}/templates answers 404\n`);
    expect(stdout).toMatch(
      /^Dry run: .*\n  stopped before its end.*\n  video templates: 105 taken over, 1 not/,
    );
    expect(exitCode).toBe(1);
    const wrong = await runProgram('migration/import/main.ts', ['--copy-files', '--workflow', 'http://old']);
    expect([wrong.stderr.split('\n')[0], wrong.stdout, wrong.exitCode]).toEqual([
      '--copy-files needs --users FILE',
      '',
      1,
    ]);
  });

  it('takes over all pages with additional fields, and adopts products without making any', async () => {
    const { text } = await importing('--authorization', 'token-of-old');
    expect(text).toContain('video templates: 105 taken over, 1 not taken over');
    expect(text).toContain('templates: 3 taken over, 2 taken over, inactive');
    expect(text).toContain('"dance_wf_v3": "video"');
    expect(text).toContain('imagePrompt: not answered by the old service, so not taken over (5 templates)');
    expect(text).toMatch(
      /template dear: taken over, inactive\n.*is 12345 usd, but here it would cost 700 usd/,
    );
    expect(text).not.toContain('token-of-old');
    const listed = await rest(kiln.url, 'GET', '/api/template/default?task_type=scene-104');
    expect(listed.body).toMatchObject({
      data: [{ task_type: 'scene-104', sort_weight: 103, badges: [{ text: 'new', until: null }] }],
    });
    const tea = await rest(kiln.url, 'GET', '/api/template/default?task_type=tea');
    expect(tea.body).toMatchObject({ data: [{ prompt: 'tea as the old service makes it' }] });
    expect(await template('portrait')).toMatchObject({
      isActive: true,
      ppProductId: products[0]?.productId,
      createdAt: '2024-05-06T07:08:09.000Z',
    });
    expect(await template('dance')).toMatchObject({ isActive: false, workflow: 'dance_wf_v3' });
    expect(await template('retired')).toMatchObject({ isActive: false });
    expect(await template('clip')).toMatchObject({ name: 'Our clip' });
    const verified = await rest(kiln.url, 'GET', '/templates/verify-sync/portrait');
    expect(verified.body).toMatchObject({ data: { synced: true, ppPriceId: products[0]?.priceId } });
  });

  it('changes nothing the second time, and has only read at the old service', async () => {
    const before = await rest(kiln.url, 'GET', '/templates');
    const { text } = await importing();
    expect(text).toContain('video templates: 105 already there, 1 not taken over');
    expect(text).toContain('templates: 2 taken over, inactive, 3 already there');
    expect((await rest(kiln.url, 'GET', '/templates')).body).toMatchObject({
      data: (before.body as { data: object }).data,
    });
    const calls = await callsSinceClients();
    expect(calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(calls).toContainEqual(expect.objectContaining({ authorization: 'Bearer token-of-old' }));
  });

  it('finishes what came in inactive when WORKFLOW_NAMES knows its workflow', async () => {
    const names = { dance_wf_v3: { workflow: 'video', parameters: {} } };
    const { text } = await importingWith({ workflowNames: names });
    expect(text).toContain('templates: 1 taken over, 1 taken over, inactive, 3 already there');
    expect(await template('dance')).toMatchObject({ isActive: true, workflow: 'dance_wf_v3' });
  });

  it('leaves what was changed here, and says so', async () => {
    await rest(kiln.url, 'PUT', '/templates/update/portrait', { name: 'Changed here' });
    const { text } = await importing();
    expect(text).toContain('template portrait: conflict\n    name is "Changed here" here, "Portrait" there');
    expect(await template('portrait')).toMatchObject({ name: 'Changed here' });
  });

  it('does not bring back what was deleted here', async () => {
    await rest(kiln.url, 'DELETE', '/templates/delete/retired');
    expect((await importing()).text).toContain('template retired: conflict\n    it was deleted here');
    expect(await rest(kiln.url, 'GET', '/templates/get/retired')).toMatchObject({ status: 404 });
  });

  it('does not activate again what was deactivated here', async () => {
    await rest(kiln.url, 'POST', '/templates/deactivate/clip');
    const { text } = await importing();
    expect(text).toContain('template clip: conflict\n    it was deactivated here');
    expect(await template('clip')).toMatchObject({ isActive: false });
  });

  it('names the option that is wrong', () => {
    expect(() => readOptions(['--media', 'nowhere'])).toThrow(
      '--media must be an http:// or https:// address',
    );
    expect(() => readOptions(['--dry-run'])).toThrow('--media URL, --workflow URL or both are needed');
    expect(() => readOptions(['--meda', 'x'])).toThrow('--meda');
    expect(() => readOptions(['--media', 'http://a', '--users', 'x'])).toThrow(
      '--users needs --workflow URL',
    );
    expect(() => readOptions(['--media', 'http://a', '--per-second', '0'])).toThrow(
      '--per-second must be a number up to 1000',
    );
  });
});

describe('importing payments and executions', () => {
  const storedAnswers = () =>
    kiln.runtime.database.pool
      .query('select operation, id, body, has_copies from gateway.stored_answers order by 1, 2')
      .then(({ rows }) => rows as { operation: string; id: string; body: unknown; has_copies: boolean }[]);
  let users: string;

  beforeAll(async () => {
    users = path.join(kiln.dataDir, 'users.txt');
    await writeFile(users, 'sub-ada\r\n\nsub-bob\nsub-bob\nsub-nobody\n');
  });

  it('takes over what has ended, and says what has not and what no operation answers', async () => {
    const before = await storedAnswers();
    expect((await importing('--users', users, '--dry-run')).text).toContain('payments: 2 taken over, 1 not');
    expect(await storedAnswers()).toEqual(before);
    const { text, isComplete } = await importing('--users', users);
    expect(text).toContain('payments: 2 taken over, 1 not taken over');
    expect(text).toContain('executions: 3 taken over, 1 not taken over');
    expect(text).toContain('payment pay-8: not taken over\n    it has not ended there');
    expect(text).toContain('execution exec-11: not taken over\n    the list names no task, and');
    expect(isComplete).toBe(false);
    const run = (await storedAnswers()).find(
      ({ id, operation }) => id === 'run-10' && /task/.test(operation),
    );
    expect(JSON.stringify(run?.body)).toContain(`${addresses.workflow}/storage/run-10.mp4`);
  });

  it('brings results into storage at another run, and changes nothing after that', async () => {
    await importing('--users', users, '--copy-files');
    const taken = await storedAnswers();
    expect(JSON.stringify(taken.filter(({ id }) => id === 'run-10'))).not.toContain(addresses.workflow);
    expect(taken.every(({ has_copies }) => has_copies)).toBe(true);
    const { text } = await importing('--users', users, '--copy-files');
    expect(text).toContain('payments: 2 already there, 1 not taken over');
    expect(text).toContain('executions: 3 already there, 1 not taken over');
    expect(await storedAnswers()).toEqual(taken);
  });

  it('takes no users whose file can not be read, or whose addresses of results would end', async () => {
    const nowhere = path.join(kiln.dataDir, 'nowhere.txt');
    await expect(importing('--users', nowhere)).rejects.toThrow(/^--users: .*nowhere\.txt/);
    const files = { ...kiln.runtime.config.files, urlTtlSeconds: 60 };
    await expect(importingWith({ files }, '--users', users)).rejects.toThrow('FILES_URL_TTL must be 0');
  });

  it('keeps what is listed of users whose lists are short or fail, and names those lists', async () => {
    const file = path.join(kiln.dataDir, 'short.txt');
    await writeFile(file, 'sub-cleo\nsub-dora\nsub-finn\n');
    // Their results are larger than that, so they keep their addresses.
    const limits = { ...kiln.runtime.config.limits, uploadMaxBytes: 1_000 };
    const { text, isComplete } = await importingWith({ limits }, '--users', file, '--copy-files');
    expect(text).toContain('executions: 2 taken over');
    expect(text).toContain(
      'payment list sub-cleo: not taken over\n    the old service lists 1 of 2 payments of sub-cleo',
    );
    expect(text).toMatch(/payment list sub-dora: not taken over\n.*userId=sub-dora answers 500/);
    expect(text).toMatch(/payment list sub-finn: not taken over\n.*is not answered as documented/);
    expect(text).toContain(
      'execution list sub-dora: not taken over\n    the old service lists 1 of 3 executions of sub-dora',
    );
    expect(isComplete).toBe(false);
    const stored = (await storedAnswers()).filter(({ operation }) => operation === 'GET /payment/history');
    expect(stored.map(({ id }) => id)).not.toContain('sub-finn');
  });
});

describe('access tokens of the old service', () => {
  it('name their user, to whom old and new things belong', async () => {
    const headers = { authorization: `Bearer ${addresses.token}` };
    const answer = await (await fetch(`${kiln.url}/auth/idp/userinfo`, { headers })).json();
    expect(answer).toMatchObject({ data: { id: expect.stringMatching(/^usr_/), sub: 'sub-ada' } });
    const socket = createClient({
      url: `${kiln.url.replace('http', 'ws')}/graphql`,
      connectionParams: headers,
      webSocketImpl: WebSocket,
    });
    const [overSocket] = await Array.fromAsync(socket.iterate({ query: '{ viewer { subject } }' }));
    expect(overSocket).toEqual({ data: { viewer: { subject: 'sub-ada' } } });
    await socket.dispose();
    const forged = { authorization: `Bearer ${addresses.token.slice(0, -4)}AAAA` };
    expect((await fetch(`${kiln.url}/auth/idp/userinfo`, { headers: forged })).status).toBe(401);
  });
});

describe('an access token of the old service whose user has deleted the account here', () => {
  it('names a new one, to whom nothing of before belongs', async () => {
    const headers = { authorization: `Bearer ${addresses.token}` };
    const ask = async (query: string) => (await graphql(kiln.url, query, {}, headers)).data;
    const { id } = (await ask('{ viewer { id } }')).viewer;
    expect(await ask('mutation { deleteAccount }')).toEqual({ deleteAccount: true });
    const { viewer } = await ask('{ viewer { id subject } }');
    expect(viewer).toMatchObject({ id: expect.stringMatching(/^usr_/), subject: 'sub-ada' });
    expect(viewer.id).not.toBe(id);
  });
});

describe('ids of the old service', () => {
  const readVideo = (body: unknown) => (body as { data: { url: string } }).data.url;

  it('are asked there until their task has ended, and then answered with results of our own', async () => {
    // The client of before has another address, and knows nothing else.
    expect(await pollTask(kiln.url, 'task-41')).toMatchObject({ status: 'processing' });
    const ended = await pollTask(kiln.url, 'task-41');
    expect(ended).toMatchObject({ status: true, data: { task_id: 'task-41' } });
    expect(readVideo(ended)).toContain(`${kiln.url}/files/`);
    const film = Buffer.from(await (await fetch(readVideo(ended))).arrayBuffer());
    expect(film).toEqual(Buffer.alloc(2_000, 7));
    const paymentPath = '/payment/pay-7';
    expect(await rest(kiln.url, 'GET', paymentPath)).toMatchObject({
      status: 200,
      body: { data: { id: 'pay-7', userId: 'sub-ada', status: 'completed', amount: 500 } },
    });
    expect(await rest(kiln.url, 'GET', '/templates/execution/run-7/progress')).toMatchObject({
      body: { data: { taskId: 'run-7', status: 'completed' } },
    });
  });

  it('keep addresses of which no copy can be made, and wait for no other try', async () => {
    const odd = (await pollTask(kiln.url, 'task-odd')) as { data: { urls: readonly string[] } };
    const files = ['gone', 'empty'].map((name) => `${addresses.media}/storage/${name}.mp4`);
    expect(odd.data.urls).toEqual([
      ...files,
      'http://10.1.2.3/private.mp4',
      expect.stringContaining(kiln.url),
    ]);
    const { rows } = await kiln.runtime.database.pool.query(
      "select has_copies from gateway.stored_answers where id like 'task-odd%'",
    );
    expect(rows).toEqual([{ has_copies: true }]);
  });

  it('are counted by operation, who answered, and age', async () => {
    const headers = { authorization: `Bearer ${metricsKey}` };
    const metrics = await (await fetch(`${kiln.url}/metrics`, { headers })).text();
    const count = (operation: string, outcome: string, age: string) =>
      metrics.includes(
        `kiln_fallback_reads_total{operation="${operation}",outcome="${outcome}",age="${age}",role="all"} `,
      );
    expect(count('GET /api/task/status/{task_id}', 'answered', 'unknown')).toBe(true);
    expect(count('GET /payment/{paymentId}', 'stored', 'older')).toBe(true);
  });

  it('stand in the lists of their user, beside what was made here', async () => {
    const list = await rest(kiln.url, 'GET', '/payment/history?userId=sub-ada');
    expect(list.body).toMatchObject({ data: { payments: [{ id: 'pay-7', amount: 500 }], total: 1 } });
    const executions = await rest(kiln.url, 'GET', '/templates/executions/user/sub-ada');
    expect(executions.body).toMatchObject({
      data: { executions: [{ executionId: 'exec-8' }, { executionId: 'exec-7' }], total: 2 },
    });
  });

  it('send nothing but reads and no key of ours', async () => {
    const headers = { authorization: 'Bearer kiln_00000000000000000000000000000000' };
    await rest(kiln.url, 'GET', '/payment/pay-9');
    await fetch(`${kiln.url}/payment/pay-9`, { headers });
    expect(await rest(kiln.url, 'GET', '/task/nobody')).toMatchObject({ status: 404 });
    const unknown = await rest(kiln.url, 'GET', '/api/agg/imga/async/query/status?task_id=nobody');
    expect(unknown.body).toMatchObject({ status: false, data: null });
    await rest(kiln.url, 'POST', '/payment/refund/pay-7', { reason: 'user_request' });
    await rest(kiln.url, 'POST', '/api/agg/imga/task/cancel?task_id=task-41');
    const calls = await callsSinceClients();
    expect(calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(JSON.stringify(calls)).not.toContain('kiln_');
  });

  it('are not asked again when the question comes from a Kiln that leads back here', async () => {
    const before = (await callsSinceClients()).length;
    const headers = { 'x-kiln-fallback': '1' };
    const answer = await rest(kiln.url, 'GET', '/task/run-11', undefined, headers);
    expect([answer.status, (await callsSinceClients()).length]).toEqual([404, before]);
  });

  it('answer when the old service is gone, if they had ended; others are told to try again', async () => {
    // So far it was stored for the client alone who asked with a credential.
    await rest(kiln.url, 'GET', '/api/task/status/task-41');
    await old.stop();
    const kept = await rest(kiln.url, 'GET', '/api/task/status/task-41');
    expect(kept.body).toMatchObject({ status: true, data: { task_id: 'task-41' } });
    expect(await rest(kiln.url, 'GET', '/payment/pay-7')).toMatchObject({ body: { data: { id: 'pay-7' } } });
    const imported = await rest(kiln.url, 'GET', '/task/run-10');
    expect(imported).toMatchObject({ body: { data: { id: 'run-10', status: 'completed' } } });
    const { videoUrl } = (imported.body as { data: { result: { videoUrl: string } } }).data.result;
    expect(Buffer.from(await (await fetch(videoUrl)).arrayBuffer())).toEqual(Buffer.alloc(2_000, 7));
    const history = await rest(kiln.url, 'GET', '/payment/history?userId=sub-bob');
    expect(history.body).toMatchObject({ data: { payments: [{ id: 'pay-9' }, { id: 'pay-8' }], total: 2 } });
    expect(await rest(kiln.url, 'GET', '/task/run-11')).toMatchObject({ status: 503 });
    expect(await rest(kiln.url, 'GET', '/api/task/status/task-40')).toMatchObject({ status: 503 });
  });
});
