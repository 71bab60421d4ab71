import { parseArgs } from 'node:util';

import { checkModel } from './model.ts';

/** Runs the model of the task engine: `npm run model -- --runs 20000 --seed 7 --minutes 30 --lanes 1`. */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    lanes: { type: 'string', default: '4' },
    /** Tells the first find without looking for the smallest run that shows it. */
    first: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
process.stdout.write(`seed ${seed}\n`);
const started = performance.now();
const tried = await checkModel({
  runs: Number(values.runs),
  seed,
  lanes: Number(values.lanes),
  isFirstEnough: values.first,
  ...(values.minutes !== undefined && { timeoutMs: Number(values.minutes) * 60_000 }),
});
const seconds = Math.round((performance.now() - started) / 1000);
process.stdout.write(`${tried} runs in ${seconds} s, no invariant broken\n`);
process.exit(0);
