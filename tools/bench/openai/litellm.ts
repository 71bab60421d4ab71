import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { newTraceId } from '../../../platform/ids.ts';
import type { BenchTools } from '../bench.ts';

/** LiteLLM's proxy, as `pip install 'litellm[proxy]'` has it, in a process of its own with one worker. */
export interface Litellm {
  readonly pid: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Seconds for its start: it loads much. */
const START_SECONDS = 120;

/** Starts it before an upstream; null where `program` is not installed. */
export async function startLitellm(
  { lifecycle }: BenchTools,
  { program, upstream }: { readonly program: string; readonly upstream: string },
): Promise<Litellm | null> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-litellm-'));
  lifecycle.add('folder of LiteLLM', () => rm(folder, { recursive: true, force: true }));
  const key = `sk-${newTraceId()}${newTraceId()}`;
  const models = ['gpt-4o-mini', 'sora-2'].map((name) => ({
    model_name: name,
    litellm_params: { model: `openai/${name}`, api_base: `${upstream}/v1`, api_key: 'sk-of-nobody' },
  }));
  const config = { model_list: models, general_settings: { master_key: key } };
  // JSON is YAML too.
  await writeFile(path.join(folder, 'config.yaml'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    program,
    ['--config', path.join(folder, 'config.yaml'), '--host', '127.0.0.1', '--port', String(port)],
    {
      stdio: 'ignore',
      detached: true,
      env: {
        ...process.env,
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        LITELLM_TELEMETRY: 'False',
        LITELLM_LOG: 'ERROR',
      },
    },
  );
  const failed = once(child, 'error').then(() => 'missing' as const);
  const exited = once(child, 'exit');
  lifecycle.add('LiteLLM', async () => {
    if (child.exitCode !== null || child.pid === undefined) return;
    child.kill('SIGTERM');
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  const how = await Promise.race([failed, exited.then(() => 'ended' as const), answers(url)]);
  if (how === 'missing') return null;
  if (how === 'ended') throw new Error(`LiteLLM ended with ${String(child.exitCode)} before it served`);
  return { pid: child.pid ?? 0, url, headers: { authorization: `Bearer ${key}` } };
}

async function answers(url: string): Promise<'serves'> {
  for (let second = 0; second < START_SECONDS; second += 1) {
    // It takes connections before it answers them.
    const signal = AbortSignal.timeout(2_000);
    const answer = await fetch(`${url}/health/liveliness`, { signal }).catch(() => null);
    if (answer?.ok === true) return 'serves';
    await pause(1_000);
  }
  throw new Error(`LiteLLM does not serve after ${START_SECONDS} s`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
