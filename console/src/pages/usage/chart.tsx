import { Figures } from '../../parts/looks/lines.tsx';
import { legendLook } from '../../parts/looks/panels.tsx';
import { moneyText } from '../../parts/money.ts';
import { language, once, t } from '../../text/text.ts';
import { type Group, readName, type Row, type Sum, addRows } from './sums.ts';

interface ChartProps {
  readonly rows: readonly Row[];
  readonly days: readonly string[];
  readonly group: Group;
  /** The groups, largest first; those beyond the fifth are Other. */
  readonly sums: readonly Sum[];
  readonly weigh: (sum: Sum) => number;
  readonly isMoney: boolean;
}

const SERIES = 5;
/** Theirs, and last that of all others together. */
const COLOURS = ['bg-(--c1)', 'bg-(--c2)', 'bg-(--c3)', 'bg-(--c4)', 'bg-(--c5)', 'bg-faint'];
const LINES = 4;
const dayName = once(
  () => new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);

/** One bar per day, in the colours of the largest groups; each says its numbers on hover and to screen readers. */
export function Chart({ rows, days, group, sums, weigh, isMoney }: ChartProps) {
  const named = sums.slice(0, SERIES).map(({ name }) => name);
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const bars = days.map((day) => {
    const own = byDay.get(day) ?? [];
    const parts = [...Map.groupBy(own, (row) => series(named, readName(row, group)))]
      .map(([index, some]) => ({ index, weight: weigh(addRows(null, some)) }))
      .toSorted((one, other) => other.index - one.index);
    return { day, parts, total: parts.reduce((sum, { weight }) => sum + weight, 0) };
  });
  const top = roundUp(Math.max(...bars.map(({ total }) => total), 0));
  const currency = sums.find(({ cost }) => cost.currency !== null)?.cost.currency ?? null;
  const text = (value: number) =>
    isMoney ? moneyText({ amount: value, currency }) : value.toLocaleString(language);
  const steps = Array.from({ length: LINES }, (_, index) => (top / LINES) * (index + 1));
  const every = Math.ceil(days.length / 10);
  return (
    <div className="p-4">
      <div className="grid h-62 grid-cols-[64px_minmax(0,1fr)]">
        <div className="relative" aria-hidden="true">
          {steps.map((step) => (
            <span
              key={step}
              className="absolute right-2 translate-y-1/2 text-11 font-normal text-faint tabular-nums"
              style={{ bottom: `${(step / top) * 100}%` }}
            >
              {text(step)}
            </span>
          ))}
        </div>
        <div className="relative flex items-end gap-1 border-b border-b-line-strong max-sm:gap-0.5">
          {steps.map((step) => (
            <span
              key={step}
              className="absolute inset-x-0 h-px bg-line"
              style={{ bottom: `${(step / top) * 100}%` }}
            />
          ))}
          {bars.map(({ day, parts, total }) => (
            <div
              key={day}
              className="flex-1 max-w-10 min-w-1 my-0 mx-auto flex flex-col justify-end h-full relative gap-px"
              role="img"
              aria-label={`${dayName().format(new Date(day))}: ${text(total)}`}
              title={`${dayName().format(new Date(day))}: ${text(total)}`}
            >
              {parts.map(({ index, weight }) => (
                <i
                  key={index}
                  className={`block first:rounded-t-[2px] ${COLOURS[index]}`}
                  style={{ height: `${(weight / top) * 100}%` }}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      <div
        className="flex gap-1 pt-1.5 pr-0 pb-0 text-11 font-normal text-faint pl-16 max-sm:gap-0.5"
        aria-hidden="true"
      >
        {days.map((day, index) => (
          <span
            key={day}
            className={`min-w-0 flex-1 text-center whitespace-nowrap tabular-nums ${index % (3 * every) === 0 ? '' : 'max-sm:invisible'}`}
          >
            {index % every === 0 ? dayName().format(new Date(day)) : ''}
          </span>
        ))}
      </div>
      <ul className="flex items-center min-w-0 flex-wrap pt-3 gap-y-2 gap-x-4">
        {sums.slice(0, SERIES).map((sum, index) => (
          <li key={sum.name ?? ''} className={legendLook}>
            <span className={`w-2.5 h-2.5 rounded-[2px] flex-none ${COLOURS[index]}`} />
            {sum.name ?? t('usage.nothing')}{' '}
            <Figures tone="muted">{isMoney ? moneyText(sum.cost) : text(weigh(sum))}</Figures>
          </li>
        ))}
        {sums.length > SERIES && (
          <li className={legendLook}>
            <span className={`w-2.5 h-2.5 rounded-[2px] flex-none ${COLOURS[SERIES]}`} />
            {t('usage.other')}
          </li>
        )}
      </ul>
    </div>
  );
}

function series(named: readonly (string | null)[], name: string | null): number {
  const index = named.indexOf(name);
  return index === -1 ? SERIES : index;
}

/** The next round number, so that the lines of the chart have short names. */
function roundUp(value: number): number {
  if (value <= 0) return LINES;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 8, 10].find((one) => one * power >= value) ?? 10;
  return Math.max(step * power, value);
}
