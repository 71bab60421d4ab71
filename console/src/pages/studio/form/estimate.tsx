import { Help } from '../../../parts/controls/inputs.tsx';
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
      <p className="text-muted text-12 font-normal" role="status">
        {t('sandbox.meaning')}
        {typeof total === 'number' && total > 0 && (
          <> · {t('studio.wouldCost', { price: moneyText({ amount: total, currency }) })}</>
        )}
      </p>
    );
  }
  return (
    <div className="gap-1 flex flex-col min-w-0" role="status">
      <p className="flex items-baseline gap-2">
        <b className="text-16 font-semibold tabular-nums">
          {total === undefined ? ' ' : moneyText({ amount: total, currency })}
        </b>
        {typeof total === 'number' && (
          <span className="text-muted text-12 font-normal">{t('studio.estimate')}</span>
        )}
        {count > 1 && typeof total === 'number' && (
          <span className="text-right whitespace-nowrap text-muted text-12 font-normal ml-auto tabular-nums">
            {t('studio.priceOf', { count, price: moneyText({ amount: total / count, currency }) })}
          </span>
        )}
      </p>
      {budget !== undefined && (
        <p className="text-muted text-12 font-normal">
          {t('studio.left', {
            left: moneyText({ amount: budget.left, currency: budget.currency }),
            amount: moneyText({ amount: budget.amount, currency: budget.currency }),
          })}
        </p>
      )}
      {problem !== null && (
        <Help bad>{t(problem === 'over' ? 'studio.overBudget' : 'studio.unknownPrice')}</Help>
      )}
    </div>
  );
}
