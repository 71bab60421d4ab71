import { useQuery } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';

import { ShopHistoryDocument, type ShopHistoryQuery } from '../../api/operations.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { Payments } from './payments.tsx';

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
      <Payments />
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
