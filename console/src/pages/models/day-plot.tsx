import type { Bar } from './by-provider.ts';
import { tp } from './texts.ts';

/** The plot, or what is said in its place. */
const PLOT =
  'pt-3 pr-4 pb-2 pl-4 flex flex-col gap-1 [&_svg]:w-full [&_svg]:h-8 [&_.hour]:[fill:transparent] [&_.none]:[fill:var(--line)] [&_.all]:[fill:var(--line-strong)] [&_.bad]:[fill:var(--failed-fill)] [&_.hour:hover]:[fill:var(--hover)]';

const WIDTH = 240;
const HEIGHT = 32;
const GAP = 2;
/** What an hour with a single run is high at least. */
const LEAST = 3;

/** The last day of a provider: a bar for each hour, its failed part in red; told in words as well. */
export function DayPlot({ bars }: { readonly bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ attempts }) => attempts));
  const attempts = bars.reduce((sum, bar) => sum + bar.attempts, 0);
  const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
  const words =
    attempts === 0
      ? tp('providers.dayNone')
      : tp('providers.day', {
          count: attempts,
          percent: (((attempts - failed) / attempts) * 100).toFixed(1),
        });
  const step = WIDTH / bars.length;
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(LEAST, (count / most) * HEIGHT));
  if (attempts === 0) return <p className={`text-muted text-12 font-normal ${PLOT}`}>{words}</p>;
  return (
    <figure className={PLOT}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
        {bars.map(({ hour, attempts: all, failed: bad }, index) => (
          <g key={hour}>
            <title>{`${clock.format(hour)}: ${all - bad} / ${all}`}</title>
            <rect className="hour" x={index * step} y={0} width={step} height={HEIGHT} />
            <rect
              className={all === 0 ? 'none' : 'all'}
              x={index * step}
              width={step - GAP}
              y={HEIGHT - Math.max(1, heightOf(all))}
              height={Math.max(1, heightOf(all))}
            />
            <rect
              className="bad"
              x={index * step}
              width={step - GAP}
              y={HEIGHT - heightOf(bad)}
              height={heightOf(bad)}
            />
          </g>
        ))}
      </svg>
      <figcaption className="text-muted text-12 font-normal">{words}</figcaption>
    </figure>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
