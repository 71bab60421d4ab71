import { once } from '../../text/text.ts';
import type { Bar } from './by-provider.ts';
import { tp } from './texts.ts';

/** The plot, or what is said in its place. */
const PLOT = 'flex flex-col gap-1 px-4 pt-3 pb-2';

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
  const toHeight = (count: number) => (count === 0 ? 0 : Math.max(LEAST, (count / most) * HEIGHT));
  if (attempts === 0) return <p className={`text-muted text-12 font-normal ${PLOT}`}>{words}</p>;
  return (
    <figure className={PLOT}>
      <svg
        className="h-8 w-full"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        {bars.map(({ hour, attempts: all, failed: bad }, index) => (
          <g key={hour}>
            <title>{`${clock().format(hour)}: ${all - bad} / ${all}`}</title>
            <rect
              className="fill-transparent hover:fill-hover"
              x={index * step}
              y={0}
              width={step}
              height={HEIGHT}
            />
            <rect
              className={all === 0 ? 'fill-line' : 'fill-line-strong'}
              x={index * step}
              width={step - GAP}
              y={HEIGHT - Math.max(1, toHeight(all))}
              height={Math.max(1, toHeight(all))}
            />
            <rect
              className="fill-failed-fill"
              x={index * step}
              width={step - GAP}
              y={HEIGHT - toHeight(bad)}
              height={toHeight(bad)}
            />
          </g>
        ))}
      </svg>
      <figcaption className="text-muted text-12 font-normal">{words}</figcaption>
    </figure>
  );
}

const clock = once(() => new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' }));
