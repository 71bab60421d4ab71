import { isEnded } from '../../../api/use-live-task.ts';
import { SHAPE_OF_ATTEMPT, StateShape } from '../../../parts/state.tsx';
import { durationText } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
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
      <span className={`nm row ${SHAPE_OF_ATTEMPT[attempt.state]}`}>
        <StateShape state={SHAPE_OF_ATTEMPT[attempt.state]} />
        <span className="cut attempt-name">
          {t('task.attempt', { step: attempt.step, number: attempt.number })}{' '}
          <span className="mute">
            {attempt.provider}
            {attempt.model === null ? '' : `, ${attempt.model}`}
          </span>
        </span>
      </span>
      <Track
        from={from}
        to={to}
        segments={[waited, ...segmentsOfAttempt(task, attempt, to)]}
        ticks={ticksOfAttempt(task, attempt, to)}
      />
      <span className="num tm">{durationText(ended - started)}</span>
      {attempt.error !== null && (
        <span className="c12 attempt-error">
          {textOr(`error.${attempt.error.code}`, attempt.error.code)} {attempt.error.message}
          {attempt.error.retryable ? ` ${t('task.retryable')}` : ''}
        </span>
      )}
    </li>
  );
}
