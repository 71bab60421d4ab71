import { availableParallelism, cpus, loadavg } from 'node:os';

import { createLifecycle } from '../../platform/process/lifecycle.ts';
import { createLogger } from '../../platform/process/logger.ts';
import type { Bench, Figure } from './bench.ts';
import { burst } from './burst/burst.ts';
import { cells } from './cells/cells.ts';
import { consoleBench } from './console/console.ts';
import { cores } from './cores/cores.ts';
import { fairness } from './fairness/fairness.ts';
import { federation } from './federation/federation.ts';
import { gatewayBenches } from './gateways/gateways.ts';
import { heavyQuery } from './heavy-query/heavy-query.ts';
import { history } from './history/history.ts';
import { joinedEvents } from './joined-events/joined-events.ts';
import { startLoad } from './load/load.ts';
import { machines } from './machines/machines.ts';
import { metrics } from './metrics/metrics.ts';
import { model } from './model/model.ts';
import { openai } from './openai/openai.ts';
import { polling } from './polling/polling.ts';
import { limits } from './providers/limits.ts';
import { outage } from './providers/outage.ts';
import { restStatus } from './rest-status/rest-status.ts';
import { scheduler } from './scheduler/scheduler.ts';
import { split } from './split/split.ts';
import { starts } from './starts/starts.ts';
import { submits } from './submits/submits.ts';
import { subscribers } from './subscribers/subscribers.ts';
import { formatTable } from './table.ts';
import { taskList } from './task-list/task-list.ts';
import { uploads } from './uploads/uploads.ts';

/**
 * `npm run bench [-- NAME ...]`: measures Kiln against baselines on this machine, each in turns with its own, and prints
 * one table. Below a target is said, and is no failure: only a bench that could not measure ends with 1.
 */
const benches: readonly Bench[] = [
  federation,
  ...gatewayBenches,
  heavyQuery,
  restStatus,
  taskList,
  metrics,
  submits,
  subscribers,
  joinedEvents,
  polling,
  uploads,
  starts,
  history,
  fairness,
  burst,
  model,
  split,
  cores,
  cells,
  scheduler,
  outage,
  limits,
  consoleBench,
  openai,
  machines,
];

/** Stops the bench that runs now. */
let stopRunning: (reason: string) => Promise<void> = () => Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopRunning(signal).then(() => process.exit(1)));
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(words: readonly string[]): Promise<void> {
  const unknown = words.filter((word) => !benches.some(({ name }) => name === word));
  if (unknown.length > 0) {
    throw new Error(
      `no such bench: ${unknown.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}`,
    );
  }
  const startedAt = performance.now();
  const figures: Figure[] = [];
  for (const bench of benches) {
    if (words.length > 0 && !words.includes(bench.name)) continue;
    say(`\n${bench.name}`);
    figures.push(...(await runAlone(bench)));
  }
  say(`\n${formatTable(figures)}\n`);
  const [model] = cpus();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const load = loadavg()[0]?.toFixed(1) ?? '?';
  say(
    `${availableParallelism()} cores (${model?.model.trim() ?? 'unknown'}), Node ${process.versions.node}, `,
  );
  say(`load of the machine at the end ${load}, ${seconds} s in all.`);
}

/** One bench with a tools of its own, which is empty again afterwards. */
async function runAlone(bench: Bench): Promise<readonly Figure[]> {
  const lifecycle = createLifecycle({ logger: createLogger({ level: 'warn' }), graceMs: 60_000 });
  stopRunning = (reason) => lifecycle.stop(reason);
  try {
    const load = await startLoad();
    lifecycle.add('load', () => load.stop());
    return await bench.run({ lifecycle, load, rounds: 5, runMs: 3_000, say: (line) => say(`  ${line}`) });
  } finally {
    await lifecycle.stop('the bench is over');
  }
}

await main(process.argv.slice(2));
