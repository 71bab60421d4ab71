import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { silentLogger } from '../platform/process/logger.ts';
import type { FaultInput } from './faults/faults.ts';
import { createSandbox } from './sandbox.ts';
import type { Sandbox, SandboxOptions } from './sandbox.ts';

/** Helpers of the sandbox's own tests. */

/** A temporary folder and its removal. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'kiln-sandbox-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A sandbox with plain images and short jobs, in a folder of its own; `stop` ends and removes both. */
export async function startSandbox(
  options: Partial<SandboxOptions> = {},
): Promise<{ sandbox: Sandbox; stop: () => Promise<void> }> {
  const { folder, remove } = await temporaryFolder();
  const sandbox = await createSandbox({
    dataDir: folder,
    logger: silentLogger(),
    instantImages: true,
    latencies: [{ wire: 'midjourney', queuedMs: 10, runningMs: 60, progressSteps: 3 }],
    ...options,
  });
  return {
    sandbox,
    async stop() {
      await sandbox.close();
      await remove();
    },
  };
}

/** Sends JSON and reads the JSON answer. */
export async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const parsed = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body: parsed };
}

/** Reads JSON. */
export async function getJson<Value>(url: string): Promise<Value> {
  const response = await fetch(url);
  return (await response.json()) as Value;
}

/** Plans a fault. */
export async function plan(sandbox: Sandbox, fault: FaultInput): Promise<void> {
  const { status, body } = await postJson(`${sandbox.url}/_control/faults`, fault);
  if (status !== 201) throw new Error(`the fault was refused: ${JSON.stringify(body)}`);
}

/** A Midjourney task as the wire shows it. */
export interface Task {
  readonly id: string;
  readonly status: string;
  readonly progress: string | null;
  readonly imageUrl: string | null;
  readonly state: string | null;
  readonly failReason: string | null;
  readonly properties: { readonly finalPrompt?: string };
}

/** Starts an imagine job and gives its id. */
export async function imagine(sandbox: Sandbox, prompt: string, state?: string): Promise<string> {
  const { body } = await postJson(`${sandbox.wires.midjourney}/mj/submit/imagine`, { prompt, state });
  if (typeof body['result'] !== 'string') throw new Error(`not accepted: ${JSON.stringify(body)}`);
  return body['result'];
}

/** Asks for a task until it is as wanted; gives every answer on the way. */
export async function follow(
  midjourney: string,
  id: string,
  isWanted: (task: Task) => boolean = (task) => ['SUCCESS', 'FAILURE', 'CANCEL'].includes(task.status),
): Promise<Task[]> {
  const seen: Task[] = [];
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    const task = await getJson<Task>(`${midjourney}/mj/task/${id}/fetch`);
    seen.push(task);
    if (isWanted(task)) return seen;
    await delay(10);
  }
  throw new Error(`the task never came that far: ${JSON.stringify(seen.at(-1))}`);
}
