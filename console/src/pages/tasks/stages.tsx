import { nodeOf, stageText } from '../../parts/progress.tsx';
import { durationText } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import type { TaskLog } from './task-log.ts';

type Look = 'q' | 's' | 'r' | 'w' | 'f';

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly look: Look;
  readonly text: string;
}

/** Where the time of a task went, stage by stage, as its events tell: one bar, and the same as words. */
export function Stages({
  task,
  from,
  to,
}: {
  readonly task: TaskLog;
  readonly from: number;
  readonly to: number;
}) {
  const segments = segmentsOf(task, to);
  const total = Math.max(1, to - from);
  const share = (ms: number) => `${Math.min(100, Math.max(0, (ms / total) * 100))}%`;
  return (
    <li className="ln">
      <span className="nm cut med">{t('task.stages')}</span>
      <span
        className="track"
        role="img"
        aria-label={segments.map((one) => `${one.text} ${durationText(one.to - one.from)}`).join(', ')}
      >
        {segments.map((segment) => (
          <span
            key={segment.from}
            className={`seg-b ${segment.look}`}
            title={`${segment.text}, ${durationText(segment.to - segment.from)}`}
            style={{ left: share(segment.from - from), width: share(segment.to - segment.from) }}
          />
        ))}
      </span>
      <span className="num tm">{durationText(total)}</span>
    </li>
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
        <span key={look} className="lg">
          <i className={`seg-b ${look}`} />
          {t(text)}
        </span>
      ))}
    </span>
  );
}

/** Events of one stage, and of one node of a workflow, are one segment. */
function segmentsOf({ events }: TaskLog, end: number): readonly Segment[] {
  const segments: Segment[] = [];
  for (const { at, stage, state } of events) {
    const start = Date.parse(at);
    const text = nodeOf(stage)?.name ?? stageText({ stage });
    const before = segments.at(-1);
    if (before?.text === text) continue;
    if (before !== undefined) segments[segments.length - 1] = { ...before, to: start };
    if (state === 'QUEUED' || state === 'RUNNING') {
      segments.push({ from: start, to: end, look: lookOf(stage), text });
    }
  }
  return segments;
}

function lookOf(stage: string): Look {
  if (stage === 'queued' || stage === 'queued upstream' || stage.includes('next try in')) return 'q';
  if (stage.startsWith('starting')) return 's';
  return stage.startsWith('storing') ? 'w' : 'r';
}
