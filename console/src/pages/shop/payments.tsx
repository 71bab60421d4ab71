import { useQuery } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { type PaymentPartsFragment, PaymentsDocument, type PaymentStatus } from '../../api/operations.ts';
import { useCaller } from '../../api/use-caller.ts';
import { minorMoneyText } from '../../parts/money.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { Refund } from './refund.tsx';

const STATUSES: readonly PaymentStatus[] = ['PENDING', 'COMPLETED', 'REFUNDED', 'FAILED', 'CANCELLED'];
const PAGE = 25;

/** What was paid, by state, with the sums of all of it; administrators give it back, wholly or in part. */
export function Payments() {
  const mayRefund = useCaller()?.mayAdministrate === true;
  const [status, setStatus] = useState<PaymentStatus | null>(null);
  const [refunding, setRefunding] = useState<PaymentPartsFragment | null>(null);
  const { data, error, loading, fetchMore } = useQuery(PaymentsDocument, {
    variables: { first: PAGE, filter: status === null ? null : { statuses: [status] } },
    fetchPolicy: 'cache-and-network',
  });
  const edges = data?.payments.edges ?? [];
  const { hasNextPage = false, endCursor = null } = data?.payments.pageInfo ?? {};
  const more = () =>
    void fetchMore({
      variables: { after: endCursor },
      updateQuery: (before, { fetchMoreResult: { payments } }) => ({
        payments: { ...payments, edges: [...before.payments.edges, ...payments.edges] },
      }),
    }).catch(() => undefined);
  return (
    <section className="card">
      <header className="row wrap">
        <h2>{t('shop.payments')}</h2>
        <span className="c12 faint num">{data?.payments.totalCount}</span>
        <div className="bars push" role="group" aria-label={t('shop.paymentState')}>
          {[null, ...STATUSES].map((one) => (
            <button
              key={one ?? 'all'}
              type="button"
              className="chip"
              aria-pressed={one === status}
              onClick={() => setStatus(one)}
            >
              {one === null ? t('shop.allPayments') : t(`payment.${one}`)}
            </button>
          ))}
        </div>
      </header>
      {error !== undefined && <Problem error={error} />}
      <Sums sums={data?.payments.sums ?? []} />
      {!loading && error === undefined && edges.length === 0 && <Empty title={t('shop.noPayments')} />}
      {edges.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('shop.payments')}>
          <table>
            <tbody>
              {edges.map(({ node }) => (
                <PaymentRow
                  key={node.id}
                  payment={node}
                  onRefund={mayRefund && isRefundable(node) ? () => setRefunding(node) : null}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <div className="pad">
          <button type="button" className="btn" disabled={loading} onClick={more}>
            {t('list.more')}
          </button>
        </div>
      )}
      {refunding !== null && <Refund payment={refunding} onClose={() => setRefunding(null)} />}
    </section>
  );
}

interface SumsProps {
  readonly sums: readonly {
    readonly currency: string;
    readonly status: PaymentStatus;
    readonly count: number;
    readonly amount: number;
  }[];
}

function Sums({ sums }: SumsProps) {
  if (sums.length === 0) return null;
  return (
    <ul className="pad row wrap gap-4">
      {sums.map(({ currency, status, count, amount }) => (
        <li key={`${currency} ${status}`} className="c12 mute">
          {t(`payment.${status}`)}: {t('shop.sum', { count, amount: minorMoneyText(amount, currency) })}
        </li>
      ))}
    </ul>
  );
}

function PaymentRow({
  payment,
  onRefund,
}: {
  readonly payment: PaymentPartsFragment;
  readonly onRefund: (() => void) | null;
}) {
  const { template, status, amount, amountRefunded, currency, createdAt, taskId, disputed } = payment;
  return (
    <tr>
      <td>
        {taskId === null ? (
          <span className="med">{template.name}</span>
        ) : (
          <Link className="med" to="/tasks/$id" params={{ id: taskId }}>
            {template.name}
          </Link>
        )}
      </td>
      <td>
        {t(`payment.${status}`)} {disputed && <span className="tag">{t('shop.disputed')}</span>}
      </td>
      <td className="num">
        {minorMoneyText(amount, currency)}
        {amountRefunded > 0 && (
          <span className="c12 mute block">
            {t('shop.refunded', { amount: minorMoneyText(amountRefunded, currency) })}
          </span>
        )}
      </td>
      <td className="num">
        <Ago at={createdAt} />
      </td>
      <td className="num">
        {onRefund !== null && (
          <button type="button" className="btn sm" onClick={onRefund}>
            {t('shop.refund')}
          </button>
        )}
      </td>
    </tr>
  );
}

function isRefundable({ status, amount, amountRefunded }: PaymentPartsFragment): boolean {
  return status === 'COMPLETED' && amountRefunded < amount;
}
