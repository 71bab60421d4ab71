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
import { Row } from '../../parts/looks/lines.tsx';
import { problemText } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

/** Longest reason that the service takes. */
const MAX_REASON = 200;

/** Gives a binding no new work, with a reason for other administrators, or work again. */
export function PauseButton({ binding }: { readonly binding: BindingPartsFragment }) {
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
