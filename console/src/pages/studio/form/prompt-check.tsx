import { useQuery } from '@apollo/client/react';

import { CheckPromptDocument } from '../../../api/operations.ts';
import { useDebounced } from '../../../parts/controls/use-debounced.ts';
import { Icon } from '../../../parts/icons.tsx';
import { t } from '../../../text/text.ts';

const REST_MS = 600;

/** What a provider may say against a prompt, before anything is spent; nothing while it looks fine. */
export function PromptCheck({ generator, prompt }: { readonly generator: string; readonly prompt: string }) {
  const rested = useDebounced(prompt.trim(), REST_MS);
  const { data } = useQuery(CheckPromptDocument, {
    variables: { generator, prompt: rested },
    skip: rested === '' || prompt.trim() === '',
    // A question per pause in typing: none is worth keeping.
    fetchPolicy: 'no-cache',
  });
  const check = data?.checkPrompt;
  return (
    <div role="status" className="empty:absolute">
      {check?.allowed === false && prompt.trim() !== '' && (
        <div className="note warn">
          <Icon name="warning" />
          <div>
            <p>{t('studio.checked')}</p>
            <ul>
              {check.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </div>
        </div>
      )}
    </div>
  );
}
