import { useQuery } from '@apollo/client/react';

import { useIsSignedIn } from '../../../api/caller.ts';
import type { TaskKind, MyBudgetsQuery } from '../../../api/documents/operations.ts';
import { EstimateDocument, MyBudgetsDocument } from '../../../api/documents/studio.ts';
import { useDebounced } from '../../../parts/controls/typing.ts';
import { Help } from '../../../parts/looks/inputs.tsx';
import { Figures, Small } from '../../../parts/looks/lines.tsx';
import { moneyText } from '../../../parts/money.ts';
import { t } from '../../../text/text.ts';
import { sentOptions } from '../../../work/options/fields.ts';
import { type Choice, optionFields, tasksFor, toText, type Values } from '../../../work/work.ts';

interface EstimateProps {
  readonly estimated: Estimated;
  readonly count: number;
  /** Whether the sandbox does it: nothing is paid. */
  readonly isFree: boolean;
}

/** What the button will cost, what that is made of, and what is left of the budget. */
export function Estimate({ estimated: { total, currency, budget, problem }, count, isFree }: EstimateProps) {
  if (isFree) {
    return (
      <Small as="p" role="status">
        {t('sandbox.meaning')}
        {typeof total === 'number' && total > 0 && (
          <> · {t('studio.wouldCost', { price: moneyText({ amount: total, currency }) })}</>
        )}
      </Small>
    );
  }
  return (
    <div className="gap-1 flex flex-col min-w-0" role="status">
      <p className="flex items-baseline gap-2">
        <b className="text-16 font-semibold tabular-nums">
          {total === undefined ? ' ' : moneyText({ amount: total, currency })}
        </b>
        {typeof total === 'number' && <Small>{t('studio.estimate')}</Small>}
        {count > 1 && typeof total === 'number' && (
          <Figures tone="muted" small className="ml-auto">
            {t('studio.priceOf', { count, price: moneyText({ amount: total / count, currency }) })}
          </Figures>
        )}
      </p>
      {budget !== undefined && (
        <Small as="p">
          {t('studio.left', {
            left: moneyText({ amount: budget.left, currency: budget.currency }),
            amount: moneyText({ amount: budget.amount, currency: budget.currency }),
          })}
        </Small>
      )}
      {problem !== null && (
        <Help bad>{t(problem === 'over' ? 'studio.overBudget' : 'studio.unknownPrice')}</Help>
      )}
    </div>
  );
}

/** What a form is expected to cost, and what the caller's budget says to it. */
type Estimated = ReturnType<typeof useEstimate>;

const REST_MS = 400;

/** Asks for the price of a form as it is filled in. */
export function useEstimate(choice: Choice, values: Values, count: number) {
  const tasks = tasksFor(choice, count);
  const input = useDebounced(JSON.stringify(toPricedWork(choice, values, tasks === 1 ? count : 1)), REST_MS);
  const { data, previousData } = useQuery(EstimateDocument, {
    variables: { input: JSON.parse(input) as ReturnType<typeof toPricedWork> },
  });
  const isSignedIn = useIsSignedIn();
  const { data: own } = useQuery(MyBudgetsDocument, { skip: !isSignedIn, fetchPolicy: 'cache-and-network' });
  const budget = tightest(own?.myBudgets ?? []);
  const cost = (data ?? previousData)?.estimateCost;
  const total = cost === undefined ? undefined : cost.amount === null ? null : cost.amount * tasks;
  const currency = cost?.currency ?? null;
  const isFree = choice.model.sandbox;
  return {
    /** All of it; null: unknown. Undefined until it is known. */
    total,
    currency,
    budget,
    /** Why the budget refuses it; null when it does not. */
    problem: isFree || budget === undefined ? null : budgetProblem(budget, { total, currency }),
  };
}

/** What of a form decides its price. */
function toPricedWork(choice: Choice, values: Values, count: number) {
  const { kind, model } = choice;
  const text = toText(values['text']) || toText(values['prompt']);
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

/** What a budget says to work before it is sent. */

/** A budget of the caller. */
export type Budget = MyBudgetsQuery['myBudgets'][number];

/** The budget with the least left; those without an amount bound no money. */
export function tightest(budgets: readonly Budget[]): Budget | undefined {
  return budgets
    .filter(({ left }) => left !== null)
    .toSorted((one, other) => (one.left ?? 0) - (other.left ?? 0))[0];
}

interface Price {
  readonly total: number | null | undefined;
  readonly currency: string | null;
}

/** Why a budget refuses work of this price: `over` what is left, or `unknown` where it takes known prices alone; null: it does not. */
export function budgetProblem(
  { left, currency, refusesUnknownPrices }: Budget,
  { total, currency: of }: Price,
): 'over' | 'unknown' | null {
  if (total === undefined || left === null) return null;
  if (total === null || of !== currency) return refusesUnknownPrices ? 'unknown' : null;
  return total > left || left <= 0 ? 'over' : null;
}
