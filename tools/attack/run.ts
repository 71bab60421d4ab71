import { rest } from '../../test/kit/clients/requests.ts';
import type { AttackClass, Attempt, Mode, World } from './attack.ts';
import { floods, resets, starts } from './classes/floods.ts';
import { graphqlLimits } from './classes/graphql-limits.ts';
import { othersIds } from './classes/ids.ts';
import { names } from './classes/names.ts';
import { newDocuments } from './classes/new-documents.ts';
import { outbound } from './classes/outbound.ts';
import { payments } from './classes/payments.ts';
import { disclosure, ports } from './classes/ports.ts';
import { slowBodies } from './classes/slow-bodies.ts';
import { taskIds } from './classes/task-ids.ts';
import { tokens } from './classes/tokens.ts';
import { uploads } from './classes/uploads.ts';
import { startWorld } from './worlds.ts';

const classes: readonly AttackClass[] = [
  graphqlLimits,
  othersIds,
  taskIds,
  names,
  outbound,
  tokens,
  payments,
  uploads,
  starts,
  slowBodies,
  resets,
  newDocuments,
  floods,
  ports,
  disclosure,
];

/** What came of one class in one mode. */
export interface Outcome {
  readonly mode: Mode;
  readonly name: string;
  readonly attempts: readonly Attempt[];
  readonly seconds: number;
}

/** Starts Kiln in one mode and tries every class of attack on it; the quick ones alone with `isQuick`. */
export async function attack(mode: Mode, isQuick = false): Promise<readonly Outcome[]> {
  const world = await startWorld(mode, isQuick);
  try {
    const chosen = classes.filter((one) => one.modes.includes(mode) && (one.isQuick || !isQuick));
    const tried = async ({ name, run }: AttackClass) => {
      const started = performance.now();
      const attempts = await run(world);
      return { mode, name, attempts, seconds: Math.round((performance.now() - started) / 1_000) };
    };
    const outcomes = await Promise.all(chosen.filter((one) => one !== floods).map(tried));
    await checkCredentials(world);
    // Alone, as it takes every connection.
    return chosen.includes(floods) ? [...outcomes, await tried(floods)] : outcomes;
  } finally {
    await world.close();
  }
}

/** An attacker whose own credential has ended is refused everything, which proves nothing. */
async function checkCredentials({ mode, url, attackers }: World): Promise<void> {
  for (const [who, headers] of Object.entries(attackers)) {
    const { status } = await rest(url, 'POST', '/graphql', { query: '{ viewer { id } }' }, headers);
    if (status !== 200) throw new Error(`${who} can't attack in ${mode} any more: ${status}`);
  }
}

/** The lines of a table: what was tried, and how much of it was refused. */
export function formatTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ mode, name, attempts, seconds }) => {
    const refused = attempts.filter(({ succeeded }) => !succeeded).length;
    return [mode, name, String(attempts.length), String(refused), String(seconds)];
  });
  const head = ['mode', 'attack', 'tried', 'refused', 'seconds'];
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** What got through, one line each. */
export function listSuccesses(outcomes: readonly Outcome[]): readonly string[] {
  return listAnswers(
    outcomes.map((outcome) => ({
      ...outcome,
      attempts: outcome.attempts.filter(({ succeeded }) => succeeded),
    })),
  );
}

/** Each request and its answer, one line each. */
export function listAnswers(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.flatMap(({ mode, name, attempts }) =>
    attempts.map(({ what, answer }) => `${mode}, ${name}: ${what} -> ${answer.replaceAll(/\s+/g, ' ')}`),
  );
}
