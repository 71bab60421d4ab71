import { readFile } from 'node:fs/promises';

import { z } from 'zod';

import { AppError, badInput, toError } from '../../platform/errors.ts';
import type { ResultCopier } from '../fallback/copy-results.ts';
import { isFinal } from '../fallback/old-answers.ts';
import type { StoredAnswers } from '../fallback/stored-answers.ts';
import { checkedAnswer, enveloped, type ReadOld } from './old-service.ts';
import type { Report } from './report.ts';

/** Takes over payments and executions of users: their answers are stored in the words of the old service. */

/** What is needed to take the history of users over. */
interface HistoryImport {
  readonly read: ReadOld;
  readonly stored: StoredAnswers;
  /** Brings results into our storage; null leaves that to their first read. */
  readonly copier: ResultCopier | null;
  readonly report: Report;
  readonly dryRun: boolean;
}

/** Where an answer is read, and what it is stored under. */
interface StoredRead {
  readonly operation: string;
  readonly id: string;
  readonly path: string;
}

const answer = z.record(z.string(), z.json());
const payments = enveloped(
  z.object({
    payments: z.array(z.looseObject({ id: z.string() })),
    total: z.number().optional().catch(undefined),
  }),
);
const executions = enveloped(
  z.object({
    // The documents don't name the task in this list; it is taken where it is answered.
    executions: z.array(z.looseObject({ executionId: z.string(), taskId: z.string().nullish().catch(null) })),
    total: z.number().optional().catch(undefined),
  }),
);
const progress = enveloped(z.looseObject({ taskId: z.string().nullish().catch(null) }));

/** User ids of a file, one a line. BAD_USER_INPUT when it can't be read. */
export async function readUsers(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw badInput('users', `--users: ${toError(thrown).message}`);
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ''))];
}

/** Takes over what the old service has of each user; a list or thing that is refused does not stop the rest. */
export async function importHistory(parts: HistoryImport, users: readonly string[]): Promise<void> {
  for (const user of users) {
    await reported(parts, { kind: 'payment list', id: user }, () => takePayments(parts, user));
    await reported(parts, { kind: 'execution list', id: user }, () => takeExecutions(parts, user));
  }
}

async function takePayments(parts: HistoryImport, user: string): Promise<void> {
  const path = `/payment/history?userId=${encodeURIComponent(user)}`;
  const list = { operation: 'GET /payment/history', id: user, path };
  const { payments: listed, total } = (await readList(parts, list, payments)).data;
  for (const { id } of listed) {
    await reported(parts, { kind: 'payment', id }, () =>
      take(parts, { operation: 'GET /payment/{paymentId}', id, path: `/payment/${encodeURIComponent(id)}` }),
    );
  }
  requireWhole(`payments of ${user}`, listed.length, total);
}

async function takeExecutions(parts: HistoryImport, user: string): Promise<void> {
  const path = `/templates/executions/user/${encodeURIComponent(user)}`;
  const operation = 'GET /templates/executions/user/{userId}';
  const list = { operation, id: user, path };
  const { executions: listed, total } = (await readList(parts, list, executions)).data;
  for (const { executionId: id, taskId } of listed) {
    await reported(parts, { kind: 'execution', id }, () => takeExecution(parts, id, taskId ?? null));
  }
  requireWhole(`executions of ${user}`, listed.length, total);
}

/** The state of the execution, and that of its task, which clients may ask for as well. */
async function takeExecution(
  parts: HistoryImport,
  executionId: string,
  listedTask: string | null,
): Promise<boolean> {
  const operation = 'GET /templates/execution/{taskId}/progress';
  const asked = listedTask ?? executionId;
  const path = `/templates/execution/${encodeURIComponent(asked)}/progress`;
  const isNew = await take(parts, { operation, id: asked, path }).catch((thrown: unknown) => {
    if (listedTask !== null || !(thrown instanceof AppError) || thrown.code !== 'NOT_FOUND') throw thrown;
    throw new AppError(
      'NOT_FOUND',
      `the list names no task, and ${path} is 404, so its result can't be read`,
    );
  });
  const taskId = listedTask ?? (await readTaskId(parts, { operation, id: asked, path }));
  if (taskId === null) return isNew;
  const task = `/task/${encodeURIComponent(taskId)}`;
  const isNewTask = await take(parts, { operation: 'GET /task/{taskId}', id: taskId, path: task });
  if (taskId === asked) return isNew || isNewTask;
  const byTask = `/templates/execution/${encodeURIComponent(taskId)}/progress`;
  const isNewProgress = await take(parts, { operation, id: taskId, path: byTask });
  return isNew || isNewTask || isNewProgress;
}

/** The task that an execution's progress names. */
async function readTaskId({ read, stored }: HistoryImport, { operation, id, path }: StoredRead) {
  const body = (await stored.find(operation, id))?.body ?? (await read(path));
  return checkedAnswer(progress, body, path).data.taskId ?? null;
}

/** Lists grow, so a list is stored anew each time; an answer that is none leaves the one before. */
async function readList<Shape extends z.ZodType>(
  { read, stored, dryRun }: HistoryImport,
  { operation, id, path }: StoredRead,
  shape: Shape,
): Promise<z.output<Shape>> {
  const body = checkedAnswer(answer, await read(path), path);
  const list = checkedAnswer(shape, body, path);
  if (!dryRun) await stored.save({ operation, id, body, hasCopies: true });
  return list;
}

/** Whether it was not here before. Throws when there is nothing that could be stored. */
async function take({ read, stored, copier, dryRun }: HistoryImport, one: StoredRead): Promise<boolean> {
  const { operation, id, path } = one;
  const present = await stored.find(operation, id);
  if (present !== null && (present.hasCopies || copier === null)) return false;
  const body = present?.body ?? checkedAnswer(answer, await read(path), path);
  if (!isFinal({ service: 'workflow', operation, id }, body)) {
    throw new AppError('CONFLICT', 'it has not ended there: FALLBACK_WORKFLOW_URL answers it until it has');
  }
  if (dryRun) return true;
  const copied = (await copier?.copy(body)) ?? { body, isComplete: false };
  await stored.save({ operation, id, body: copied.body, hasCopies: copied.isComplete });
  if (copier === null || copied.isComplete) return true;
  throw new AppError(
    'CONFLICT',
    'its results could not be copied now: the old addresses are kept; import again',
  );
}

/** Says what became of one thing; only a service that is away stops the import. */
async function reported(
  { report }: HistoryImport,
  { kind, id }: { readonly kind: string; readonly id: string },
  work: () => Promise<boolean | void>,
): Promise<void> {
  try {
    const isNew = await work();
    if (isNew === undefined) return;
    report.add({ kind, id, outcome: isNew ? 'taken over' : 'already there', reasons: [] });
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code === 'UNAVAILABLE') throw thrown;
    report.add({ kind, id, outcome: 'not taken over', reasons: [thrown.message] });
  }
}

/** A list may be shorter than its own total. */
function requireWhole(what: string, listed: number, total: number | undefined): void {
  if (total === undefined || total <= listed) return;
  throw new AppError(
    'CONFLICT',
    `the old service lists ${listed} of ${total} ${what}; the others are not taken over`,
  );
}
