import { Help } from '../../../parts/looks/inputs.tsx';
import { Figures, Small } from '../../../parts/looks/lines.tsx';
import { moneyText } from '../../../parts/money.ts';
import { t } from '../../../text/text.ts';
import type { Estimated } from './use-estimate.ts';

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
