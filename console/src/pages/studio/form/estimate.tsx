import { useQuery } from '@apollo/client/react';

import { useIsSignedIn } from '../../../api/credential.ts';
import { EstimateDocument, MyBudgetsDocument, type TaskKind } from '../../../api/operations.ts';
import { useDebounced } from '../../../parts/controls/use-debounced.ts';
import { moneyText } from '../../../parts/money.ts';
import { t } from '../../../text/text.ts';
import { type Choice, tasksFor, textOf, type Values } from '../../../work/work.ts';

interface EstimateProps {
  readonly choice: Choice;
  readonly values: Values;
  readonly count: number;
}

const REST_MS = 400;

/** What the button will cost, what that is made of, and what is left of the budget. */
export function Estimate({ choice, values, count }: EstimateProps) {
  if (choice.model.sandbox) return <p className="c12 mute">{t('sandbox.meaning')}</p>;
  return <Price choice={choice} values={values} count={count} />;
}

function Price({ choice, values, count }: EstimateProps) {
  const tasks = tasksFor(choice, count);
  const input = useDebounced(JSON.stringify(workOf(choice, values, tasks === 1 ? count : 1)), REST_MS);
  const { data, previousData } = useQuery(EstimateDocument, {
    variables: { input: JSON.parse(input) as ReturnType<typeof workOf> },
  });
  const budget = useTightestBudget();
  const cost = (data ?? previousData)?.estimateCost;
  const total = cost === undefined || cost.amount === null ? null : cost.amount * tasks;
  const each = total === null ? null : total / count;
  const currency = cost?.currency ?? null;
  const isOver =
    total !== null && typeof budget?.left === 'number' && budget.currency === currency && total > budget.left;
  return (
    <div className="col gap-1" role="status">
      <p className="sum">
        <b>{cost === undefined ? ' ' : moneyText({ amount: total, currency })}</b>
        {total !== null && <span className="c12 mute">{t('studio.estimate')}</span>}
        {count > 1 && each !== null && (
          <span className="c12 mute push num">
            {t('studio.priceOf', { count, price: moneyText({ amount: each, currency }) })}
          </span>
        )}
      </p>
      {budget !== undefined && (
        <p className="c12 mute">
          {t('studio.left', {
            left: moneyText({ amount: budget.left, currency: budget.currency }),
            amount: moneyText({ amount: budget.amount, currency: budget.currency }),
          })}
        </p>
      )}
      {isOver && <p className="help bad">{t('studio.overBudget')}</p>}
    </div>
  );
}

/** The caller's budget with the least left. */
function useTightestBudget() {
  const isSignedIn = useIsSignedIn();
  const { data } = useQuery(MyBudgetsDocument, { skip: !isSignedIn });
  return (data?.myBudgets ?? [])
    .filter(({ left }) => left !== null)
    .toSorted((one, other) => (one.left ?? 0) - (other.left ?? 0))[0];
}

/** What of a form decides its price. */
function workOf({ kind, model }: Choice, values: Values, count: number) {
  const text = textOf(values['text']) || textOf(values['prompt']);
  const { resolution, duration } = values;
  return {
    kind: kind satisfies TaskKind,
    generator: model.generator,
    model: model.model,
    ...(text === '' ? {} : { text }),
    ...(model.inputs.includes('count') ? { count } : {}),
    ...(typeof resolution === 'string' ? { resolution } : {}),
    ...(typeof duration === 'number' ? { duration } : {}),
  };
}
