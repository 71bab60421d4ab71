import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readConfig } from '../../platform/config/config.ts';
import { graphql, rest } from '../kit/clients/requests.ts';
import { testDatabase, type TestDatabase } from '../kit/database/postgres.ts';
import { isWhole } from '../kit/extent.ts';
import { startS3Server, type S3Server } from '../kit/object-store/s3-server.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { readComposeFile, type ComposeService } from './compose-file.ts';
import { isReady } from './places.ts';
import { startNode, type Program } from './processes.ts';

/**
 * docker-compose.yml without containers: its own commands, settings and health checks, with hosts and ports of this
 * machine in the place of the network's, over the tests' PostgreSQL and S3 server.
 */

const root = path.resolve(import.meta.dirname, '../..');
/** Whether the client is on this machine, with its plugin; no daemon is needed to read a file. */
const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;

const BY_DIGEST = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;
const KEY = 'a-service-key';
const SECRETS = {
  INTERNAL_KEY: 'only-for-tests-0123456789abcdef0123456789',
  SERVICE_KEYS: `tests=${createHash('sha256').update(KEY).digest('hex')}`,
  POSTGRES_PASSWORD: 'never-asked-for',
  // The one key that the kit's S3 server knows.
  S3_SECRET_ACCESS_KEY: 'S3RVER',
};
const known = { authorization: `Bearer ${KEY}` };
const parts = ['media', 'workflow', 'worker', 'gateway'] as const;
type Part = (typeof parts)[number];

let services: Readonly<Record<string, ComposeService>>;
let database: TestDatabase;
let s3: S3Server;
let url: string;
/** What stands for the network of the containers. */
let here: readonly (readonly [string, string])[];
const running = new Map<Part, Program>();

beforeAll(async () => {
  services = await readComposeFile(SECRETS);
  if (!isWhole) return;
  database = await testDatabase();
  s3 = await startS3Server();
  const [gateway, media, workflow, worker] = await freePorts(4);
  url = `http://127.0.0.1:${gateway}`;
  here = [
    ['http://s3.localhost:9000', s3.location.endpoint ?? ''],
    ['http://localhost:4000', url],
    ['http://127.0.0.1:4000', url],
    ['http://media:4001', `http://127.0.0.1:${media}`],
    ['http://127.0.0.1:4001', `http://127.0.0.1:${media}`],
    ['http://workflow:4002', `http://127.0.0.1:${workflow}`],
    ['http://127.0.0.1:4002', `http://127.0.0.1:${workflow}`],
    ['http://127.0.0.1:4003', `http://127.0.0.1:${worker}`],
    ['postgresql://kiln:never-asked-for@postgres:5432/kiln', database.connectionString],
    ['0.0.0.0', '127.0.0.1'],
    // A read-only file system: not even an administrator makes a folder there.
    ['/tmp/kiln', '/proc/kiln'],
  ];
  const ports: Readonly<Record<Part, number | undefined>> = { gateway, media, workflow, worker };
  const begin = async (part: Part) => void running.set(part, await start(part, ports[part]));
  await Promise.all([begin('media'), begin('workflow'), begin('worker')]);
  await begin('gateway');
});
afterAll(async () => {
  await Promise.all([...running.values()].map((program) => program.end()));
  await s3?.close();
  await database?.drop();
});

function findService(name: string): ComposeService {
  const service = services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

function onThisMachine(text: string): string {
  return here.reduce((changed, [theirs, ours]) => changed.replaceAll(theirs, ours), text);
}

async function start(part: Part, port: number | undefined): Promise<Program> {
  const { command = [], environment } = findService(part);
  const [node, script = '', ...words] = command;
  expect(node).toBe('node');
  const settings = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, onThisMachine(value)]),
  );
  return startNode(script, words, {
    settings: { ...settings, S3_ACCESS_KEY_ID: 'S3RVER', ...(port === undefined ? {} : { PORT: `${port}` }) },
    ready: async (printed) =>
      port === undefined ? printed.includes('the worker is ready') : isReady(`http://127.0.0.1:${port}`),
  });
}

describe('docker-compose.yml', () => {
  it('asks for each secret by its name, and has none of its own', async () => {
    const complaint = await readComposeFile({}).catch((error: unknown) => String(error));
    for (const name of Object.keys(SECRETS)) expect(complaint).toContain(`set ${name} (`);
  });

  it.skipIf(!hasCompose)('is one that docker compose takes', async () => {
    const { PATH = '', HOME = '' } = process.env;
    const words = ['compose', '--file', 'docker-compose.yml', 'config', '--quiet'];
    const told = await promisify(execFile)('docker', words, { cwd: root, env: { PATH, HOME, ...SECRETS } });
    expect(told.stdout).toBe('');
  });

  it('opens the API and the files to this machine only, and nothing else to anybody', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(published).toEqual(['127.0.0.1:4000:4000', '127.0.0.1:9000:9000']);
  });

  it('runs every part of Kiln from one image that holds its programs, read-only', async () => {
    const dockerfile = await readFile(new URL('../../Dockerfile', import.meta.url), 'utf8');
    expect(dockerfile).toMatch(/^USER node$/m);
    for (const part of parts) {
      const { image, command = [], read_only: isReadOnly } = findService(part);
      expect([image, isReadOnly]).toEqual(['kiln:production', true]);
      expect(dockerfile).toMatch(new RegExp(String.raw`^COPY ${command[1]?.split('/')[0]} `, 'm'));
    }
  });

  it('takes every image of others by its digest, also the one that Kiln is built on, and others where they are named', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const names = ['NODE', 'POSTGRES', 'S3', 'NATS', 'VALKEY'];
    const pins = Object.fromEntries(
      names.map((name) => [`${name}_IMAGE`, `${name.toLowerCase()}@${digest}`]),
    );
    const pinned = Object.values(await readComposeFile({ ...SECRETS, ...pins }));
    const foreign = pinned.map(({ image }) => image).filter((image) => image !== 'kiln:production');
    expect(foreign).toEqual(names.slice(1).map((name) => pins[`${name}_IMAGE`]));
    expect(pinned.flatMap(({ build }) => build?.args?.['NODE_IMAGE'] ?? [])).toEqual(
      parts.map(() => pins['NODE_IMAGE']),
    );
    const dockerfile = await readFile(new URL('../../Dockerfile', import.meta.url), 'utf8');
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}', 'without-migration', 'production']));
    const own = Object.values(services).map(({ image }) => image);
    for (const image of own.filter((one) => one !== 'kiln:production')) expect(image).toMatch(BY_DIGEST);
    const node = services['gateway']?.build?.args?.['NODE_IMAGE'];
    expect(node).toMatch(BY_DIGEST);
    expect(dockerfile).toContain(`\nARG NODE_IMAGE=${node}\n`);
    // The command that writes newer ones names each image.
    const guide = await readFile(new URL('../../docs/deployment.md', import.meta.url), 'utf8');
    for (const name of names) expect(guide).toContain(` ${name}_IMAGE=`);
  });

  it('waits before SIGKILL for all that a part may take to stop, or as long as is said', async () => {
    const readPeriods = (all: typeof services) => parts.map((part) => all[part]?.stop_grace_period);
    const [gateway, works] = [5 + 10 + 30, 300];
    const usual = [gateway + works, gateway, gateway + works, gateway].map((seconds) => `${seconds}s`);
    expect(readPeriods(services)).toEqual(usual);
    const named = { STOP_GRACE_PERIOD: '2m', WORKER_STOP_GRACE_PERIOD: '7m' };
    const others = readPeriods(await readComposeFile({ ...SECRETS, ...named }));
    expect(others).toEqual(['7m', '2m', '7m', '2m']);
  });

  it('gives the S3 server the name that the addresses of files have', () => {
    const { hostname } = new URL(findService('media').environment['S3_ENDPOINT'] ?? '');
    expect(findService('s3').networks?.default.aliases).toEqual([hostname]);
  });

  it.each(parts)('gives %s settings that it starts with', (part) => {
    const { command = [], environment } = findService(part);
    const { role } = readConfig({ ...environment, S3_ACCESS_KEY_ID: 'S3RVER' }, command.slice(2));
    expect(role).toBe(part);
  });

  it.runIf(isWhole).each(parts)('finds %s healthy once it is', async (name) => {
    const [how, node, ...words] = findService(name).healthcheck?.test ?? [];
    expect([how, node]).toEqual(['CMD', 'node']);
    await promisify(execFile)(process.execPath, words.map(onThisMachine));
    const nobody = words.map((word) => word.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'));
    await expect(promisify(execFile)(process.execPath, nobody)).rejects.toMatchObject({ code: 1 });
  });
});

describe.runIf(isWhole)('the Kiln that docker-compose.yml starts', () => {
  it('lets nobody in without a credential', async () => {
    const task = { task_type: 'tea', prompt: 'a lighthouse' };
    expect((await rest(url, 'POST', '/api/task/create/task', task)).status).toBe(401);
    const { errors } = await graphql(url, '{ executions { edges { node { id } } } }');
    expect(errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
  });

  it('answers both services over GraphQL and REST', async () => {
    const { data } = await graphql(
      url,
      '{ templates { code } videoTemplates { items { taskType } } }',
      {},
      known,
    );
    expect(data.templates).toContainEqual({ code: 'poster' });
    expect(data.videoTemplates.items.length).toBeGreaterThan(0);
    expect(await rest(url, 'GET', '/api/template/default', undefined, known)).toMatchObject({ status: 200 });
    expect(await rest(url, 'GET', '/.well-known/jwks.json')).toMatchObject({ status: 200 });
  });

  it('takes a file, and gives it out from the address of the S3 server', async () => {
    const form = new FormData();
    form.set('file', new Blob(['a note']), 'note.txt');
    const { body } = await rest(url, 'POST', '/api/file/upload', form, known);
    expect(body.data.startsWith(`${url}/files/`)).toBe(true);
    const answer = await fetch(body.data, { redirect: 'manual' });
    expect(answer.status).toBe(302);
    const location = answer.headers.get('location') ?? '';
    expect(new URL(location).origin).toBe(s3.location.endpoint);
    expect(await (await fetch(location)).text()).toBe('a note');
  });

  it('says of everything outside that is not set up what to set', async () => {
    const refusals = await Promise.all(
      [
        'mutation { checkout(templateCode: "poster", userId: "u", parameters: { prompt: "x" }) { url } }',
        'mutation { beginSignIn { url } }',
        'mutation { createTask(taskType: "tea", prompt: "a lighthouse") { id } }',
      ].map((operation) => graphql(url, operation, {}, known)),
    );
    expect(refusals.map(({ errors }) => errors?.[0]?.extensions['code'])).toEqual(
      Array.from({ length: 3 }, () => 'NOT_CONFIGURED'),
    );
  });

  it('logs no failure, and stops when it is asked to', async () => {
    for (const part of parts.toReversed()) await running.get(part)?.end();
    const lines = [...running.values()].flatMap((program) => program.output().split('\n'));
    expect(lines.filter((line) => /"level":(50|60|"error"|"fatal")/.test(line))).toEqual([]);
  });
});
