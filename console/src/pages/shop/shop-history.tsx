import { useMutation, useQuery } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';

import {
  type PaymentPartsFragment,
  RefundPaymentDocument,
  ShopHistoryDocument,
  type ShopHistoryQuery,
} from '../../api/operations.ts';
import { useCaller } from '../../api/use-caller.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { language, t } from '../../text/text.ts';

const SHOWN = 50;

/** The newest executions and payments that the caller may see. */
export function ShopHistory() {
  const { data, error } = useQuery(ShopHistoryDocument, {
    variables: { first: SHOWN },
    fetchPolicy: 'cache-and-network',
  });
  if (error !== undefined) return <Problem error={error} />;
  if (data === undefined) return null;
  return (
    <>
      <Executions executions={data.executions} />
      <Payments payments={data.payments} />
    </>
  );
}

function Executions({ executions: { edges, totalCount } }: Pick<ShopHistoryQuery, 'executions'>) {
  return (
    <section className="card">
      <header>
        <h2>{t('shop.executions')}</h2>
        <span className="c12 faint num">{totalCount}</span>
      </header>
      {edges.length === 0 && <Empty title={t('shop.noExecutions')} />}
      {edges.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('shop.executions')}>
          <table>
            <tbody>
              {edges.map(({ node: { id, taskId, template, status, stage, progress, createdAt, error } }) => (
                <tr key={id}>
                  <td>
                    <Link className="med" to="/tasks/$id" params={{ id: taskId }}>
                      {template.name}
                    </Link>
                  </td>
                  <td>{t(`execution.${status}`)}</td>
                  <td className="c12 mute">{error === null ? stage : error.message}</td>
                  <td className="num">{progress} %</td>
                  <td className="num">
                    <Ago at={createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Payments({ payments: { edges, totalCount } }: Pick<ShopHistoryQuery, 'payments'>) {
  const mayRefund = useCaller()?.mayAdministrate === true;
  const [refund, { error, loading }] = useMutation(RefundPaymentDocument);
  const giveBack = (id: string) =>
    refund({ variables: { id, reason: 'USER_REQUEST', key: `console-${id}` } }).catch(() => undefined);
  return (
    <section className="card">
      <header>
        <h2>{t('shop.payments')}</h2>
        <span className="c12 faint num">{totalCount}</span>
      </header>
      {error !== undefined && <Problem error={error} />}
      {edges.length === 0 && <Empty title={t('shop.noPayments')} />}
      {edges.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('shop.payments')}>
          <table>
            <tbody>
              {edges.map(({ node }) => (
                <tr key={node.id}>
                  <td className="med">{node.template.name}</td>
                  <td>{t(`payment.${node.status}`)}</td>
                  <td className="num">{moneyText(node)}</td>
                  <td className="num">
                    <Ago at={node.createdAt} />
                  </td>
                  <td className="num">
                    {mayRefund && node.status === 'COMPLETED' && (
                      <button
                        type="button"
                        className="btn sm"
                        disabled={loading}
                        onClick={() => void giveBack(node.id)}
                      >
                        {t('shop.refund')}
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** An amount in minor units as money. */
function moneyText({ amount, currency }: PaymentPartsFragment): string {
  const format = new Intl.NumberFormat(language, { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(amount / 10 ** digits);
}
