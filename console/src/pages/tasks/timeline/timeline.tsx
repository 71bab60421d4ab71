import type { CSSProperties } from 'react';

import { isEnded } from '../../../api/live-tasks.ts';
import { Figures, Row } from '../../../parts/looks/lines.tsx';
import { Card, CardHead, legendLook } from '../../../parts/looks/panels.tsx';
import { AttemptError, AttemptName } from '../../../parts/task/attempt.tsx';
import { durationText } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import {
  axisText,
  chooseStep,
  listTimes,
  listNodes,
  type Segment,
  listSegments,
  listAttemptSegments,
  type Tick,
  listAttemptTicks,
  type TaskLog,
} from './segments.ts';

/** A bar, by its look. */
const LOOKS: Readonly<Record<Segment['look'], string>> = {
  q: 'border border-dashed border-line-strong',
  s: 'border border-line-strong [background:repeating-linear-gradient(135deg,var(--line-strong)_0_2px,transparent_2px_5px)]',
  r: 'bg-(--c1)',
  w: 'bg-succeeded-fill',
  f: 'bg-failed-fill',
};

/** The room of bars, and that with the grid behind it. */
const TRACK = 'relative h-4';
const TRACK_OF_LINE =
  'relative h-4 max-sm:col-span-full max-sm:row-start-2 before:absolute before:inset-x-0 before:-inset-y-3 before:opacity-80 ' +
  'before:[background:linear-gradient(90deg,var(--line)_1px,transparent_1px)_0_0_/_var(--grid,20%)_100%]';
/** One line: who, the bars, how long. */
const LINE =
  'col-span-full grid min-h-10 grid-cols-[subgrid] items-center border-t border-line max-sm:gap-y-0.5 max-sm:px-0 max-sm:py-1.5';
const TIME = 'text-right whitespace-nowrap tabular-nums max-sm:col-start-2 max-sm:row-start-1';

type Attempt = TaskLog['attempts'][number];

/** Who was asked, when and for how long: one bar per attempt on the task's own time. */
export function Timeline({ task }: { readonly task: TaskLog }) {
  const from = Date.parse(task.createdAt);
  const to = task.endedAt === null ? Date.now() : Date.parse(task.endedAt);
  const total = Math.max(1, to - from);
  return (
    <Card>
      <CardHead title={t('task.timeline')}>
        <Figures tone="faint" small>
          {isEnded(task) ? durationText(total) : ''}
        </Figures>
        <Legend />
      </CardHead>
      <ul
        className="grid px-4 pt-2 pb-4 grid-cols-[256px_minmax(0,1fr)_minmax(56px,max-content)] gap-x-3 max-sm:grid-cols-[minmax(0,1fr)_max-content]"
        style={{ '--grid': `${(chooseStep(total) / total) * 100}%` } as CSSProperties}
      >
        <Axis from={from} to={to} />
        <Stages task={task} from={from} to={to} />
        {task.attempts.map((attempt) => (
          <AttemptLine
            key={`${attempt.step} ${attempt.number}`}
            task={task}
            attempt={attempt}
            from={from}
            to={to}
          />
        ))}
      </ul>
    </Card>
  );
}

interface AttemptLineProps extends Span {
  readonly task: TaskLog;
  readonly attempt: Attempt;
}

function AttemptLine({ task, attempt, from, to }: AttemptLineProps) {
  const started = Date.parse(attempt.startedAt);
  const ended = attempt.endedAt === null ? to : Date.parse(attempt.endedAt);
  const waited = { from, to: started, look: 'q', text: t('task.queued') } as const;
  return (
    <li className={LINE} data-line>
      <AttemptName attempt={attempt} />
      <Track
        from={from}
        to={to}
        segments={[waited, ...listAttemptSegments(task, attempt, to)]}
        ticks={listAttemptTicks(task, attempt, to)}
      />
      <span className={TIME}>{durationText(ended - started)}</span>
      <AttemptError attempt={attempt} className="col-span-full pb-2" />
    </li>
  );
}

/** The time since the task was created, above the bars; these say the same in words. */
function Axis({ from, to }: Span) {
  const total = Math.max(1, to - from);
  const times = listTimes(total);
  return (
    <li className="col-span-full grid grid-cols-[subgrid] items-center max-sm:hidden" aria-hidden="true">
      <span />
      <span className={TRACK}>
        {times.map((time) => (
          <span
            key={time}
            className={`absolute text-11 font-normal text-faint [transform:translateX(-50%)] whitespace-nowrap first:transform-none ${time / total > NEAR_END ? '-translate-x-full' : ''}`}
            style={{ left: `${(time / total) * 100}%` }}
          >
            {axisText(time, chooseStep(total))}
          </span>
        ))}
      </span>
      <span />
    </li>
  );
}

/** The time that all bars share. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A label of the axis beyond this share of it ends at its line, as there is no room after it. */
const NEAR_END = 0.95;

/** Nodes beyond these are not drawn; a graph may have hundreds. */
const MOST_NODES = 40;

interface TrackProps extends Span {
  readonly segments: readonly Segment[];
  readonly ticks?: readonly Tick[];
}

/** One bar: its segments, and a tick for each answer. The same as words for those who do not see it. */
function Track({ from, to, segments, ticks = [] }: TrackProps) {
  // The event of an end is written a moment after it.
  const bounded = (at: number) => Math.min(to, Math.max(from, at));
  const share = (ms: number) => `${(ms / Math.max(1, to - from)) * 100}%`;
  return (
    <span
      className={TRACK_OF_LINE}
      role="img"
      aria-label={segments.map((one) => `${one.text} ${durationText(one.to - one.from)}`).join(', ')}
    >
      {segments.map((segment) => (
        <span
          key={segment.from}
          className={`absolute top-0 h-4 min-w-0.5 rounded-[3px] ${LOOKS[segment.look]}`}
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
          className="absolute top-1 w-px h-2 bg-surface opacity-85"
          title={`${durationText(at - from)}: ${text}`}
          style={{ left: share(bounded(at) - from) }}
        />
      ))}
    </span>
  );
}

/** Where the time of a task went, stage by stage; a workflow's nodes have a bar each below it. */
function Stages({ task, from, to }: Span & { readonly task: TaskLog }) {
  const nodes = listNodes(task, to);
  return (
    <>
      <li className={LINE} data-line>
        <span className="min-w-0 truncate font-medium">{t('task.stages')}</span>
        <Track from={from} to={to} segments={listSegments(task, to)} />
        <span className={TIME}>{durationText(to - from)}</span>
      </li>
      {nodes.length > 1 &&
        nodes.slice(0, MOST_NODES).map(({ node, runs }) => (
          <li key={node} className={LINE} data-line>
            <span className="min-w-0 truncate pl-5 text-muted" title={node}>
              {node}
            </span>
            <Track from={from} to={to} segments={runs} />
            <span className={TIME}>
              {durationText(runs.reduce((sum, run) => sum + run.to - run.from, 0))}
            </span>
          </li>
        ))}
    </>
  );
}

/** What the bars mean. */
function Legend() {
  const looks = [
    ['q', 'task.queued'],
    ['s', 'task.started'],
    ['r', 'task.polled'],
    ['w', 'task.stored'],
    ['f', 'task.failedBar'],
  ] as const;
  return (
    <Row as="span" wrap className="ml-auto max-xl:hidden">
      {looks.map(([look, text]) => (
        <span key={look} className={legendLook} title={look === 'r' ? t('task.ticks') : undefined}>
          <i className={`h-2.5 w-4 min-w-0.5 rounded-[3px] ${LOOKS[look]}`} />
          {t(text)}
        </span>
      ))}
    </Row>
  );
}
