import { parseArgs } from 'node:util';

import { copyOfProject } from '../mutants/copy-of-project.ts';
import type { Break } from './break.ts';
import { CHAOS_BREAKS } from './chaos-breaks.ts';
import { MODEL_BREAKS } from './model-breaks.ts';
import { tryBreak } from './trial.ts';

/**
 * Breaks the code on purpose, one way at a time in a copy, and says which of them a tool finds: `npm run breaks -- model`, `npm run
 * breaks -- chaos --seed 7 --only refund`. Ends with 1 when one is not found, or when the copy is not right without any.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Default: one of the tool's own, at which each was seen to be found. */
    seed: { type: 'string' },
    /** Only the breaks whose names hold this. */
    only: { type: 'string', default: '' },
    /** Prints what the tool says of each. */
    verbose: { type: 'boolean', default: false },
  },
});
/** Most runs of the model for a break that names no other number. */
const RUNS = 500;

const TOOLS: Readonly<Record<string, Tool>> = {
  model: {
    breaks: MODEL_BREAKS,
    tries: 1,
    seed: '20261124',
    command: ({ within = RUNS }) => ['tools/model/main.ts', '--first', '--runs', String(within)],
    shown: /found after \d+ runs/,
  },
  chaos: {
    breaks: CHAOS_BREAKS,
    tries: 3,
    // Kills a worker and the workflow subgraph, whether or not there is NATS and a disk that can be filled.
    seed: '52',
    command: () => ['tools/chaos/main.ts', '--quick', '--patience', '120'],
    shown: /.*WRONG.*/,
  },
};
interface Tool {
  readonly breaks: readonly Break[];
  readonly seed: string;
  /** Most seeds, one after the other, at which a break may be found: whether a kill comes amid what is broken is a matter of luck. */
  readonly tries: number;
  readonly command: (one: Pick<Break, 'within'>) => readonly string[];
  /** What of its output is shown. */
  readonly shown: RegExp;
}

const [name = ''] = positionals;
const tool = TOOLS[name];
if (tool === undefined) {
  process.stderr.write(`name a tool: ${Object.keys(TOOLS).join(', ')}\n`);
  process.exit(2);
}
const { root } = copyOfProject('kiln-breaks-');
const asked = tool.breaks.filter((one) => one.name.includes(values.only));
const firstSeed = Number(values.seed ?? tool.seed);
const buildCommand = (one: Pick<Break, 'within'>, seed: number) => [
  ...tool.command(one),
  '--seed',
  String(seed),
];

/** Tries a break seed by seed until it is found; the last trial, and at which seed. */
async function tryUntilFound(one: Break, { tries }: Tool) {
  for (let seed = firstSeed; ; seed += 1) {
    const trial = await tryBreak(root, one, buildCommand(one, seed));
    if (trial.isFound || seed === firstSeed + tries - 1) return { ...trial, seed };
  }
}
const whole = await tryBreak(root, { edits: [], finds: '' }, buildCommand({}, firstSeed));
if (whole.isFound || whole.isLate) {
  const words = whole.isLate ? 'the tool came to no end' : 'something is wrong';
  process.stdout.write(`${whole.printed}\n${words} without any break\n`);
  process.exit(1);
}
let missed = 0;
for (const one of asked) {
  const { isFound, isLate, printed, seed } = await tryUntilFound(one, tool);
  if (!isFound) missed += 1;
  const broken = new RegExp(one.finds).exec(printed)?.[0] ?? '';
  const shown = tool.shown.exec(printed)?.[0].trim() ?? '';
  process.stdout.write(
    `${isFound ? 'found' : isLate ? 'NO END' : 'NOT FOUND'}: ${one.name} (${[`seed ${seed}`, broken, shown].filter(Boolean).join(', ')})\n`,
  );
  if (values.verbose || !isFound) process.stdout.write(`${printed}\n`);
}
process.stdout.write(`${asked.length - missed} of ${asked.length} found\n`);
process.exit(missed === 0 ? 0 : 1);
