import { fork } from 'node:child_process';
import { once } from 'node:events';

import { modes, type Mode } from './attack.ts';
import { listAnswers, attack, type Outcome, listSuccesses, formatTable } from './run.ts';

/**
 * `npm run attack`: attacks Kiln in each mode, or in those that are named; ends with 1 when anything got through. With
 * `--answers` it prints each request and what was answered.
 */
if (process.send === undefined) await attackAll(process.argv.slice(2));
else await attackOne(process.argv[2] as Mode);

/** Each mode in a process of its own, so that one Kiln's work does not hold up the others. */
async function attackAll(words: readonly string[]): Promise<void> {
  const named = words.filter((word) => !word.startsWith('--'));
  const unknown = named.filter((word) => !modes.some((mode) => mode === word));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')} is no mode: ${modes.join(', ')}`);
  const chosen = modes.filter((mode) => named.length === 0 || named.includes(mode));
  const started = performance.now();
  const outcomes = (await Promise.all(chosen.map(runAttacks))).flat();
  const successes = listSuccesses(outcomes);
  const seconds = Math.round((performance.now() - started) / 1_000);
  if (words.includes('--answers')) process.stdout.write(`${listAnswers(outcomes).join('\n')}\n\n`);
  const lines = successes.map((line) => `GOT THROUGH: ${line}\n`).join('');
  process.stdout.write(
    `${formatTable(outcomes)}\n\n${lines}${successes.length} got through, in ${seconds} s\n`,
  );
  process.exitCode = successes.length === 0 ? 0 : 1;
}

async function runAttacks(mode: Mode): Promise<readonly Outcome[]> {
  const child = fork(import.meta.filename, [mode], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  let outcomes: readonly Outcome[] | null = null;
  child.once('message', (message) => (outcomes = message as readonly Outcome[]));
  await once(child, 'disconnect');
  if (outcomes === null) throw new Error(`the attack on ${mode} ended before it was over`);
  return outcomes;
}

async function attackOne(mode: Mode): Promise<void> {
  const outcomes = await attack(mode);
  process.send?.(outcomes, () => process.exit());
}
