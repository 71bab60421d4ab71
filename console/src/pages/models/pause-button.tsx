import { useMutation } from '@apollo/client/react';

import {
  type BindingPartsFragment,
  PauseBindingDocument,
  ProvidersDocument,
  ResumeBindingDocument,
} from '../../api/operations.ts';
import { problemText } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

/** Gives a binding no new work, or work again. */
export function PauseButton({ binding }: { readonly binding: BindingPartsFragment }) {
  const options = { refetchQueries: [ProvidersDocument], variables: { binding: binding.binding } };
  const [pause, pausing] = useMutation(PauseBindingDocument, options);
  const [resume, resuming] = useMutation(ResumeBindingDocument, options);
  const isPaused = binding.paused !== null;
  const error = pausing.error ?? resuming.error;
  return (
    <span className="row">
      {error !== undefined && (
        <span className="FAILED" role="alert">
          {problemText(error)}
        </span>
      )}
      <button
        type="button"
        className={`btn sm ${isPaused ? 'pri' : 'ghost'}`}
        disabled={pausing.loading || resuming.loading}
        aria-label={`${t(isPaused ? 'providers.resume' : 'providers.pause')} ${binding.binding}`}
        title={t(isPaused ? 'providers.resumeText' : 'providers.pauseText')}
        onClick={() => void (isPaused ? resume() : pause()).catch(() => undefined)}
      >
        {t(isPaused ? 'providers.resume' : 'providers.pause')}
      </button>
    </span>
  );
}
