import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { shuffled } from './faults.ts';
import { startLoad } from './load.ts';
import { startTopology } from './topology.ts';
import { verify } from './verify.ts';

/**
 * Everything that goes wrong, under load: `npm run chaos -- --minutes 3 --seed 7 --pause 300`. `--quick` is 20 seconds.
 * Prints a table and ends with 1 when anything is wrong.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string' },
    pause: { type: 'string', default: '300' },
    quick: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const lastsMs = values.quick ? 20_000 : Number(values.minutes) * 60_000;
const faultMs = values.quick ? 2_000 : 6_000;
const say = (text: string) => void process.stdout.write(`${text}\n`);

say(`seed ${seed}`);
const topology = await startTopology();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void topology.close().finally(() => process.exit(130)));
}
if (topology.disk === null) say('the disk can not be filled here: mounting one is not allowed');
let isRight = false;
try {
  isRight = await run();
} finally {
  await topology.close();
}
process.exit(isRight ? 0 : 1);

async function run(): Promise<boolean> {
  await topology.sandbox.latency({ queuedMs: 0, runningMs: 2_000 });
  const load = await startLoad(topology.gateways, Number(values.pause));
  const begun = performance.now();
  const seconds = (): number => Math.round((performance.now() - begun) / 1000);
  const isOver = (): boolean => performance.now() - begun >= lastsMs;
  let done = 0;
  for (let round = 0; !isOver(); round += 1) {
    for (const fault of shuffled(seed + round)) {
      if (isOver()) break;
      say(`${String(seconds()).padStart(4)} s  ${fault.name}`);
      await fault.run(topology, faultMs);
      done += 1;
      await pause(faultMs / 3);
    }
  }
  say(`${String(seconds()).padStart(4)} s  no more faults; waiting for the end of what runs`);
  await load.finish();
  const findings = await verify(topology, load.seen);
  say(`\n${done} faults in ${seconds()} s\n`);
  for (const { what, count, wrong } of findings) {
    const verdict = wrong.length === 0 ? 'right' : `${wrong.length} WRONG`;
    say(`${what.padEnd(42)} ${String(count).padStart(6)}   ${verdict}`);
    for (const one of wrong.slice(0, 5)) say(`    ${one.slice(0, 200)}`);
  }
  const again = [...load.seen.retried].map(([reason, count]) => `${reason}: ${count}`);
  say(`\nrepeated by clients: ${again.join(', ') || 'nothing'}`);
  return findings.every(({ wrong }) => wrong.length === 0);
}
