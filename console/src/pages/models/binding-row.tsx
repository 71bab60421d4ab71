import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';

import {
  PauseBindingDocument,
  ProvidersDocument,
  ResumeBindingDocument,
} from '../../api/documents/models.ts';
import type { BindingPartsFragment } from '../../api/documents/operations.ts';
import { Button } from '../../parts/looks/button.tsx';
import { Input } from '../../parts/looks/inputs.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { ServerWords, problemText } from '../../parts/problem.tsx';
import { StateMark } from '../../parts/task/state.tsx';
import { Ago, durationText } from '../../parts/time.tsx';
import { t, textOr } from '../../text/text.ts';
import { type BindingState, readState } from './by-provider.ts';
import { tp } from './texts.ts';

/** The classes of a row of a provider's folded lists. */
export const foldedRowLook = 'flex min-w-0 flex-col gap-0.5 wrap-anywhere';

/** One connection of a provider: its state, its last hour in figures, what is wrong with it, and a button to pause it. */
export function BindingRow({ binding }: { readonly binding: BindingPartsFragment }) {
  const { attempts, succeeded, p50, p95, waiting, open, concurrency, generator } = binding;
  const facts = [
    attempts === 0 ? null : tp('providers.successOf', { percent: ((succeeded / attempts) * 100).toFixed(1) }),
    p50 === null ? null : tp('providers.usual', { half: durationText(p50 * 1_000), most: usualText(p95) }),
    waiting === 0 ? null : tp('providers.inLine', { count: waiting }),
    open === 0 ? null : t('providers.open', { count: open, most: concurrency }),
  ].filter((fact) => fact !== null);
  return (
    <li className={`${foldedRowLook} not-first:border-t not-first:border-line not-first:pt-3`}>
      <Row as="span">
        <StateBadge state={readState(binding)} />
        <code className="truncate text-faint min-w-0" title={binding.binding}>
          {generator}
        </code>
        <span className="ml-auto">
          <PauseButton binding={binding} />
        </span>
      </Row>
      {facts.length > 0 && (
        <Figures tone="muted" small>
          {facts.join(' · ')}
        </Figures>
      )}
      <Small>
        <BindingStatusText binding={binding} />
      </Small>
    </li>
  );
}

const LOOKS = {
  away: ['FAILED', 'FAILED'],
  asked: ['ATTENTION', 'QUEUED'],
  paused: ['ATTENTION', 'CANCELLED'],
  sandbox: ['SANDBOX', 'QUEUED'],
  healthy: ['SUCCEEDED', 'SUCCEEDED'],
} as const;

/** A state as shape, word and colour. */
export function StateBadge({ state }: { readonly state: BindingState }) {
  const [colour, shape] = LOOKS[state];
  return (
    <StateMark look={colour} shape={shape} boxed>
      {t(`providers.${state}`)}
    </StateMark>
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
        <span className="font-medium text-failed">
          <ServerWords text={breaker.lastError ?? ''} />
        </span>{' '}
        {t('providers.nextCall', { seconds })}
      </>
    );
  }
  const counted = Object.entries((errors ?? {}) as Readonly<Record<string, number>>);
  if (counted.length === 0) return attempts === 0 ? null : t('providers.attempts', { count: attempts });
  return (
    <>
      {counted.map(([code, count]) => `${count} × ${textOr(`code.${code}`, code)}`).join(', ')}
      {lastErrorAt !== null && (
        <>
          , {t('providers.lastError')} <Ago at={lastErrorAt} />
        </>
      )}
      {lastError !== null && (
        <span className="line-clamp-2 overflow-hidden">
          <ServerWords text={lastError} />
        </span>
      )}
    </>
  );
}

function usualText(seconds: number | null): string {
  return seconds === null ? '–' : durationText(seconds * 1_000);
}

/** Longest reason that the service takes. */
const MAX_REASON = 200;

/** Gives a binding no new work, with a reason for other administrators, or work again. */
function PauseButton({ binding }: { readonly binding: BindingPartsFragment }) {
  const options = { refetchQueries: [ProvidersDocument], variables: { binding: binding.binding } };
  const [pause, pausing] = useMutation(PauseBindingDocument, options);
  const [resume, resuming] = useMutation(ResumeBindingDocument, options);
  const [isAsking, setAsking] = useState(false);
  const isPaused = binding.paused !== null;
  const error = pausing.error ?? resuming.error;
  if (isAsking && !isPaused) {
    return (
      <ReasonForm
        binding={binding.binding}
        onCancel={() => setAsking(false)}
        onPause={(reason) => {
          setAsking(false);
          pause({ variables: { binding: binding.binding, reason } }).catch(() => undefined);
        }}
      />
    );
  }
  return (
    <Row as="span">
      {error !== undefined && (
        <span className="text-failed" role="alert">
          {problemText(error)}
        </span>
      )}
      <Button
        kind={isPaused ? 'primary' : 'ghost'}
        size="small"
        disabled={pausing.loading || resuming.loading}
        aria-label={`${t(isPaused ? 'providers.resume' : 'providers.pause')} ${binding.binding}`}
        title={t(isPaused ? 'providers.resumeText' : 'providers.pauseText')}
        onClick={() => (isPaused ? void resume().catch(() => undefined) : setAsking(true))}
      >
        {t(isPaused ? 'providers.resume' : 'providers.pause')}
      </Button>
    </Row>
  );
}

function ReasonForm({
  binding,
  onPause,
  onCancel,
}: {
  readonly binding: string;
  readonly onPause: (reason: string) => void;
  readonly onCancel: () => void;
}) {
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPause(reason);
  };
  return (
    <form className="flex items-center gap-2 min-w-0 flex-wrap" onSubmit={submit}>
      <Input
        // The field was asked for by the button that it replaces.
        autoFocus
        aria-label={`${t('providers.reason')} ${binding}`}
        placeholder={t('providers.reason')}
        maxLength={MAX_REASON}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && onCancel()}
      />
      <Button type="submit" kind="primary" size="small" aria-label={`${t('providers.pause')} ${binding}`}>
        {t('providers.pause')}
      </Button>
      <Button kind="ghost" size="small" onClick={onCancel}>
        {t('providers.cancel')}
      </Button>
    </form>
  );
}
