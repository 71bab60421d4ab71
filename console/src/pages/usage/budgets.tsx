import { useQuery } from '@apollo/client/react';
import { useState } from 'react';

import type { BudgetPartsFragment } from '../../api/documents/operations.ts';
import { BudgetsDocument, OwnBudgetsDocument } from '../../api/documents/usage.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead } from '../../parts/looks/panels.tsx';
import { moneyText } from '../../parts/money.ts';
import { Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { Who } from '../../parts/who.tsx';
import { t } from '../../text/text.ts';
import { BudgetForm } from './budget-form.tsx';

/** The budgets that bound the caller's work, all of them for administrators, with how far they are used. */
export function Budgets({ seesAll }: { readonly seesAll: boolean }) {
  const all = useQuery(BudgetsDocument, { skip: !seesAll, fetchPolicy: 'cache-and-network' });
  const own = useQuery(OwnBudgetsDocument, { skip: seesAll, fetchPolicy: 'cache-and-network' });
  const budgets = all.data?.budgets ?? own.data?.myBudgets;
  const error = all.error ?? own.error;
  const [form, setForm] = useState<BudgetPartsFragment | 'new' | null>(null);
  return (
    <Card>
      <CardHead title={t('usage.budgets')}>
        {seesAll && (
          <Button size="small" className="ml-auto" onClick={() => setForm('new')}>
            {t('budget.new')}
          </Button>
        )}
      </CardHead>
      {error !== undefined && <Problem error={error} />}
      {budgets?.length === 0 && <p className="p-4 text-muted">{t('usage.noBudgets')}</p>}
      {budgets?.map((budget) => (
        <BudgetLine key={budget.id} budget={budget} onChange={seesAll ? () => setForm(budget) : null} />
      ))}
      {form !== null && <BudgetForm budget={form === 'new' ? null : form} onClose={() => setForm(null)} />}
    </Card>
  );
}

interface BudgetLineProps {
  readonly budget: BudgetPartsFragment;
  /** Null for those who may not change it. */
  readonly onChange: (() => void) | null;
}

function BudgetLine({ budget, onChange }: BudgetLineProps) {
  const { name, scope, subject, amount, currency, reserved, renewsAt, maxRunning, startsPerMinute } = budget;
  const money = (value: number | null) => moneyText({ amount: value, currency });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 gap-y-1.5 border-t border-line px-4 py-3 first-of-type:border-t-0">
      <span className="truncate font-medium min-w-0" title={subject ?? undefined}>
        {onChange === null ? (
          name
        ) : (
          <button type="button" className="link" aria-label={t('budget.change', { name })} onClick={onChange}>
            {name}
          </button>
        )}
        {subject !== null && (scope === 'USER' || scope === 'KEY') && (
          <Small className="block truncate min-w-0">
            <Who id={subject} />
          </Small>
        )}
      </span>
      {amount !== null && (
        <>
          <Figures>{t('usage.of', { spent: money(budget.spent), amount: money(amount) })}</Figures>
          <Bar budget={budget} amount={amount} />
        </>
      )}
      <Small>
        {t('usage.renews', { when: '' })}
        <Ago at={renewsAt} />
        {reserved > 0 && ` · ${t('usage.reserved', { amount: money(reserved) })}`}
      </Small>
      <Figures tone="muted" small>
        {maxRunning !== null && t('usage.running', { count: budget.running, most: maxRunning })}
        {startsPerMinute !== null && ` ${t('usage.rate', { count: startsPerMinute })}`}
      </Figures>
      <Warning budget={budget} money={money} />
    </div>
  );
}

function Bar({ budget, amount }: { readonly budget: BudgetPartsFragment; readonly amount: number }) {
  const share = (value: number) => `${amount === 0 ? 100 : Math.min(100, (value / amount) * 100)}%`;
  const fill = isUsedUp(budget) ? 'bg-failed-fill' : isPastSoft(budget) ? 'bg-attention-fill' : 'bg-muted';
  return (
    <div
      className="relative col-span-full h-1.5 rounded-[2px] bg-active"
      role="progressbar"
      aria-label={budget.name}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={amount === 0 ? 100 : Math.min(100, Math.round((budget.spent / amount) * 100))}
    >
      <i
        className={`block h-1.5 rounded-[3px] transition-[width] duration-(--slow) ease-linear ${fill}`}
        style={{ width: share(budget.spent) }}
      />
      {budget.softAmount !== null && (
        <s className="absolute -top-[3px] h-3 w-0.5 bg-muted" style={{ left: share(budget.softAmount) }} />
      )}
    </div>
  );
}

function Warning({
  budget,
  money,
}: {
  readonly budget: BudgetPartsFragment;
  readonly money: (value: number | null) => string;
}) {
  if (!isUsedUp(budget) && !isPastSoft(budget)) return null;
  return (
    <Row as="span" className="text-12 font-normal col-span-full text-attention">
      <Icon name="warning" size={12} />
      {isUsedUp(budget) ? t('usage.stopped') : t('usage.past', { amount: money(budget.softAmount) })}
    </Row>
  );
}

function isUsedUp({ left }: BudgetPartsFragment): boolean {
  return left !== null && left <= 0;
}

function isPastSoft({ softAmount, spent, reserved }: BudgetPartsFragment): boolean {
  return softAmount !== null && spent + reserved >= softAmount;
}
