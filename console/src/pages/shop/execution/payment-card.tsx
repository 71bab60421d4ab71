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
          <button type="button" className="btn sm push" onClick={() => setRefunding(true)}>
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
        <dd className="num">{minorMoneyText(amount, currency)}</dd>
        <Margin payment={payment} />
        <dt>{t('shop.buyer')}</dt>
        <dd>
          <Buyer payment={payment} />
        </dd>
        <dt>{t('task.created')}</dt>
        <dd>{exactTime(createdAt)}</dd>
        <dt>{t('task.id')}</dt>
        <dd>
          <span className="id-row">
            <span className="mono cut" title={id}>
              {id}
            </span>
            <CopyButton text={id} />
          </span>
        </dd>
      </dl>
      {refunds.length > 0 && (
        <ul className="shop-refunds" aria-label={t('shop.refunds')}>
          {refunds.map((refund) => (
            <li key={refund.id} className="row">
              <span className="grow col gap-0">
                <span className="med">
                  {t('shop.refunded', { amount: minorMoneyText(refund.amount, currency) })}
                </span>
                <span className="c12 mute">
                  {refund.reason !== null && `${t(`shop.reason.${refund.reason}`)} · `}
                  {textOr(`refund.${refund.status}`, refund.status)}
                </span>
              </span>
              <span className="c12 mute num">
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
      <dd className="num">
        {margin.cost === null ? t('shop.unknown') : minorMoneyText(margin.cost, currency)}
      </dd>
      {margin.margin !== null && (
        <>
          <dt>{t('shop.margin')}</dt>
          <dd className="num">
            {margin.estimated && '≈ '}
            {minorMoneyText(margin.margin, currency)}
          </dd>
        </>
      )}
    </>
  );
}
