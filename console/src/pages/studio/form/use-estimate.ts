import { useQuery } from '@apollo/client/react';

import { useIsSignedIn } from '../../../api/credential.ts';
import type { TaskKind } from '../../../api/documents/operations.ts';
import { EstimateDocument, MyBudgetsDocument } from '../../../api/documents/studio.ts';
import { useDebounced } from '../../../parts/controls/use-debounced.ts';
import { sentOptions } from '../../../work/options/values.ts';
import { type Choice, optionFields, tasksFor, textOf, type Values } from '../../../work/work.ts';
import { type Budget, budgetProblem, tightest } from './budget.ts';

/** What a form is expected to cost, and what the caller's budget says to it. */
export interface Estimated {
  /** All of it; null: unknown. Undefined until it is known. */
  readonly total: number | null | undefined;
  readonly currency: string | null;
  readonly budget: Budget | undefined;
  /** Why the budget refuses it; null when it does not. */
  readonly problem: ReturnType<typeof budgetProblem>;
}

const REST_MS = 400;

/** Asks for the price of a form as it is filled in. */
export function useEstimate(choice: Choice, values: Values, count: number): Estimated {
  const tasks = tasksFor(choice, count);
  const input = useDebounced(JSON.stringify(workOf(choice, values, tasks === 1 ? count : 1)), REST_MS);
  const { data, previousData } = useQuery(EstimateDocument, {
    variables: { input: JSON.parse(input) as ReturnType<typeof workOf> },
  });
  const isSignedIn = useIsSignedIn();
  const { data: own } = useQuery(MyBudgetsDocument, { skip: !isSignedIn, fetchPolicy: 'cache-and-network' });
  const budget = tightest(own?.myBudgets ?? []);
  const cost = (data ?? previousData)?.estimateCost;
  const total = cost === undefined ? undefined : cost.amount === null ? null : cost.amount * tasks;
  const currency = cost?.currency ?? null;
  const isFree = choice.model.sandbox;
  return {
    total,
    currency,
    budget,
    problem: isFree || budget === undefined ? null : budgetProblem(budget, { total, currency }),
  };
}

/** What of a form decides its price. */
function workOf(choice: Choice, values: Values, count: number) {
  const { kind, model } = choice;
  const text = textOf(values['text']) || textOf(values['prompt']);
  const { resolution, duration } = values;
  // The inputs of a graph are options too, and nothing is priced by them.
  const options =
    kind === 'COMFY_WORKFLOW' ? undefined : sentOptions(values['options'], optionFields(choice));
  return {
    kind: kind satisfies TaskKind,
    generator: model.generator,
    model: model.model,
    ...(text === '' ? {} : { text }),
    ...(model.inputs.includes('count') ? { count } : {}),
    ...(typeof resolution === 'string' ? { resolution } : {}),
    ...(typeof duration === 'number' ? { duration } : {}),
    ...(options === undefined ? {} : { options }),
  };
}
