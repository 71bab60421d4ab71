import type { BindingPartsFragment } from '../../api/operations.ts';
import { ServerWords } from '../../parts/server-words.tsx';
import { StateShape } from '../../parts/task/state.tsx';
import { Ago, durationText } from '../../parts/time.tsx';
import { t, textOr } from '../../text/text.ts';
import { type BindingState, stateOf } from './binding-state.ts';
import { PauseButton } from './pause-button.tsx';

/** One binding: its state, its last hour in figures, what is wrong with it, and a button to pause it. */
export function BindingCard({ binding }: { readonly binding: BindingPartsFragment }) {
  const { provider, attempts, succeeded, p50, p95, waiting, open, concurrency } = binding;
  const facts = [
    [t('providers.success'), attempts === 0 ? '–' : `${((succeeded / attempts) * 100).toFixed(1)} %`],
    ['p50', usualText(p50)],
    ['p95', usualText(p95)],
    [t('providers.waiting'), String(waiting)],
  ] as const;
  return (
    <article className="card pc">
      <header>
        <h2>{provider}</h2>
        <span className="push">
          <Badge state={stateOf(binding)} />
        </span>
      </header>
      <div className="pad col grow">
        <p className="c12 mute row">
          <code className="cut">{binding.binding}</code>
          <span className="push faint nowrap num">
            {t('providers.open', { count: open, most: concurrency })}
          </span>
        </p>
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
      <footer className="row c12 pad">
        <span className="grow mute">
          <BindingStatusText binding={binding} />
        </span>
        <PauseButton binding={binding} />
      </footer>
    </article>
  );
}

const LOOKS = {
  away: ['FAILED', 'FAILED'],
  asked: ['ATTENTION', 'QUEUED'],
  paused: ['ATTENTION', 'CANCELLED'],
  sandbox: ['SANDBOX', 'QUEUED'],
  healthy: ['SUCCEEDED', 'SUCCEEDED'],
} as const;

function Badge({ state }: { readonly state: BindingState }) {
  const [colour, shape] = LOOKS[state];
  return (
    <span className={`st box ${colour}`}>
      <StateShape state={shape} />
      {t(`providers.${state}`)}
    </span>
  );
}

/** What an administrator wants to know besides the figures. */
function BindingStatusText({ binding }: { readonly binding: BindingPartsFragment }) {
  const { breaker, paused, errors, lastErrorAt, lastError, attempts } = binding;
  if (paused !== null) {
    return (
      <>
        {t('providers.pausedBy', { name: paused.by })} <Ago at={paused.at} />
        {paused.reason !== '' && `: ${paused.reason}`}
      </>
    );
  }
  if (breaker?.open === true) {
    const seconds = Math.max(0, Math.ceil((Date.parse(breaker.until ?? '') - Date.now()) / 1_000)) || 0;
    return (
      <>
        <span className="med FAILED">
          <ServerWords text={breaker.lastError ?? ''} />
        </span>{' '}
        {t('providers.nextCall', { seconds })}
      </>
    );
  }
  const counted = Object.entries((errors ?? {}) as Readonly<Record<string, number>>);
  if (counted.length === 0) return t('providers.attempts', { count: attempts });
  return (
    <>
      {counted.map(([code, count]) => `${count} × ${textOr(`code.${code}`, code)}`).join(', ')}
      {lastErrorAt !== null && (
        <>
          , {t('providers.lastError')} <Ago at={lastErrorAt} />
        </>
      )}
      {lastError !== null && (
        <span className="cut2">
          <ServerWords text={lastError} />
        </span>
      )}
    </>
  );
}

function usualText(seconds: number | null): string {
  return seconds === null ? '–' : durationText(seconds * 1_000);
}
