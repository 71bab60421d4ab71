import { useState } from 'react';

import { useCaller } from '../../../api/caller.ts';
import type { ExecutionPageQuery } from '../../../api/documents/operations.ts';
import { CopyButton } from '../../../parts/buttons.tsx';
import { FactName, FactList, FactValue } from '../../../parts/facts.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Figures, Small } from '../../../parts/looks/lines.tsx';
import { Card, CardHead, Tag } from '../../../parts/looks/panels.tsx';
import { minorMoneyText } from '../../../parts/money.ts';
import { Ago, exactTime } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import { Buyer } from '../payments.tsx';
import { isRefundable, Refund } from '../refund.tsx';

type Payment = NonNullable<NonNullable<ExecutionPageQuery['execution']>['payment']>;

/** What was paid for an execution, what of it was given back and why, and, for administrators, what it leaves. */
export function PaymentCard({ payment }: { readonly payment: Payment }) {
  const mayRefund = useCaller()?.mayAdministrate === true && isRefundable(payment);
  const [isRefunding, setRefunding] = useState(false);
  const { id, status, amount, currency, createdAt, disputed, refunds } = payment;
  return (
    <Card>
      <CardHead title={t('shop.payment')}>
        {mayRefund && (
          <Button size="small" className="ml-auto" onClick={() => setRefunding(true)}>
            {t('shop.refund')}
          </Button>
        )}
      </CardHead>
      <FactList className="p-4">
        <FactName>{t('task.state')}</FactName>
        <FactValue>
          {t(`payment.${status}`)} {disputed && <Tag>{t('shop.disputed')}</Tag>}
        </FactValue>
        <FactName>{t('shop.amount')}</FactName>
        <FactValue className="text-right whitespace-nowrap tabular-nums">
          {minorMoneyText(amount, currency)}
        </FactValue>
        <Margin payment={payment} />
        <FactName>{t('shop.buyer')}</FactName>
        <FactValue>
          <Buyer payment={payment} />
        </FactValue>
        <FactName>{t('task.created')}</FactName>
        <FactValue>{exactTime(createdAt)}</FactValue>
        <FactName>{t('task.id')}</FactName>
        <FactValue>
          <span data-id-row className="flex justify-end items-center gap-1 min-w-0">
            <span className="truncate font-mono [font-size:12px] min-w-0" title={id}>
              {id}
            </span>
            <CopyButton text={id} />
          </span>
        </FactValue>
      </FactList>
      {refunds.length > 0 && (
        <ul aria-label={t('shop.refunds')}>
          {refunds.map((refund) => (
            <li key={refund.id} className="border-t border-line px-4 py-2 flex items-center gap-2 min-w-0">
              <span className="gap-0 flex flex-col flex-1 min-w-0">
                <span className="font-medium">
                  {t('shop.refunded', { amount: minorMoneyText(refund.amount, currency) })}
                </span>
                <Small>
                  {refund.reason !== null && `${t(`shop.reason.${refund.reason}`)} · `}
                  {textOr(`refund.${refund.status}`, refund.status)}
                </Small>
              </span>
              <Figures tone="muted" small>
                <Ago at={refund.createdAt} />
              </Figures>
            </li>
          ))}
        </ul>
      )}
      {isRefunding && <Refund payment={payment} onClose={() => setRefunding(false)} />}
    </Card>
  );
}

/** What the sale leaves; the API tells administrators alone. */
function Margin({ payment: { margin, currency } }: { readonly payment: Payment }) {
  if (margin === null) return null;
  return (
    <>
      <dt>{t('shop.cost')}</dt>
      <dd className="text-right whitespace-nowrap tabular-nums">
        {margin.cost === null ? t('shop.unknown') : minorMoneyText(margin.cost, currency)}
      </dd>
      {margin.margin !== null && (
        <>
          <dt>{t('shop.margin')}</dt>
          <dd className="text-right whitespace-nowrap tabular-nums">
            {margin.estimated && '≈ '}
            {minorMoneyText(margin.margin, currency)}
          </dd>
        </>
      )}
    </>
  );
}
