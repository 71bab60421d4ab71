import { useQuery } from '@apollo/client/react';
import { Link, useParams } from '@tanstack/react-router';

import type { PaymentPageQuery } from '../../../api/documents/operations.ts';
import { PaymentPageDocument } from '../../../api/documents/shop.ts';
import { BackLink } from '../../../parts/buttons.tsx';
import { buttonLook } from '../../../parts/looks/button.tsx';
import { Figures } from '../../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop } from '../../../parts/looks/panels.tsx';
import { minorMoneyText } from '../../../parts/money.ts';
import { PageHeading } from '../../../parts/page/page-heading.tsx';
import { NotFound, Problem } from '../../../parts/problem.tsx';
import { exactTime } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import { PaymentCard } from '../execution/payment-card.tsx';
import { STATE_OF } from '../executions.tsx';

type Payment = NonNullable<PaymentPageQuery['payment']>;

/** One payment: who paid what for which run, what of it was given back, and what happened when. */
export function PaymentPage() {
  const { id } = useParams({ from: '/shop/payments/$id' });
  const { data, error } = useQuery(PaymentPageDocument, {
    variables: { id },
    fetchPolicy: 'cache-and-network',
  });
  if (error !== undefined && data === undefined) return <Problem error={error} />;
  if (data === undefined) return <Page aria-busy="true" />;
  const { payment } = data;
  if (payment === null) return <NotFound text={t('shop.paymentGone')} />;
  const { template, execution } = payment;
  return (
    <>
      <PageTop>
        <BackLink to="/shop" search={{ view: 'payments' }} label={t('shop.backToPayments')} />
        <PageHeading className="min-w-0 flex-[1_1_240px] truncate">
          {t('shop.paymentOf', { name: template.name })}
        </PageHeading>
        {execution !== null && (
          <Link
            className={`${buttonLook()} ml-auto`}
            to="/shop/executions/$taskId"
            params={{ taskId: execution.taskId }}
          >
            {t('shop.openExecution')}
          </Link>
        )}
      </PageTop>
      <Page>
        <div className="with-aside">
          <Events payment={payment} />
          <div>
            <PaymentCard payment={payment} />
          </div>
        </div>
      </Page>
    </>
  );
}

interface PaymentEvent {
  readonly at: string;
  readonly text: string;
}

/** What happened to a payment, oldest first. */
function listEvents({ createdAt, status, execution, refunds, currency }: Payment): readonly PaymentEvent[] {
  const isUnpaid = status === 'FAILED' || status === 'CANCELLED';
  const events: PaymentEvent[] = [{ at: createdAt, text: t('shop.event.opened') }];
  if (execution !== null && !isUnpaid) {
    events.push({ at: execution.createdAt, text: t('shop.event.paid') });
  }
  if (execution !== null && execution.endedAt !== null) {
    const state = t(`state.${STATE_OF[execution.status]}`);
    events.push({ at: execution.endedAt, text: t('shop.event.ended', { state }) });
  }
  for (const { amount, reason, status: word, createdAt: at } of refunds) {
    const why = reason === null ? '' : ` · ${t(`shop.reason.${reason}`)}`;
    const sum = t('shop.refunded', { amount: minorMoneyText(amount, currency) });
    events.push({ at, text: `${sum}${why} · ${textOr(`refund.${word}`, word)}` });
  }
  return events.toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

function Events({ payment }: { readonly payment: Payment }) {
  return (
    <Card>
      <CardHead title={t('shop.events')} />
      <ol>
        {listEvents(payment).map(({ at, text }) => (
          <li
            key={`${at} ${text}`}
            className="border-t border-line px-4 py-2 flex items-center gap-2 min-w-0"
          >
            <span className="flex-1 min-w-0">{text}</span>
            <Figures tone="muted" small>
              {exactTime(at)}
            </Figures>
          </li>
        ))}
      </ol>
    </Card>
  );
}
