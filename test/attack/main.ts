import { modes, type Mode } from './attack.ts';
import { answersOf, attack, successesOf, tableOf } from './run.ts';

/**
 * `npm run attack`: attacks Kiln in each mode, or in those that are named; ends with 1 when anything got through. With
 * `--answers` it prints each request and what was answered.
 */
const words = process.argv.slice(2);
const named = words.filter((word) => !word.startsWith('--'));
const chosen = modes.filter((mode: Mode) => named.length === 0 || named.includes(mode));
const unknown = named.filter((word) => !modes.some((mode) => mode === word));
if (unknown.length > 0) throw new Error(`${unknown.join(', ')} is no mode: ${modes.join(', ')}`);
const started = performance.now();
const outcomes = (await Promise.all(chosen.map((mode) => attack(mode)))).flat();
const successes = successesOf(outcomes);
const seconds = Math.round((performance.now() - started) / 1_000);
if (words.includes('--answers')) process.stdout.write(`${answersOf(outcomes).join('\n')}\n\n`);
process.stdout.write(`${tableOf(outcomes)}\n\n${successes.map((line) => `GOT THROUGH: ${line}\n`).join('')}`);
process.stdout.write(`${successes.length} got through, in ${seconds} s\n`);
process.exit(successes.length === 0 ? 0 : 1);
