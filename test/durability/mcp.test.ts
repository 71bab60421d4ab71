import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { call, rpc } from '../../faces/mcp/mcp-client.fixture.ts';
import { until } from '../kit/clients/requests.ts';
import { type KilnProcess, startKilnProcess, temporaryDataDir } from '../kit/processes/kiln-process.ts';
import { type SandboxProcess, startSandboxProcess } from '../kit/processes/sandbox-process.ts';

/** An agent whose server is killed in the middle of its film: the film is still made, once, and found again. */

// A claim goes stale after 15 s; what is taken over then has its whole way still to go.
vi.setConfig({ testTimeout: 240_000 });

let dataDir: string;
let remove: () => void;
let outside: string;
let sandbox: SandboxProcess;
const started: KilnProcess[] = [];
beforeEach(async () => {
  ({ dataDir, remove } = await temporaryDataDir());
  outside = await mkdtemp(path.join(tmpdir(), 'kiln-outside-'));
  sandbox = await startSandboxProcess(outside);
});
afterEach(async () => {
  for (const kiln of started.splice(0)) await kiln.stop();
  await sandbox.stop();
  await rm(outside, { recursive: true, force: true });
  remove();
});

async function start() {
  const kiln = await startKilnProcess({ dataDir, settings: { SANDBOX_URL: sandbox.url } });
  started.push(kiln);
  return kiln;
}

describe.skipIf(process.platform !== 'linux')('kill -9 in the middle of a film', () => {
  it('leaves the task to be found by its id, and by the same call', async () => {
    await sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 6_000 });
    const film = { prompt: 'a ship comes home', model: 'imga:midjourney-video' };
    const first = await start();
    const { result } = await call(first.url, 'generate_video', film);
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    const taskId: string = result.taskId;
    await until(
      async () => Object.keys(await sandbox.starts()).length,
      (starts) => starts === 1,
    );
    await first.killEverything();

    const second = await start();
    const again = await call(second.url, 'generate_video', film);
    expect(again.result.taskId ?? again.result.structuredContent.task_id).toBe(taskId);
    const ended = await until(
      async () => (await rpc(second.url, 'tasks/get', { taskId })).result,
      ({ status }) => status !== 'working',
      100_000,
    );
    expect(ended.status).toBe('completed');
    const [, link] = ended.result.content;
    expect(link).toMatchObject({ type: 'resource_link', mimeType: 'video/mp4' });
    expect((await fetch(link.uri)).status).toBe(200);
    expect(Object.keys(await sandbox.starts())).toHaveLength(1);
  });
});
