import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

import { useCaller } from '../../api/caller.ts';
import type { PaymentPartsFragment, PaymentsQuery } from '../../api/documents/operations.ts';
import { PaymentsDocument } from '../../api/documents/shop.ts';
import { usePages, formatTotal } from '../../api/use-pages.ts';
import { buyerText, listedFor } from '../../library/order.ts';
import { Button } from '../../parts/looks/button.tsx';
import { Figures, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, figureLook, Tag } from '../../parts/looks/panels.tsx';
import { ActionsHead, FiguresCell, FiguresHead } from '../../parts/looks/table.tsx';
import { minorMoneyText } from '../../parts/money.ts';
import { PagedTable } from '../../parts/paged-table.tsx';
import { Empty } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { toFilter, PaymentFilters, STATUSES } from './payment-filters.tsx';
import { isRefundable, Refund } from './refund.tsx';

const PAGE = 25;

/** What was paid, by state, template, days and buyer, with the sums of all of it; administrators give it back. */
export function Payments() {
  const caller = useCaller();
  const search = useSearch({ from: '/shop' });
  const [refunding, setRefunding] = useState<PaymentPartsFragment | null>(null);
  const filter = toFilter(search);
  const isNarrowed = search.user !== undefined || Object.keys(filter).length > 0;
  const pages = usePages(PaymentsDocument, 'payments', {
    variables: { first: PAGE, userId: search.user ?? listedFor(caller), filter },
    skip: caller === undefined,
  });
  const mayRefund = caller?.mayAdministrate === true;
  return (
    <Card>
      <CardHead title={t('shop.payments')}>
        <Figures tone="faint" small>
          {pages.list && formatTotal(pages.list.totalCount)}
        </Figures>
      </CardHead>
      <PaymentFilters />
      <Sums sums={pages.list?.sums ?? []} />
      <PagedTable
        label={t('shop.payments')}
        pages={pages}
        empty={
          isNarrowed ? (
            <Empty title={t('gallery.noMatch')} />
          ) : (
            <Empty title={t('shop.noPayments')} text={t('shop.noPaymentsText')} />
          )
        }
        heads={
          <>
            <th>{t('shop.template')}</th>
            <th className="max-sm:hidden">{t('shop.buyer')}</th>
            <th>{t('task.state')}</th>
            <FiguresHead>{t('shop.amount')}</FiguresHead>
            <FiguresHead>{t('task.created')}</FiguresHead>
            <ActionsHead />
          </>
        }
      >
        {pages.edges.map(({ node }) => (
          <PaymentRow
            key={node.id}
            payment={node}
            onRefund={mayRefund && isRefundable(node) ? () => setRefunding(node) : null}
          />
        ))}
      </PagedTable>
      {refunding !== null && <Refund payment={refunding} onClose={() => setRefunding(null)} />}
    </Card>
  );
}

/** The amounts of all pages together, by state and currency. */
function Sums({ sums }: Pick<PaymentsQuery['payments'], 'sums'>) {
  if (sums.length === 0) return null;
  return (
    <dl
      data-shop-sums
      className="grid max-sm:grid-cols-2 grid-cols-[repeat(auto-fit,minmax(150px,1fr))] [border-block:1px_solid_var(--line)]"
      aria-label={t('shop.sums')}
    >
      {sums.toSorted(byStatus).map(({ currency, status, count, amount, amountRefunded }) => (
        <div key={`${currency} ${status}`} className={figureLook}>
          <dt className="text-muted text-12 font-normal">
            {t(`payment.${status}`)} · {count}
          </dt>
          <dd>
            <b className="text-20 font-semibold tracking-[-0.02em] tabular-nums">
              {minorMoneyText(amount, currency)}
            </b>
            {amountRefunded > 0 && (
              <Small className="block">
                {t('shop.refunded', { amount: minorMoneyText(amountRefunded, currency) })}
              </Small>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

type Sum = PaymentsQuery['payments']['sums'][number];

function byStatus(one: Sum, other: Sum): number {
  return STATUSES.indexOf(one.status) - STATUSES.indexOf(other.status);
}

interface PaymentRowProps {
  readonly payment: PaymentPartsFragment;
  readonly onRefund: (() => void) | null;
}

function PaymentRow({ payment, onRefund }: PaymentRowProps) {
  const { id, template, status, amount, amountRefunded, currency, createdAt, taskId, disputed } = payment;
  return (
    <tr>
      <td>
        {taskId === null ? (
          <span className="font-medium">{template.name}</span>
        ) : (
          <Link className="font-medium" to="/shop/executions/$taskId" params={{ taskId }}>
            {template.name}
          </Link>
        )}
      </td>
      <td className="max-sm:hidden max-w-45 truncate">
        <Buyer payment={payment} />
      </td>
      <td className="whitespace-nowrap">
        {t(`payment.${status}`)} {disputed && <Tag>{t('shop.disputed')}</Tag>}
      </td>
      <FiguresCell>
        {minorMoneyText(amount, currency)}
        {amountRefunded > 0 && (
          <Small className="block">
            {t('shop.refunded', { amount: minorMoneyText(amountRefunded, currency) })}
          </Small>
        )}
      </FiguresCell>
      <FiguresCell>
        <Link
          className="link"
          to="/shop/payments/$id"
          params={{ id }}
          title={t('shop.paymentOf', { name: template.name })}
        >
          <Ago at={createdAt} />
        </Link>
      </FiguresCell>
      <FiguresCell>
        {onRefund !== null && (
          <Button size="small" onClick={onRefund}>
            {t('shop.refund')}
          </Button>
        )}
      </FiguresCell>
    </tr>
  );
}

/** For whom it was bought; a click shows only what was bought for them. */
export function Buyer({ payment: { userId, user } }: { readonly payment: PaymentPartsFragment }) {
  return (
    <Link
      className="link"
      to="/shop"
      search={(before) => ({ ...before, view: 'payments' as const, user: userId })}
      title={userId}
    >
      {buyerText({ userId, user })}
    </Link>
  );
}
