import { useState } from 'react';

import type { ExecutionPageQuery } from '../../../api/documents/operations.ts';
import { useCaller } from '../../../api/use-caller.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
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
    <section className="card">
      <header>
        <h2>{t('shop.payment')}</h2>
        {mayRefund && (
          <button type="button" className="btn sm ml-auto" onClick={() => setRefunding(true)}>
            {t('shop.refund')}
          </button>
        )}
      </header>
      <dl className="kv pad">
        <dt>{t('task.state')}</dt>
        <dd>
          {t(`payment.${status}`)} {disputed && <span className="tag">{t('shop.disputed')}</span>}
        </dd>
        <dt>{t('shop.amount')}</dt>
        <dd className="text-right whitespace-nowrap tabular-nums">{minorMoneyText(amount, currency)}</dd>
        <Margin payment={payment} />
        <dt>{t('shop.buyer')}</dt>
        <dd>
          <Buyer payment={payment} />
        </dd>
        <dt>{t('task.created')}</dt>
        <dd>{exactTime(createdAt)}</dd>
        <dt>{t('task.id')}</dt>
        <dd>
          <span className="id-row flex justify-end items-center gap-1 min-w-0">
            <span className="truncate font-mono [font-size:12px] min-w-0" title={id}>
              {id}
            </span>
            <CopyButton text={id} />
          </span>
        </dd>
      </dl>
      {refunds.length > 0 && (
        <ul className="shop-refunds" aria-label={t('shop.refunds')}>
          {refunds.map((refund) => (
            <li key={refund.id} className="flex items-center gap-2 min-w-0">
              <span className="gap-0 flex flex-col flex-1 min-w-0">
                <span className="font-medium">
                  {t('shop.refunded', { amount: minorMoneyText(refund.amount, currency) })}
                </span>
                <span className="text-muted text-12 font-normal">
                  {refund.reason !== null && `${t(`shop.reason.${refund.reason}`)} · `}
                  {textOr(`refund.${refund.status}`, refund.status)}
                </span>
              </span>
              <span className="text-right whitespace-nowrap text-muted text-12 font-normal tabular-nums">
                <Ago at={refund.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {isRefunding && <Refund payment={payment} onClose={() => setRefunding(false)} />}
    </section>
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
