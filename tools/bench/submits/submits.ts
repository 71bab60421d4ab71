import { Client, type ClientConfig } from 'pg';

import type { NewStep, NewTask } from '../../../subgraphs/media/tasks/storage/submission-store.ts';
import { rest } from '../../../test/kit/clients/requests.ts';
import { temporaryDataDir } from '../../../test/kit/processes/kiln-process.ts';
import { startSandboxProcess } from '../../../test/kit/processes/sandbox-process.ts';
import type { Bench, BenchTools } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import { startProgram } from '../processes.ts';
import { measureInTurns, computeRatio, formatFigures, type Run, type Subject } from '../rounds.ts';

/** What the bare transactions write: an exact copy of a task that Kiln took in, from as many at once. */
export interface BareOrder {
  readonly task: NewTask;
  readonly connections: number;
}

const PATH = '/api/task/create/task';
const BODY = { task_type: 'tea', prompt: 'a teapot on a red table' };
const CONNECTIONS = 16;
/** Submissions per run, and before the first. All of them together stay queued; the queue takes 10,000 steps. */
const AMOUNT = 250;
const WARM_UP = 500;

/**
 * Submissions over REST against the bare transaction behind them. The upstream takes its time, so they stay queued. Kiln's process is all
 * in one: its processor time has the worker in it, which starts what was submitted, and which the baseline does not have.
 */
export const submits: Bench = {
  name: 'submits',
  async run(tools) {
    const kiln = await startBenchedKiln(tools, { SANDBOX_URL: await startSlowSandbox(tools) });
    const submitted = await rest(kiln.url, 'POST', PATH, BODY);
    const task = await readTask(kiln.connection, String(submitted.body.data));
    const bare = await startBare(tools, kiln.connection, task);
    const request = {
      url: `${kiln.url}${PATH}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(BODY),
      connections: CONNECTIONS,
      amount: AMOUNT,
    } as const;
    const ours: Subject = {
      name: 'Kiln',
      pid: kiln.pid,
      measure: (ms) => tools.load.measure({ ...request, ms }),
    };
    await tools.load.measure({ ...request, amount: WARM_UP, ms: tools.runMs });
    const rounds = await measureInTurns(tools, [ours, bare]);
    return [
      {
        what: 'durable submissions over REST',
        ours: formatFigures(rounds, 'Kiln'),
        baseline: `the bare transaction through pg: ${formatFigures(rounds, 'bare')}`,
        ratio: { value: computeRatio(rounds, 'Kiln', 'bare'), target: 0.85 },
        note: `each a task with ${task.steps.length} steps and their jobs, ${AMOUNT} a run`,
      },
    ];
  },
};

async function startSlowSandbox({ lifecycle }: BenchTools): Promise<string> {
  const { dataDir, remove } = await temporaryDataDir();
  lifecycle.add('sandbox directory', async () => remove());
  const sandbox = await startSandboxProcess(dataDir);
  lifecycle.add('sandbox', () => sandbox.stop());
  await sandbox.latency({ queuedMs: 600_000 });
  return sandbox.url;
}

async function startBare({ lifecycle }: BenchTools, connection: string, task: NewTask): Promise<Subject> {
  const own = { ...(JSON.parse(connection) as ClientConfig), database: 'bare_transactions' };
  const program = await startProgram(new URL('bare-transactions.ts', import.meta.url), [JSON.stringify(own)]);
  lifecycle.add('bare transactions', () => program.stop());
  const order: BareOrder = { task, connections: CONNECTIONS };
  return {
    name: 'bare',
    pid: program.pid,
    measure: () => program.ask<Run>({ order, amount: AMOUNT }),
  };
}

/** A task of Kiln as it was inserted. */
async function readTask(connection: string, id: string): Promise<NewTask> {
  const client = new Client(JSON.parse(connection) as ClientConfig);
  await client.connect();
  try {
    const { rows: tasks } = await client.query<NewTask>(
      `select id, owner, kind, generator, task_type as "taskType", input from media.tasks where id = $1`,
      [id],
    );
    const { rows: steps } = await client.query<NewStep>(
      `select step, label, input, binding from media.task_steps where task_id = $1 order by step`,
      [id],
    );
    const [task] = tasks;
    if (task === undefined) throw new Error(`there is no task ${id}`);
    return { ...task, steps, onEnd: null, idempotency: null };
  } finally {
    await client.end();
  }
}
