import { isEnded } from '../../../api/use-live-task.ts';
import { AttemptError, AttemptName } from '../../../parts/task/attempt.tsx';
import { durationText } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { Axis } from './axis.tsx';
import { segmentsOfAttempt, ticksOfAttempt } from './segments.ts';
import { Legend, type Span, Stages, Track } from './stages.tsx';
import type { TaskLog } from './task-log.ts';

type Attempt = TaskLog['attempts'][number];

/** Who was asked, when and for how long: one bar per attempt on the task's own time. */
export function Timeline({ task }: { readonly task: TaskLog }) {
  const from = Date.parse(task.createdAt);
  const to = task.endedAt === null ? Date.now() : Date.parse(task.endedAt);
  const total = Math.max(1, to - from);
  return (
    <section className="card">
      <header>
        <h2>{t('task.timeline')}</h2>
        <span className="c12 faint num">{isEnded(task) ? durationText(total) : ''}</span>
        <Legend />
      </header>
      <ul className="tl">
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
    </section>
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
    <li className="ln">
      <AttemptName attempt={attempt} />
      <Track
        from={from}
        to={to}
        segments={[waited, ...segmentsOfAttempt(task, attempt, to)]}
        ticks={ticksOfAttempt(task, attempt, to)}
      />
      <span className="num tm">{durationText(ended - started)}</span>
      <AttemptError attempt={attempt} />
    </li>
  );
}
