import { type RawBuilder, sql } from 'kysely';

import type { AttemptRow, StepRow, TaskRow } from './database.ts';

/** The columns of tables by name, for prepared statements: those may not say `*`, and know no column of a later release. */

/** The column of a member. */
export const toColumn = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const TASK: Readonly<Record<keyof TaskRow, true>> = {
  id: true,
  owner: true,
  kind: true,
  generator: true,
  taskType: true,
  sandbox: true,
  input: true,
  state: true,
  stage: true,
  progress: true,
  progressEstimated: true,
  lastSeq: true,
  cancelRequestedAt: true,
  error: true,
  result: true,
  callbackUrl: true,
  onEnd: true,
  eventsPruned: true,
  manageTokenHash: true,
  createdAt: true,
  startedAt: true,
  endedAt: true,
  traceparent: true,
  sold: true,
};

const STEP: Readonly<Record<keyof StepRow, true>> = {
  taskId: true,
  step: true,
  label: true,
  input: true,
  binding: true,
  state: true,
  progress: true,
  stored: true,
  storeTries: true,
  finished: true,
  outcome: true,
  waitingSince: true,
  startedAt: true,
  endedAt: true,
  unknownSince: true,
};

const ATTEMPT: Readonly<Record<keyof AttemptRow, true>> = {
  taskId: true,
  step: true,
  number: true,
  binding: true,
  provider: true,
  model: true,
  reference: true,
  state: true,
  claim: true,
  claimedAt: true,
  handle: true,
  error: true,
  startedAt: true,
  runningAt: true,
  endedAt: true,
  nextPollAt: true,
  pollFailures: true,
  watcher: true,
  watchedUntil: true,
  units: true,
  cost: true,
  costEstimated: true,
  currency: true,
  sandbox: true,
  settledAt: true,
  upstream: true,
  handleHash: true,
  unknownSince: true,
  bindingName: true,
};

/** Columns as members of rows that no plugin renames. */
export const asMembers = (names: readonly string[]): string =>
  names.map((name) => `${toColumn(name)} as "${name}"`).join(', ');

/** The names of a task's properties. */
export const taskNames = Object.keys(TASK) as readonly (keyof TaskRow)[];

/** A task's columns. */
export const taskColumns: RawBuilder<unknown> = sql.raw(taskNames.map(toColumn).join(', '));

/** A step's columns. */
export const stepColumns: RawBuilder<unknown> = sql.raw(Object.keys(STEP).map(toColumn).join(', '));

/** An attempt's columns, of the table by this name in the statement. */
export function attemptColumns(table: string): RawBuilder<unknown> {
  return sql.raw(
    Object.keys(ATTEMPT)
      .map((name) => `${table}.${toColumn(name)}`)
      .join(', '),
  );
}
