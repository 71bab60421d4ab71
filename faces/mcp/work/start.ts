import { createHash } from 'node:crypto';

import { AppError } from '../../../platform/errors.ts';
import type { InputOf } from '../../../rest-compat/documents/graphql.ts';
import { type Execution, runDocument } from '../../../rest-compat/replies/results.ts';
import { isEnded } from '../../../rest-compat/replies/task.ts';
import { McpEstimate, type McpTask } from './documents.ts';
import { readTask } from './tasks.ts';

/** Starting work once: what it may cost, and that a repeated call joins what it has started. */

/** One start by a tool. */
export interface Start {
  /** What tells this start from others: the tool, the input of the graph, what the caller varies. */
  readonly call: readonly unknown[];
  /** What it is, for its estimate. */
  readonly estimate: EstimateInput;
  /** Most that it may cost, in the currency of the price list; absent: no bound but budgets. */
  readonly maxCost?: number | undefined;
  /** Starts it under a key, and answers its id. */
  readonly start: (idempotencyKey: string) => Promise<string>;
}

/** What an estimate is asked for. */
type EstimateInput = InputOf<typeof McpEstimate>['input'];

/** Milliseconds after the end of a task in which the same call is answered with it: a client that was cut asks again. */
const JOINED_MS = 10 * 60_000;
/** How often the same call may be repeated within the life of idempotency keys, before it has to differ. */
const MAX_REPEATS = 50;

/** Starts work, or joins what the same call has started. Throws what the graph refuses, and what costs too much. */
export async function startOnce(execution: Execution, start: Start): Promise<McpTask> {
  await checkCost(execution, start);
  let key = computeKey('', start.call);
  for (let repeat = 0; repeat < MAX_REPEATS; repeat += 1) {
    const task = await readTask(execution, await start.start(`mcp-${key}`));
    if (joins(task)) return task;
    // The next key follows from the task that is over, so that two who repeat the call at once join each other.
    key = computeKey(task.id, start.call);
  }
  const message = `this call was repeated ${MAX_REPEATS} times: set variation to make another`;
  throw new AppError('BAD_USER_INPUT', message, { field: 'variation' });
}

/** Whether a repeated call is answered with this task. What failed or was cancelled is tried again. */
function joins(task: McpTask): boolean {
  if (!isEnded(task)) return true;
  return task.state === 'SUCCEEDED' && Date.now() - Date.parse(task.endedAt ?? '') < JOINED_MS;
}

function computeKey(before: string, call: Start['call']): string {
  return createHash('sha256').update(before).update(JSON.stringify(call)).digest('hex').slice(0, 40);
}

/** Refuses work whose expected cost is above what the call allows, or not known. */
async function checkCost(execution: Execution, { maxCost, estimate }: Start): Promise<void> {
  if (maxCost === undefined) return;
  const { estimateCost } = await runDocument(execution, McpEstimate, { input: estimate });
  const { amount, currency } = estimateCost;
  if (amount === null) {
    const message =
      'what this costs is not known, so it is not started under a max_cost: leave it out, or choose a model with a price (find_models)';
    throw new AppError('BUDGET_EXCEEDED', message, { field: 'max_cost' });
  }
  if (amount <= maxCost) return;
  const message = `this is expected to cost ${amount} ${currency ?? ''}, above the max_cost of ${maxCost}: nothing was started`;
  throw new AppError('BUDGET_EXCEEDED', message, { field: 'max_cost' });
}
