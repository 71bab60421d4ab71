import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { until } from '../kit/clients/requests.ts';
import { type KilnProcess, startKilnProcess, temporaryDataDir } from '../kit/processes/kiln-process.ts';
import { type SandboxProcess, startSandboxProcess } from '../kit/processes/sandbox-process.ts';
import { allTasks } from './workload.ts';

/** kill -9 of everything while OpenAI's SDK waits for a picture: it sends the call again, and gets what it had begun. */

// A claim goes stale after 15 s; the SDK tries again every 8 s at the latest.
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

async function start(port: string) {
  const settings = { SANDBOX_URL: sandbox.url, PORT: port };
  const kiln = await startKilnProcess({ dataDir, settings });
  started.push(kiln);
  return kiln;
}

describe.skipIf(process.platform !== 'linux')('kill -9 while the SDK waits', () => {
  it('its retry gets the picture of the first task, which was started once', async () => {
    await sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 5_000 });
    const first = await start('0');
    const client = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${first.url}/v1`, maxRetries: 30 });
    const picture = client.images.generate({ model: 'midjourney', prompt: 'a lighthouse' }).withResponse();
    const isRunning = (tasks: Awaited<ReturnType<typeof allTasks>>): boolean =>
      tasks.some(({ attempts }) => attempts[0]?.state === 'RUNNING');
    const [task] = await until(() => allTasks(first.url), isRunning, 60_000);
    await first.killEverything();
    await start(new URL(first.url).port);
    const { data, response } = await picture;
    expect(response.headers.get('x-kiln-task')).toBe(task?.id);
    expect(data.data?.[0]?.b64_json).toBeTruthy();
    expect(Object.values(await sandbox.starts())).toEqual([1]);
  });
});
