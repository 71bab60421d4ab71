import type { AttemptPartsFragment, ExecutionPageQuery } from '../../../api/operations.ts';
import { AttemptError, AttemptName } from '../../../parts/task/attempt.tsx';
import { durationText } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';

type Task = NonNullable<NonNullable<ExecutionPageQuery['execution']>['task']>;

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
            <span className="row">
              <AttemptName attempt={attempt} />
              <span className="num">{lastedText(attempt, endedAt)}</span>
            </span>
            <AttemptError attempt={attempt} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function lastedText({ startedAt, endedAt }: AttemptPartsFragment, taskEndedAt: string | null): string {
  const end = endedAt ?? taskEndedAt;
  return durationText((end === null ? Date.now() : Date.parse(end)) - Date.parse(startedAt));
}
