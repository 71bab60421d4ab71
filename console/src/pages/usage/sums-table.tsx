import { Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead } from '../../parts/looks/panels.tsx';
import { FiguresCell, FiguresHead, TableFrame } from '../../parts/looks/table.tsx';
import { moneyFormat } from '../../parts/money.ts';
import { Who } from '../../parts/who.tsx';
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
      <CardHead title={t('usage.table')}>
        <Small>{t(`usage.${group}`)}</Small>
      </CardHead>
      <TableFrame label={t('usage.table')}>
        <table>
          <thead>
            <tr>
              <th>{t('usage.name')}</th>
              <FiguresHead>{t('usage.done')}</FiguresHead>
              <FiguresHead wide>{t('usage.share')}</FiguresHead>
              <FiguresHead wide>{t('usage.imageCount')}</FiguresHead>
              <FiguresHead wide>{t('usage.secondCount')}</FiguresHead>
              <FiguresHead>{t('task.cost')}</FiguresHead>
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
                <FiguresCell>{sum.done.toLocaleString(language)}</FiguresCell>
                <FiguresCell wide>{Math.round((weigh(sum) / whole) * 100)} %</FiguresCell>
                <FiguresCell wide>{sum.pictures.toLocaleString(language)}</FiguresCell>
                <FiguresCell wide>{sum.seconds.toFixed(1)}</FiguresCell>
                <FiguresCell>
                  {money(sum.cost)}
                  {(sum.wouldCost.amount ?? 0) > 0 && (
                    <Small className="block">{t('usage.wouldCost', { amount: money(sum.wouldCost) })}</Small>
                  )}
                </FiguresCell>
              </tr>
            ))}
          </tbody>
          {sums.length > 1 && (
            <tfoot>
              <tr>
                <th scope="row">{t('usage.total')}</th>
                <FiguresCell>{total.done.toLocaleString(language)}</FiguresCell>
                <FiguresCell wide>100 %</FiguresCell>
                <FiguresCell wide>{total.pictures.toLocaleString(language)}</FiguresCell>
                <FiguresCell wide>{total.seconds.toFixed(1)}</FiguresCell>
                <FiguresCell>{money(total.cost)}</FiguresCell>
              </tr>
            </tfoot>
          )}
        </table>
      </TableFrame>
    </Card>
  );
}
