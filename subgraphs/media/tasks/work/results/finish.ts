import type { Failure } from '../../../domain/failure.ts';
import { isFinal } from '../../../domain/task.ts';
import { formatStage } from '../../../domain/words/stages.ts';
import { findRules } from '../../../domain/work/work.ts';
import type { Outcome } from '../../../providers/contract/provider.ts';
import { settleAll } from '../../accounting/settle.ts';
import { storeJob } from '../../rules/queues.ts';
import { moveSteps } from '../../storage/step-store.ts';
import type { TransactionScope } from '../../storage/transactor.ts';
import { keepUnits } from '../../storage/usage-store.ts';
import { toAttemptKey } from '../attempts/attempt-context.ts';
import { createBatchedWriter } from '../attempts/batched-writer.ts';
import type { EndDependencies, UpstreamFinish } from '../attempts/dependencies.ts';
import { closeFinished, withSteps, type Finished } from './closed-attempts.ts';
import { collectNotes, createOutcome, toFinishedWork } from './outcomes.ts';

/** Finished upstreams: their attempts are closed, and files are fetched or texts stored. */

/** A finished upstream without anything that its kind of work makes. */
const EMPTY_RESULT: Failure = {
  code: 'UNAVAILABLE',
  message: 'the upstream finished without a result',
  retryable: false,
};

/** Most ends in one transaction, and transactions at once. */
const MOST = 100;
const AT_ONCE = 2;

/**
 * Closes attempts and moves their steps to STORING with a job that fetches the files; a result of texts alone ends the
 * step at once. The result of a task that was cancelled (or has ended) meanwhile is discarded. False when the attempt
 * was no longer open. What ends at about the same time is written together.
 */
export function createFinisher(dependencies: EndDependencies): (finish: UpstreamFinish) => Promise<boolean> {
  return createBatchedWriter({
    most: MOST,
    atOnce: AT_ONCE,
    // Each task once: its steps end one after the other, and each end has a number of its own in the task's log.
    toKey: ({ attempt }) => attempt.taskId,
    write: (finishes) => finishAttempts(dependencies, finishes),
  });
}

async function finishAttempts(
  dependencies: EndDependencies,
  finishes: readonly UpstreamFinish[],
): Promise<readonly boolean[]> {
  return dependencies.transactor.run(async (scope) => {
    const closed = await closeFinished(scope, finishes);
    const ended = await withSteps(scope, closed);
    await keepOrSettle(dependencies, scope, ended);
    for (const { task, discarded } of closed) {
      if (discarded && !isFinal(task.state)) await dependencies.transitions.settleCancel(scope, task);
    }
    await storeOrFinish(
      dependencies,
      scope,
      ended.filter(({ discarded }) => !discarded),
    );
    const taskIds = new Set(closed.map(({ task }) => task.id));
    return finishes.map(({ attempt }) => taskIds.has(attempt.taskId));
  });
}

/** What has files is settled when they are stored and measured; the rest now, also what nobody wants any more. */
async function keepOrSettle(
  dependencies: EndDependencies,
  scope: TransactionScope,
  ended: readonly Finished[],
): Promise<void> {
  const [settled, kept] = partition(
    ended,
    ({ outcome, discarded }) => outcome.files.length === 0 || discarded,
  );
  const measured = kept.map(({ attempt, outcome: { units = {} } }) => ({ ...toAttemptKey(attempt), units }));
  await keepUnits(
    scope.transaction,
    measured.filter(({ units }) => Object.keys(units).length > 0),
  );
  await settleAll(
    dependencies,
    scope,
    settled.map(({ task, attempt, current: { input }, outcome: { units = {} } }) => ({
      task,
      attempt,
      input,
      ending: 'finished',
      measured: units,
    })),
  );
}

async function storeOrFinish(
  { transitions, registry }: EndDependencies,
  scope: TransactionScope,
  ended: readonly Finished[],
): Promise<void> {
  const [stored, texts] = partition(ended, ({ outcome }) => outcome.files.length > 0);
  await beginStoring(scope, stored);
  const [empty, done] = partition(texts, hasNothing);
  for (const { task, current } of empty) {
    await transitions.failStep(scope, task, { step: current.step, failure: EMPTY_RESULT });
  }
  await transitions.finishSteps(
    scope,
    done.map(({ task, steps, current, attempt, outcome }) => {
      const { provider } = attempt;
      const notes = collectNotes(current.input, registry.ofAttempt(attempt));
      return {
        task,
        steps,
        step: current.step,
        outcome: createOutcome(outcome, { mediaIds: [], provider, notes }),
      };
    }),
  );
}

async function beginStoring(scope: TransactionScope, ended: readonly Finished[]): Promise<void> {
  await moveSteps(
    scope.transaction,
    ended.map(({ task, current: { step }, outcome }) => ({
      taskId: task.id,
      step,
      state: 'STORING',
      finished: toFinishedWork(outcome),
    })),
  );
  await scope.append(
    ended.map(({ task, current }) => ({ taskId: task.id, stage: formatStage(current, 'storing result') })),
  );
  await scope.enqueue(
    ...ended.map(({ task, attempt, current: { step } }) =>
      storeJob(task, { step, binding: attempt.binding }),
    ),
  );
}

function hasNothing({ current, outcome }: Finished): boolean {
  return findRules(current.input).result.needsFile || isEmpty(outcome);
}

function isEmpty({ texts, facts = {} }: Outcome): boolean {
  return texts.length === 0 && Object.keys(facts).length === 0;
}

function partition<Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly [readonly Item[], readonly Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
