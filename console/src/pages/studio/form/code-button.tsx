import { lazy, Suspense, useState } from 'react';

import { Icon } from '../../../parts/icons.tsx';
import { t } from '../../../text/text.ts';
import type { Choice, Values } from '../../../work/work.ts';

const CodeDialog = lazy(async () => ({ default: (await import('./code-dialog.tsx')).CodeDialog }));

/** Shows the request of the form as code. */
export function CodeButton({ choice, values }: { readonly choice: Choice; readonly values: Values }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="btn lg ico"
        aria-label={t('studio.code')}
        title={t('studio.code')}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="start" />
      </button>
      {isOpen && (
        <Suspense>
          <CodeDialog choice={choice} values={values} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
