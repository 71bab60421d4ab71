import type { AttemptPartsFragment } from '../../api/documents/operations.ts';
import { t } from '../../text/text.ts';
import { Small } from '../page/lines.tsx';
import { codeText } from '../problem.tsx';
import { ServerWords } from '../server-words.tsx';
import { SHAPE_OF_ATTEMPT, StateShape } from './state.tsx';

/** Which step and attempt it is and who was asked, with its state as a shape. */
export function AttemptName({
  attempt: { step, number, provider, model, state },
}: {
  readonly attempt: AttemptPartsFragment;
}) {
  return (
    <span
      className={`flex items-center gap-2 flex-1 min-w-0 [.tl_.ln.sub_&]:pl-5 ${SHAPE_OF_ATTEMPT[state]}`}
    >
      <StateShape state={SHAPE_OF_ATTEMPT[state]} />
      <span className="min-w-0 text-text">
        <span className="block truncate min-w-0">{t('task.attempt', { step, number })}</span>
        <Small className="block truncate min-w-0">
          {provider}
          {model === null ? '' : `, ${model}`}
        </Small>
      </span>
    </span>
  );
}

/** Why an attempt has failed, and whether another could succeed; nothing for the others. */
export function AttemptError({ attempt: { error } }: { readonly attempt: AttemptPartsFragment }) {
  if (error === null) return null;
  return (
    <span className="text-12 font-normal col-span-full text-failed pb-2 [.shop-steps_&]:block [.shop-steps_&]:pt-1 [.shop-steps_&]:pr-0 [.shop-steps_&]:pb-0 [.shop-steps_&]:pl-0">
      {codeText(error.code)} <ServerWords text={error.message} />
      {error.retryable ? ` ${t('task.retryable')}` : ''}
    </span>
  );
}
