import { Who } from '../../parts/access/who.tsx';
import { moneyFormat } from '../../parts/money.ts';
import { Card, CardHead } from '../../parts/page/panels.tsx';
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
    <Card>
      <CardHead>
        <h2>{t('usage.table')}</h2>
        <span className="text-muted text-12 font-normal">{t(`usage.${group}`)}</span>
      </CardHead>
      <div className="relative overflow-x-auto" tabIndex={0} role="region" aria-label={t('usage.table')}>
        <table>
          <thead>
            <tr>
              <th>{t('usage.name')}</th>
              <th className="text-right whitespace-nowrap tabular-nums">{t('usage.done')}</th>
              <th className="max-sm:hidden text-right whitespace-nowrap tabular-nums">{t('usage.share')}</th>
              <th className="max-sm:hidden text-right whitespace-nowrap tabular-nums">
                {t('usage.imageCount')}
              </th>
              <th className="max-sm:hidden text-right whitespace-nowrap tabular-nums">
                {t('usage.secondCount')}
              </th>
              <th className="text-right whitespace-nowrap tabular-nums">{t('task.cost')}</th>
            </tr>
          </thead>
          <tbody>
            {sums.map((sum) => (
              <tr key={sum.name ?? ''}>
                <td className="wrap-anywhere font-medium">
                  {sum.name !== null && (group === 'OWNER' || group === 'KEY') ? (
                    <Who id={sum.name} />
                  ) : (
                    sum.name
                  )}
                  {sum.name === null && <span className="text-muted">{t('usage.nothing')}</span>}
                </td>
                <td className="text-right whitespace-nowrap tabular-nums">
                  {sum.done.toLocaleString(language)}
                </td>
                <td className="max-sm:hidden text-right whitespace-nowrap tabular-nums">
                  {Math.round((weigh(sum) / whole) * 100)} %
                </td>
                <td className="max-sm:hidden text-right whitespace-nowrap tabular-nums">
                  {sum.pictures.toLocaleString(language)}
                </td>
                <td className="max-sm:hidden text-right whitespace-nowrap tabular-nums">
                  {sum.seconds.toFixed(1)}
                </td>
                <td className="text-right whitespace-nowrap tabular-nums">
                  {money(sum.cost)}
                  {(sum.wouldCost.amount ?? 0) > 0 && (
                    <span className="block text-muted text-12 font-normal">
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
                <td className="text-right whitespace-nowrap tabular-nums">
                  {total.done.toLocaleString(language)}
                </td>
                <td className="max-sm:hidden text-right whitespace-nowrap tabular-nums">100 %</td>
                <td className="max-sm:hidden text-right whitespace-nowrap tabular-nums">
                  {total.pictures.toLocaleString(language)}
                </td>
                <td className="max-sm:hidden text-right whitespace-nowrap tabular-nums">
                  {total.seconds.toFixed(1)}
                </td>
                <td className="text-right whitespace-nowrap tabular-nums">{money(total.cost)}</td>
              </tr>
            </tfoot>
          )}
        </table>
      </div>
    </Card>
  );
}
