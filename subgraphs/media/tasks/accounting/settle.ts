import type { AttemptRow, TaskRow } from '../../database/database.ts';
import type { Units } from '../../domain/cost.ts';
import type { Failure } from '../../domain/failure.ts';
import { accountOf } from '../../domain/task.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { costOfAttempt, type Ending } from '../../generators/prices/cost.ts';
import { readAttempts } from '../storage/attempt-store.ts';
import { readSteps } from '../storage/step-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import { settleAttempt } from '../storage/usage-store.ts';
import type { WorkObserver } from './work-observer.ts';

/** What settling needs. */
export interface AccountingDependencies {
  readonly registry: GeneratorRegistry;
  /** Hears of every end after its commit (default: nobody). */
  readonly observer?: WorkObserver | undefined;
  /** Warns of budgets that have passed their soft amount (default: nobody). */
  readonly budgetWarnings?: BudgetWarnings | undefined;
}

/** Warns of budgets, in the transaction in which they have passed their soft amount. */
export interface BudgetWarnings {
  warn(scope: TransactionScope, budgetIds: readonly string[]): Promise<void>;
}

/** A closed attempt and how it ended. */
interface ClosedAttempt {
  readonly attempt: AttemptRow;
  readonly input: StepInput;
  readonly ending: Ending;
  /** What its upstream or its files say that it took. */
  readonly measured?: Units;
  readonly failure?: Failure;
}

type Settling = { readonly scope: TransactionScope; readonly task: TaskRow };

/** Prices a closed attempt, charges it to budgets and adds it to the totals of usage, in the transaction that closes it or stores its result. */
export async function settle(
  { registry, observer, budgetWarnings }: AccountingDependencies,
  { scope, task }: Settling,
  { attempt, input, ending, measured = {}, failure }: ClosedAttempt,
): Promise<void> {
  const binding = registry.byId(attempt.binding);
  const { model, taskId, step, number } = attempt;
  const cost = costOfAttempt({ binding, model, input, ending, measured: { ...attempt.units, ...measured } });
  const sandbox = binding?.sandbox ?? task.sandbox;
  const key = { taskId, step, number };
  const soft = await settleAttempt(scope.transaction, key, { cost, owner: accountOf(task), sandbox });
  if (soft.length > 0) await budgetWarnings?.warn(scope, soft);
  const outcome = failure?.code ?? ending;
  scope.afterCommit(() => observer?.attemptEnded(attempt, { outcome, cost }));
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
