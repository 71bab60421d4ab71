import type { AttemptRow, TaskRow } from '../../database/database.ts';
import type { Units } from '../../domain/cost.ts';
import type { Failure } from '../../domain/failure.ts';
import { chooseAccount } from '../../domain/task.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { costOfAttempt, type Ending } from '../../generators/prices/cost.ts';
import { readAttempts } from '../storage/attempt-store.ts';
import { readSteps } from '../storage/step-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import { settleAttempts, type SettledAttempt } from '../storage/usage-store.ts';
import type { WorkObserver } from './work-observer.ts';

/** What settling needs. */
export interface AccountingDependencies {
  readonly registry: GeneratorRegistry;
  /** Receives every end after its commit (default: nobody). */
  readonly observer?: WorkObserver | undefined;
  /** Warns of budgets that have passed their soft amount (default: nobody). */
  readonly budgetWarnings?: BudgetWarnings | undefined;
}

/** Warns of budgets, in the transaction in which they have passed their soft amount. */
export interface BudgetWarnings {
  warn(scope: TransactionScope, budgetIds: readonly string[]): Promise<void>;
}

/** A closed attempt and how it ended. */
export interface ClosedAttempt {
  readonly attempt: AttemptRow;
  readonly input: StepInput;
  readonly ending: Ending;
  /** What its upstream or its files say that it took. */
  readonly measured?: Units;
  readonly failure?: Failure;
}

type Settling = { readonly scope: TransactionScope; readonly task: TaskRow };

/**
 * Prices closed attempts, one of a task, charges them to budgets and adds them to the totals of usage, in the transaction that
 * closes them or stores their results.
 */
export async function settleAll(
  { registry, observer, budgetWarnings }: AccountingDependencies,
  scope: TransactionScope,
  closed: readonly (ClosedAttempt & { readonly task: TaskRow })[],
): Promise<void> {
  const priced = closed.map((one) => ({ ...one, settled: computePrice(registry, one) }));
  const soft = await settleAttempts(
    scope.transaction,
    priced.map(({ settled }) => settled),
  );
  if (soft.length > 0) await budgetWarnings?.warn(scope, soft);
  scope.afterCommit(() => {
    for (const { attempt, failure, ending, settled } of priced) {
      observer?.attemptEnded(attempt, { outcome: failure?.code ?? ending, cost: settled.cost });
    }
  });
}

function computePrice(
  registry: GeneratorRegistry,
  { attempt, task, input, ending, measured = {} }: ClosedAttempt & { readonly task: TaskRow },
): SettledAttempt {
  const { model, taskId, step, number } = attempt;
  const binding = registry.ofAttempt(attempt);
  const cost = costOfAttempt({ binding, model, input, ending, measured: { ...attempt.units, ...measured } });
  const sandbox = binding?.sandbox ?? task.sandbox;
  return { taskId, step, number, binding: attempt.binding, owner: chooseAccount(task), sandbox, cost };
}

/** The same for one attempt. */
export function settle(
  dependencies: AccountingDependencies,
  { scope, task }: Settling,
  closed: ClosedAttempt,
): Promise<void> {
  return settleAll(dependencies, scope, [{ ...closed, task }]);
}

/** The same for the attempts whose results were finished and never stored: their task ends without them. */
export async function settleUnstored(
  dependencies: AccountingDependencies,
  { scope, task }: Settling,
): Promise<void> {
  const attempts = await readAttempts(scope.transaction, [task.id]);
  const open = attempts.filter((attempt) => attempt.state === 'SUCCEEDED' && attempt.settledAt === null);
  if (open.length === 0) return;
  const steps = await readSteps(scope.transaction, task.id);
  for (const attempt of open) {
    const input = steps.find(({ step }) => step === attempt.step)?.input;
    if (input !== undefined)
      await settle(dependencies, { scope, task }, { attempt, input, ending: 'finished' });
  }
}
