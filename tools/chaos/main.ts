import { parseArgs } from 'node:util';

import { keepLogs, printFindings } from './report.ts';
import { runChaos, type ChaosRun } from './run.ts';
import { runScaling } from './scaling/run-scaling.ts';
import { shapes } from './shapes.ts';
import { startTopology } from './topology.ts';

/**
 * Everything that goes wrong, under load: `npm run chaos -- --minutes 3 --seed 7 --pause 300`. `--quick` is each
 * kind of fault once, and short; `--patience SECONDS` is the longest wait for anything (default: minutes); `--shape replicas` is three whole Kilns,
 * `--shape processes` one with PROCESSES=auto, `--shape scaling` parts that come and go by the chart's rules in place of faults; `--events postgres` does without NATS where it is installed; `--logs FOLDER` keeps what each process has
 * printed. Prints a table and ends with 1 when anything is wrong.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string' },
    pause: { type: 'string', default: '300' },
    events: { type: 'string', default: 'nats' },
    shape: { type: 'string', default: 'split' },
    quick: { type: 'boolean', default: false },
    logs: { type: 'string' },
    patience: { type: 'string' },
  },
});
const all = [...shapes, 'scaling'] as const;
const shape = all.find((one) => one === values.shape);
if (shape === undefined) throw new Error(`--shape is one of ${all.join(', ')}`);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const say = (text: string) => void process.stdout.write(`${text}\n`);

say(`seed ${seed}`);
const topology = await startTopology({ shape, isOnNats: values.events === 'nats' });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void topology.close().finally(() => process.exit(130)));
}
if (topology.disk === null) say('the disk can not be filled or slowed here: mounting one is not allowed');
if (topology.nats === null) say('NATS is left out: PostgreSQL tells processes what has changed');
let isRight = false;
const patienceMs = values.patience === undefined ? undefined : Number(values.patience) * 1_000;
try {
  isRight = shape === 'scaling' ? await scaled() : await broken();
} finally {
  if (values.logs !== undefined) keepLogs(topology, values.logs);
  await topology.close();
}
process.exit(isRight ? 0 : 1);

async function scaled(): Promise<boolean> {
  const { findings, seen } = await runScaling(topology, { say, patienceMs });
  return printFindings(findings, seen, say);
}

async function broken(): Promise<boolean> {
  const run = await runChaos(topology, {
    seed,
    say,
    lastsMs: values.quick ? 0 : Number(values.minutes) * 60_000,
    faultMs: values.quick ? 2_000 : 6_000,
    pauseMs: Number(values.pause),
    patienceMs,
  });
  return print(run);
}

function print({ seen, findings, faults }: ChaosRun): boolean {
  say('');
  for (const [name, count] of countKinds(faults))
    say(`${name.padEnd(42)} ${String(count).padStart(6)}   times`);
  return printFindings(findings, seen, say);
}

/** `kill -9 of media 1` counts as a `kill -9 of a process`. */
function countKinds(faults: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const kinds = new Map<string, number>();
  for (const [name, count] of faults) {
    const kind = name.replace(/^(kill -9|SIGSTOP|planned stop) of .*/, '$1 of a process');
    kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  }
  return kinds;
}
