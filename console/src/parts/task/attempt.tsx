import type { AttemptPartsFragment } from '../../api/documents/operations.ts';
import { t } from '../../text/text.ts';
import { Small } from '../looks/lines.tsx';
import { codeText, ServerWords } from '../problem.tsx';
import { providerName } from '../provider-name.ts';
import { SHAPE_OF_ATTEMPT, STATE_TEXT, StateShape } from './state.tsx';

/** Which step and attempt it is and who was asked, with its state as a shape. */
export function AttemptName({
  attempt: { step, number, provider, model, state },
}: {
  readonly attempt: AttemptPartsFragment;
}) {
  return (
    <span
      data-state={SHAPE_OF_ATTEMPT[state]}
      className={`flex min-w-0 flex-1 items-center gap-2 ${STATE_TEXT[SHAPE_OF_ATTEMPT[state]]}`}
    >
      <StateShape state={SHAPE_OF_ATTEMPT[state]} />
      <span className="min-w-0 text-text">
        <span className="block truncate min-w-0">{t('task.attempt', { step, number })}</span>
        <Small className="block truncate min-w-0">
          {providerName(provider)}
          {model === null ? '' : `, ${model}`}
        </Small>
      </span>
    </span>
  );
}

interface AttemptErrorProps {
  readonly attempt: AttemptPartsFragment;
  /** Where it stands. */
  readonly className: string;
}

/** Why an attempt has failed, and whether another could succeed; nothing for the others. */
export function AttemptError({ attempt: { error }, className }: AttemptErrorProps) {
  if (error === null) return null;
  return (
    <span className={`text-12 font-normal text-failed ${className}`}>
      {codeText(error.code)} <ServerWords text={error.message} />
      {error.retryable ? ` ${t('task.retryable')}` : ''}
    </span>
  );
}
