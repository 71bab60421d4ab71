import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readCell } from '../../platform/ids.ts';
import { followers } from '../kit/clients/followers.ts';
import { graphql, rest, until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { serviceKey, startKilnProcess, temporaryDataDir } from '../kit/processes/kiln-process.ts';
import { type SandboxProcess, startSandboxProcess } from '../kit/processes/sandbox-process.ts';

/** Cells: whole Kilns with a database each, of which the first signs callers in. */

const NUMBERS = [0, 1, 2];
/** The one beside cell 1 that is asked and asks. */
const OTHER = 2;

const IMAGE = 'mutation { generateImage(input: { generator: "imga", prompt: "a weir" }) { id } }';
const TASK = 'query Task($id: ID!) { task(id: $id) { id state } }';

interface Cell {
  readonly kill: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

let folder: string;
let sandbox: SandboxProcess;
let cells: readonly Cell[] = [];
let urls: readonly string[] = [];
/** A service key that only the home cell has stored. */
let key: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-cells-'));
  sandbox = await startSandboxProcess(folder, { log: 'silent' });
  await sandbox.latency({ queuedMs: 0, runningMs: 200 });
  const ports = await freePorts(NUMBERS.length);
  urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const file = path.join(folder, 'cells.json');
  await writeFile(file, JSON.stringify({ home: 0, cells: Object.fromEntries(urls.entries()) }));
  cells = await Promise.all(ports.map((port, number) => startCell(number, { port, file })));
  const made = await graphql(
    url(1),
    'mutation { createServiceKey(name: "a studio", scopes: ["read", "start", "manage"]) { secret } }',
    {},
    serviceKey,
  );
  key = { authorization: `Bearer ${made.data.createServiceKey.secret as string}` };
});
afterAll(async () => {
  for (const cell of cells) await cell.remove();
  await sandbox?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function startCell(number: number, { port, file }: { port: number; file: string }): Promise<Cell> {
  const database: TestDatabase = await migratedDatabase();
  const data = await temporaryDataDir();
  const kiln = await startKilnProcess({
    dataDir: data.dataDir,
    settings: {
      PORT: String(port),
      CELL: String(number),
      CELLS_FILE: file,
      DATABASE_URL: database.connectionString,
      DATABASE_POOL: '4',
      SANDBOX_URL: sandbox.url,
      REST_AUTH: 'open',
    },
  });
  return {
    kill: () => kiln.killEverything(),
    async remove() {
      await kiln.stop();
      await database.drop();
      data.remove();
    },
  };
}

function url(cell: number): string {
  return urls[cell] ?? '';
}

async function startedIn(cell: number, headers = key): Promise<string> {
  const { data } = await graphql(url(cell), IMAGE, {}, headers);
  return data.generateImage.id as string;
}

describe('cells', () => {
  it('put their number into new ids', async () => {
    const ids = await Promise.all(NUMBERS.map((cell) => startedIn(cell)));
    expect(ids.map(readCell)).toEqual(NUMBERS);
  });

  it.each(NUMBERS.map((cell) => [cell, (cell + 1) % NUMBERS.length] as const))(
    'answer at cell %i for a task of cell %i, over GraphQL and REST',
    async (asked, owner) => {
      const id = await startedIn(owner);
      const done = await until(
        () => graphql(url(asked), TASK, { id }, key),
        ({ data }) => data.task?.state === 'SUCCEEDED',
      );
      expect(done.data.task).toEqual({ id, state: 'SUCCEEDED' });
      expect((await graphql(url(asked), `{ task(id: "${id}") { id } }`, {}, key)).data.task).toEqual({ id });
      const status = await rest(url(asked), 'GET', `/api/task/status/${id}`, undefined, key);
      expect(status.body).toMatchObject({ status: true, data: expect.anything() });
    },
  );

  it('answer for a task of another cell by a body of any size, and over MCP', async () => {
    const id = await startedIn(1);
    const long = `${' '.repeat(100_000)}${JSON.stringify({ query: TASK, variables: { id } })}`;
    const json = { ...key, 'content-type': 'application/json' };
    expect((await rest(url(OTHER), 'POST', '/graphql', long, json)).body.data.task).toMatchObject({ id });
    const nobodys = await startedIn(1, {});
    const longer = `${' '.repeat(100_000)}${JSON.stringify({ query: TASK, variables: { id: nobodys } })}`;
    const asked = await rest(url(OTHER), 'POST', '/graphql', longer, { 'content-type': 'application/json' });
    expect(asked.body.data.task).toMatchObject({ id: nobodys });
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const message = { ...call, params: { name: 'get_task', arguments: { task_id: id } } };
    const answer = await fetch(`${url(OTHER)}/mcp`, {
      method: 'POST',
      headers: { ...json, accept: 'application/json, text/event-stream' },
      body: JSON.stringify(message),
    });
    const told = await answer.text();
    expect(told).toContain(`Task ${id} `);
    expect(told).not.toContain('NOT_FOUND');
  });

  it('answer for a file of another cell that a body of OpenAI names, and for the batch that it becomes', async () => {
    const form = new FormData();
    form.append('purpose', 'batch');
    const line = {
      custom_id: 'one',
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'llm', messages: [] },
    };
    form.append('file', new Blob([JSON.stringify(line)]), 'calls.jsonl');
    const sent = await fetch(`${url(1)}/v1/files`, { method: 'POST', headers: key, body: form });
    const { id: input } = (await sent.json()) as { id: string };
    const order = { input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const made = await rest(url(OTHER), 'POST', '/v1/batches', order, key);
    expect(made.body).toMatchObject({ object: 'batch', input_file_id: input });
    const read = await rest(url(0), 'GET', `/v1/batches/${made.body.id as string}`, undefined, key);
    expect(read.body.id).toBe(made.body.id);
  });

  it.each(Object.keys(followers) as (keyof typeof followers)[])(
    'let %s follow a task of another cell to its end',
    async (protocol) => {
      const taskId = await startedIn(OTHER, {});
      const follower = followers[protocol]?.(url(1), { taskId });
      const last = await until(
        async () => follower?.events.at(-1),
        (event) => event?.state === 'SUCCEEDED',
      );
      follower?.leave();
      expect(last?.task.outputs).not.toHaveLength(0);
    },
  );

  it('know the keys of the home cell, and refuse what it refuses', async () => {
    expect(
      (await graphql(url(NUMBERS.length - 1), '{ tasks(first: 1) { edges { node { id } } } }', {}, key))
        .errors,
    ).toBeUndefined();
    const forged = await fetch(`${url(NUMBERS.length - 1)}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer kiln_forged' },
      body: JSON.stringify({ query: '{ __typename }' }),
    });
    expect(forged.status).toBe(401);
  });

  it('are shown to administrators, each by its number', async () => {
    const all = await rest(url(1), 'GET', '/cells', undefined, serviceKey);
    expect(all.body).toMatchObject({
      own: 1,
      home: 0,
      cells: NUMBERS.map(() => ({ ready: true })),
    });
    const id = await startedIn(OTHER);
    const listed = await graphql(url(1), '{ tasks(first: 50) { edges { node { id } } } }', {}, serviceKey);
    expect(JSON.stringify(listed.data)).not.toContain(id);
    const there = await fetch(`${url(1)}/graphql?cell=${OTHER}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...serviceKey },
      body: JSON.stringify({ query: '{ tasks(first: 50) { edges { node { id } } } }' }),
    });
    expect(await there.text()).toContain(id);
    expect((await rest(url(1), 'GET', '/cells')).status).toBe(403);
  });

  it('go on when another one is killed', async () => {
    const [id, lost] = [await startedIn(1), await startedIn(2)];
    await cells[2]?.kill();
    expect((await graphql(url(1), TASK, { id }, key)).data.task.id).toBe(id);
    await expectAway(lost);
  });

  it('go on when the home cell is killed', async () => {
    const [id, lost] = [await startedIn(1), await startedIn(0)];
    await cells[0]?.kill();
    await expectAway(lost);
    expect(readCell(await startedIn(1))).toBe(1);
    await until(
      () => graphql(url(1), TASK, { id }, key),
      ({ data }) => data?.task?.state === 'SUCCEEDED',
    );
  });

  /** The task of a cell that was killed. */
  async function expectAway(id: string): Promise<void> {
    const away = await graphql(url(1), TASK, { id }, key);
    expect(away.errors?.[0]?.extensions).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 2 });
  }
});
