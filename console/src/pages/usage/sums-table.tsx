import { Who } from '../../parts/access/who.tsx';
import { moneyFormat } from '../../parts/money.ts';
import { language, t } from '../../text/text.ts';
import type { Group, Sum } from './sums.ts';

/** The sums as a table, in the order of the chart. */
export function SumsTable({
  sums,
  total,
  group,
  weigh,
}: {
  readonly sums: readonly Sum[];
  readonly total: Sum;
  readonly group: Group;
  /** What the table is sorted by, and shares are of. */
  readonly weigh: (sum: Sum) => number;
}) {
  const whole = weigh(total) || 1;
  const money = moneyFormat(sums.map(({ cost }) => cost.amount));
  return (
    <section className="card">
      <header>
        <h2>{t('usage.table')}</h2>
        <span className="c12 mute">{t(`usage.${group}`)}</span>
      </header>
      <div className="scroll" tabIndex={0} role="region" aria-label={t('usage.table')}>
        <table>
          <thead>
            <tr>
              <th>{t('usage.name')}</th>
              <th className="num">{t('usage.done')}</th>
              <th className="num p-hide">{t('usage.share')}</th>
              <th className="num p-hide">{t('usage.imageCount')}</th>
              <th className="num p-hide">{t('usage.secondCount')}</th>
              <th className="num">{t('task.cost')}</th>
            </tr>
          </thead>
          <tbody>
            {sums.map((sum) => (
              <tr key={sum.name ?? ''}>
                <td className="med wrap-anywhere">
                  {sum.name !== null && (group === 'OWNER' || group === 'KEY') ? (
                    <Who id={sum.name} />
                  ) : (
                    sum.name
                  )}
                  {sum.name === null && <span className="mute">{t('usage.nothing')}</span>}
                </td>
                <td className="num">{sum.done.toLocaleString(language)}</td>
                <td className="num p-hide">{Math.round((weigh(sum) / whole) * 100)} %</td>
                <td className="num p-hide">{sum.pictures.toLocaleString(language)}</td>
                <td className="num p-hide">{sum.seconds.toFixed(1)}</td>
                <td className="num">
                  {money(sum.cost)}
                  {(sum.wouldCost.amount ?? 0) > 0 && (
                    <span className="block c12 mute">
                      {t('usage.wouldCost', { amount: money(sum.wouldCost) })}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
          {sums.length > 1 && (
            <tfoot>
              <tr>
                <th scope="row">{t('usage.total')}</th>
                <td className="num">{total.done.toLocaleString(language)}</td>
                <td className="num p-hide">100 %</td>
                <td className="num p-hide">{total.pictures.toLocaleString(language)}</td>
                <td className="num p-hide">{total.seconds.toFixed(1)}</td>
                <td className="num">{money(total.cost)}</td>
              </tr>
            </tfoot>
          )}
        </table>
      </div>
    </section>
  );
}
