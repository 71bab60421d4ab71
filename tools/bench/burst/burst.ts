import { Client } from 'pg';

import type { Bench, BenchTools, Figure } from '../bench.ts';
import { startProgram } from '../processes.ts';
import type { Answered, RequestsOrder } from './requests.ts';
import { burstOfSockets } from './sockets.ts';
import { startBurstKiln, type BurstKiln } from './split.ts';

/** WebSocket clients of the larger burst; the smaller one is a fifth. They need as many file descriptors. */
const CLIENTS = Number(process.env['BURST_CLIENTS'] ?? 10_000);
const REQUESTS = Number(process.env['BURST_REQUESTS'] ?? 3_000);

/** Crowds that come at once: WebSocket followers, submissions and status reads over REST. Everything must be served in the end. */
export const burst: Bench = {
  name: 'burst',
  async run(tools) {
    const kiln = await startBurstKiln(tools);
    const figures: Figure[] = [];
    figures.push(await burstOfSockets(tools, kiln, CLIENTS / 5));
    figures.push(await burstOfSockets(tools, kiln, CLIENTS));
    const submitted = await sendAll(tools, { url: kiln.url, count: REQUESTS });
    const stored = await storedTasks(kiln, submitted.ids);
    figures.push(
      createFigure(
        `${REQUESTS} submissions over REST at once`,
        submitted,
        `${stored} tasks are stored for ${submitted.done} answers`,
      ),
    );
    const paths = submitted.ids.map((id) => `/api/agg/imga/async/query/status?task_id=${id}`);
    const read = await sendAll(tools, { url: kiln.url, count: REQUESTS, paths });
    figures.push(createFigure(`${REQUESTS} status reads over REST at once`, read, ''));
    return figures;
  },
};

async function sendAll(tools: BenchTools, order: RequestsOrder): Promise<Answered> {
  const program = await startProgram(new URL('requests.ts', import.meta.url));
  tools.lifecycle.add('requests', () => program.stop());
  const answered = await program.ask<Answered>(order, 180_000);
  await program.stop();
  tools.say(
    `${order.paths === undefined ? 'submissions' : 'reads'}: ${answered.done} done, ${JSON.stringify(answered.others)}`,
  );
  return answered;
}

function createFigure(what: string, { done, p50, p99, last, others }: Answered, note: string): Figure {
  const found = Object.entries(others).map(([why, times]) => `${why} x ${times}`);
  return {
    what,
    ours: `${done} done; p50 ${p50.toFixed(1)} s, p99 ${p99.toFixed(1)} s, last ${last.toFixed(1)} s`,
    baseline: '',
    ratio: null,
    note: [found.join('; ') || 'no error', note].filter((text) => text !== '').join('; '),
  };
}

/** All tasks of the bursts of submissions, also those whose answer was lost. */
async function storedTasks({ config }: BurstKiln, ids: readonly string[]): Promise<number> {
  const client = new Client(config);
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::integer as count from media.tasks where input ->> 'prompt' = 'a teapot'`,
    );
    return new Set(ids).size === (rows[0]?.count ?? 0) ? (rows[0]?.count ?? 0) : NaN;
  } finally {
    await client.end();
  }
}
