import path from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { followers } from '../kit/clients/followers.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { startSandboxProcess, type SandboxProcess } from '../kit/processes/sandbox-process.ts';
import { isReady, temporaryFolder } from '../topology/places.ts';
import { startNode, type Program } from '../topology/processes.ts';
import { entries, executePoster, expectEveryEvent, storedLog, underWay } from './following.ts';
import { followResuming } from './resuming.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let sandbox: SandboxProcess;
let server: Program;
let url: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  [database, sandbox] = await Promise.all([
    migratedDatabase(),
    startSandboxProcess(path.join(folder.path, 'sandbox')),
  ]);
  await sandbox.latency({ wire: 'midjourney', queuedMs: 100, runningMs: 8_000, progressSteps: 8 });
  const [port] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  server = await startServer();
});
afterAll(async () => {
  await server?.end();
  await sandbox?.stop();
  await database?.drop();
  await folder?.remove();
});

function startServer(): Promise<Program> {
  const settings = {
    DATABASE_URL: database.connectionString,
    SANDBOX_URL: sandbox.url,
    DATA_DIR: folder.path,
    PORT: new URL(url).port,
    RATE_LIMIT: 'off',
  };
  return startNode('gateway/main.ts', [], { settings, ready: () => isReady(url) });
}

// A poll that was under way when the server died is taken up 20 s later.
it(
  'loses no event and repeats none when the server is killed and started again',
  { timeout: 120_000 },
  async () => {
    const started = await executePoster(url, 'a volcano');
    const all = Object.values(followers).map((follow) => followResuming(follow, url, started));
    await underWay(all);
    await server.end('SIGKILL');
    const seenBefore = all.map(({ events }) => events.length);
    server = await startServer();
    for (const { done } of all) await done;
    const log = await storedLog(url, started.taskId);
    for (const [index, { events }] of all.entries()) {
      expectEveryEvent(events, started);
      expect(entries(events)).toEqual(log);
      expect(events.length).toBeGreaterThan(seenBefore[index] ?? 0);
    }
  },
);
