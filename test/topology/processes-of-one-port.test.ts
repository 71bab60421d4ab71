import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { followers } from '../kit/clients/followers.ts';
import { graphql, until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { type KilnProcess, startKilnProcess, temporaryDataDir } from '../kit/processes/kiln-process.ts';
import { type SandboxProcess, startSandboxProcess } from '../kit/processes/sandbox-process.ts';

/** PROCESSES: a supervisor, and several whole Kilns over one database that serve one port. */

/** How many Kilns, and their numbers. */
const NUMBERS = [1, 2, 3];
const METRICS_KEY = 'key-of-the-metrics-of-these-tests';
const IMAGE = 'mutation { generateImage(input: { generator: "imga", prompt: "a weir" }) { id } }';

let sandbox: SandboxProcess;
let database: TestDatabase;
let kiln: KilnProcess & { readonly url: string };
let data: Awaited<ReturnType<typeof temporaryDataDir>>;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-processes-'));
  sandbox = await startSandboxProcess(folder, { log: 'silent' });
  database = await migratedDatabase();
  data = await temporaryDataDir();
  kiln = await startKilnProcess({
    dataDir: data.dataDir,
    settings: {
      PROCESSES: String(NUMBERS.length),
      DATABASE_URL: database.connectionString,
      SANDBOX_URL: sandbox.url,
      REST_AUTH: 'open',
      DATABASE_POOL: '4',
      METRICS_KEY,
      RATE_LIMIT: 'read=1000',
    },
  });
  await until(
    async () => kiln.output(),
    (text) => text.includes('all processes serve'),
  );
});
afterAll(async () => {
  await kiln?.stop();
  await sandbox?.stop();
  await database?.drop();
  data?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** One request over a connection of its own, so that the next process in turn gets it. */
async function ask(target: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${kiln.url}${target}`, { headers: { connection: 'close', ...headers } });
}

/** How many requests are left after each of six. */
async function remainingOfSix(): Promise<readonly number[]> {
  const counts: number[] = [];
  for (let request = 0; request < 6; request += 1) {
    const answer = await ask(`/graphql?query=${encodeURIComponent('{ __typename }')}`);
    counts.push(Number(answer.headers.get('x-ratelimit-remaining')));
  }
  return counts;
}

async function metrics(): Promise<string> {
  const answer = await ask('/metrics', { authorization: `Bearer ${METRICS_KEY}` });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** Process ids that the supervisor has told of last. */
function served(): readonly number[] {
  const pids = [...kiln.output().matchAll(/"pid":(\d+)[^\n]*"msg":"Kiln serves"/g)].map(([, pid]) =>
    Number(pid),
  );
  return pids.slice(-NUMBERS.length);
}

async function state(id: string): Promise<string> {
  const answer = await graphql(kiln.url, `{ task(id: "${id}") { state } }`);
  return answer.data?.task?.state as string;
}

describe('several processes of one port', () => {
  it('counts a caller over all of them, and tells the metrics of each', async () => {
    // A process whose database answers too late counts by itself for a moment (shared-counts.ts).
    await until(remainingOfSix, (counts) =>
      counts.every((count, index) => count === (counts[0] ?? 0) - index),
    );
    const text = await metrics();
    for (const number of NUMBERS) {
      expect(text).toMatch(new RegExp(`kiln_process_cpu_seconds_total\\{process="${number}"`));
    }
    expect(text.match(/^# TYPE kiln_process_cpu_seconds_total/gm)).toHaveLength(1);
  });

  it('tells followers of a task wherever they are connected', async () => {
    const { data: made } = await graphql(kiln.url, IMAGE);
    const taskId = made.generateImage.id as string;
    const all = ['graphql-ws', 'EventSource', 'Apollo Client'] as const;
    const following = all.map((name) => followers[name](kiln.url, { taskId }));
    for (const { over, events } of following) {
      expect(await over).toBeNull();
      expect(events.at(-1)?.state).toBe('SUCCEEDED');
    }
  });

  it('starts a process again that was killed, and does each task once', async () => {
    const before = Object.keys(await sandbox.starts()).length;
    const ids: string[] = [];
    for (let task = 0; task < 9; task += 1) {
      const { data: made } = await graphql(kiln.url, IMAGE, {}, { connection: 'close' });
      ids.push(made.generateImage.id as string);
    }
    const [victim = 0] = served();
    const pids = () => kiln.processes().map(({ pid }) => pid);
    const others = pids();
    process.kill(victim, 'SIGKILL');
    // The one that is started for it dies before it serves: the next one waits longer.
    const [second = 0] = await until(
      async () => pids().filter((pid) => !others.includes(pid)),
      (found) => found.length > 0,
    );
    process.kill(second, 'SIGKILL');
    for (const id of ids)
      await until(
        () => state(id).catch(() => 'asked again'),
        (its) => its === 'SUCCEEDED',
      );
    const starts = await sandbox.starts();
    expect(Object.values(starts).every((count) => count === 1)).toBe(true);
    expect(Object.keys(starts)).toHaveLength(before + ids.length);
    await until(
      async () => served(),
      (pids) => !pids.includes(victim),
    );
    const deaths = [...kiln.output().matchAll(/\{[^\n]*a process died and is started again[^\n]*/g)].map(
      ([line]) => JSON.parse(line) as { time: string; restartMs: number },
    );
    expect(deaths.map(({ restartMs }) => restartMs)).toEqual([500, 1_000]);
    const [one = 0, two = 0] = deaths.map(({ time }) => Date.parse(time));
    expect(two - one).toBeGreaterThanOrEqual(500);
    await until(metrics, (text) => NUMBERS.every((number) => text.includes(`{process="${number}"`)));
  });

  it('stops all of them in order when the supervisor is told to', async () => {
    process.kill(kiln.pid, 'SIGTERM');
    expect(await kiln.exited).toEqual({ code: 0, signal: null });
    expect(kiln.processes()).toEqual([]);
  });
});
