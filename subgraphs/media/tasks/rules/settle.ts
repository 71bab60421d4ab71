import type { AttemptRow, TaskRow } from '../../database/database.ts';
import type { Units } from '../../domain/cost.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { costOfAttempt, type Ending } from '../../generators/prices/cost.ts';
import { readAttempts } from '../storage/attempt-store.ts';
import { readSteps } from '../storage/step-store.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import { settleAttempt } from '../storage/usage-store.ts';

/** A closed attempt and how it ended. */
interface ClosedAttempt {
  readonly attempt: AttemptRow;
  readonly input: StepInput;
  readonly ending: Ending;
  /** What its upstream or its files say that it took. */
  readonly measured?: Units;
}

type Settling = { readonly scope: TransactionScope; readonly task: TaskRow };

/** Prices a closed attempt and adds it to the totals of usage, in the transaction that closes it or stores its result. */
export async function settle(
  registry: GeneratorRegistry,
  { scope, task }: Settling,
  { attempt, input, ending, measured = {} }: ClosedAttempt,
): Promise<void> {
  const binding = registry.byId(attempt.binding);
  const { model, taskId, step, number } = attempt;
  const cost = costOfAttempt({ binding, model, input, ending, measured: { ...attempt.units, ...measured } });
  const sandbox = binding?.sandbox ?? task.sandbox;
  await settleAttempt(scope.transaction, { taskId, step, number }, { cost, owner: task.owner, sandbox });
}

/** The same for the attempts whose results were finished and never stored: their task ends without them. */
export async function settleUnstored(registry: GeneratorRegistry, { scope, task }: Settling): Promise<void> {
  const attempts = await readAttempts(scope.transaction, [task.id]);
  const open = attempts.filter((attempt) => attempt.state === 'SUCCEEDED' && attempt.settledAt === null);
  if (open.length === 0) return;
  const steps = await readSteps(scope.transaction, task.id);
  for (const attempt of open) {
    const input = steps.find(({ step }) => step === attempt.step)?.input;
    if (input !== undefined) await settle(registry, { scope, task }, { attempt, input, ending: 'finished' });
  }
}
