import { durationText } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { nodesOf, type Segment, segmentsOf, type Tick } from './segments.ts';
import type { TaskLog } from './task-log.ts';

/** The time that all bars share. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Nodes beyond these are not drawn; a graph may have hundreds. */
const MOST_NODES = 40;

interface TrackProps extends Span {
  readonly segments: readonly Segment[];
  readonly ticks?: readonly Tick[];
}

/** One bar: its segments, and a tick for each answer. The same as words for those who do not see it. */
export function Track({ from, to, segments, ticks = [] }: TrackProps) {
  // The event of an end is written a moment after it.
  const bounded = (at: number) => Math.min(to, Math.max(from, at));
  const share = (ms: number) => `${(ms / Math.max(1, to - from)) * 100}%`;
  return (
    <span
      className="track"
      role="img"
      aria-label={segments.map((one) => `${one.text} ${durationText(one.to - one.from)}`).join(', ')}
    >
      {segments.map((segment) => (
        <span
          key={segment.from}
          className={`seg-b ${segment.look}`}
          title={`${segment.text} ${durationText(segment.to - segment.from)}`}
          style={{
            left: share(bounded(segment.from) - from),
            width: share(bounded(segment.to) - bounded(segment.from)),
          }}
        />
      ))}
      {ticks.map(({ at, text }, index) => (
        <span
          // Two answers may come in one millisecond.
          key={`${at} ${index}`}
          className="poll"
          title={`${durationText(at - from)}: ${text}`}
          style={{ left: share(bounded(at) - from) }}
        />
      ))}
    </span>
  );
}

/** Where the time of a task went, stage by stage; a workflow's nodes have a bar each below it. */
export function Stages({ task, from, to }: Span & { readonly task: TaskLog }) {
  const nodes = nodesOf(task, to);
  return (
    <>
      <li className="ln">
        <span className="nm cut med">{t('task.stages')}</span>
        <Track from={from} to={to} segments={segmentsOf(task, to)} />
        <span className="num tm">{durationText(to - from)}</span>
      </li>
      {nodes.length > 1 &&
        nodes.slice(0, MOST_NODES).map(({ node, runs }) => (
          <li key={node} className="ln sub">
            <span className="nm cut mute" title={node}>
              {node}
            </span>
            <Track from={from} to={to} segments={runs} />
            <span className="num tm">
              {durationText(runs.reduce((sum, run) => sum + run.to - run.from, 0))}
            </span>
          </li>
        ))}
    </>
  );
}

/** What the bars mean. */
export function Legend() {
  const looks = [
    ['q', 'task.queued'],
    ['s', 'task.started'],
    ['r', 'task.polled'],
    ['w', 'task.stored'],
    ['f', 'task.failedBar'],
  ] as const;
  return (
    <span className="push row wrap hint">
      {looks.map(([look, text]) => (
        <span key={look} className="lg" title={look === 'r' ? t('task.ticks') : undefined}>
          <i className={`seg-b ${look}`} />
          {t(text)}
        </span>
      ))}
    </span>
  );
}
