import type { ExecutionPageQuery } from '../../../api/operations.ts';
import { SHAPE_OF_ATTEMPT, StateShape } from '../../../parts/state.tsx';
import { durationText } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';

type Task = NonNullable<NonNullable<ExecutionPageQuery['execution']>['task']>;
type Attempt = Task['attempts'][number];

/** What was done for it, step by step: which provider, how it went, how long, and why not. */
export function Steps({ task: { attempts, endedAt } }: { readonly task: Task }) {
  return (
    <section className="card">
      <header>
        <h2>{t('shop.steps')}</h2>
        <span className="c12 faint num">{attempts.length}</span>
      </header>
      {attempts.length === 0 && <p className="pad mute">{t('shop.noSteps')}</p>}
      <ol className="shop-steps">
        {attempts.map((attempt) => (
          <li key={`${attempt.step} ${attempt.number}`}>
            <span className={`row ${SHAPE_OF_ATTEMPT[attempt.state]}`}>
              <StateShape state={SHAPE_OF_ATTEMPT[attempt.state]} />
              <span className="attempt-name grow cut">
                {t('task.attempt', { step: attempt.step, number: attempt.number })}{' '}
                <span className="mute">
                  {attempt.provider}
                  {attempt.model === null ? '' : `, ${attempt.model}`}
                </span>
              </span>
              <span className="num attempt-name">{lastedText(attempt, endedAt)}</span>
            </span>
            {attempt.error !== null && (
              <span className="c12 attempt-error">
                {textOr(`error.${attempt.error.code}`, attempt.error.code)} {attempt.error.message}
                {attempt.error.retryable ? ` ${t('task.retryable')}` : ''}
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function lastedText({ startedAt, endedAt }: Attempt, taskEndedAt: string | null): string {
  const end = endedAt ?? taskEndedAt;
  return durationText((end === null ? Date.now() : Date.parse(end)) - Date.parse(startedAt));
}
