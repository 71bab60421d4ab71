import { useId } from 'react';

import type { BudgetPeriod } from '../../api/operations.ts';
import { t } from '../../text/text.ts';

const BOUNDS = [
  { name: 'amount', step: 'any' },
  { name: 'softAmount', step: 'any' },
  { name: 'maxRunning', step: 1 },
  { name: 'startsPerMinute', step: 1 },
] as const;

/** What the form of a budget holds, as it is typed. */
export interface Texts {
  readonly name: string;
  readonly period: BudgetPeriod;
  readonly amount: string;
  readonly softAmount: string;
  readonly maxRunning: string;
  readonly startsPerMinute: string;
  readonly refusesUnknownPrices: boolean;
}

interface BudgetAmountsProps {
  readonly texts: Texts;
  readonly onChange: (texts: Texts) => void;
}

/** The name, the period and the bounds of a budget; what is left empty is not bounded. */
export function BudgetAmounts({ texts, onChange }: BudgetAmountsProps) {
  const id = useId();
  return (
    <>
      <div className="key-form">
        <div className="field">
          <label htmlFor={`${id}-name`}>{t('field.name')}</label>
          <input
            id={`${id}-name`}
            className="in"
            value={texts.name}
            onChange={({ target }) => onChange({ ...texts, name: target.value })}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-period`}>{t('budget.period')}</label>
          <select
            id={`${id}-period`}
            className="in"
            value={texts.period}
            onChange={({ target }) =>
              onChange({ ...texts, period: target.value === 'DAY' ? 'DAY' : 'MONTH' })
            }
          >
            <option value="MONTH">{t('budget.MONTH')}</option>
            <option value="DAY">{t('budget.DAY')}</option>
          </select>
        </div>
        {BOUNDS.map(({ name, step }) => (
          <div key={name} className="field">
            <label htmlFor={`${id}-${name}`}>{t(`budget.${name}`)}</label>
            <input
              id={`${id}-${name}`}
              className="in"
              type="number"
              min={0}
              step={step}
              placeholder={t('budget.unbounded')}
              value={texts[name]}
              onChange={({ target }) => onChange({ ...texts, [name]: target.value })}
            />
          </div>
        ))}
      </div>
      <label className="row">
        <input
          type="checkbox"
          className="check"
          checked={texts.refusesUnknownPrices}
          onChange={({ target }) => onChange({ ...texts, refusesUnknownPrices: target.checked })}
        />
        {t('budget.unknown')}
      </label>
    </>
  );
}
