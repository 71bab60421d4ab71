import { useState } from 'react';

import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { later } from '../../../parts/page/later.tsx';
import { t } from '../../../text/text.ts';
import type { Choice, Values } from '../../../work/work.ts';

const CodeDialog = later(async () => (await import('./code-dialog.tsx')).CodeDialog);

/** Shows the request of the form as code. */
export function CodeButton({ choice, values }: { readonly choice: Choice; readonly values: Values }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        size="large"
        icon
        className="max-sm:h-12"
        label={t('studio.code')}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="start" />
      </Button>
      {isOpen && <CodeDialog choice={choice} values={values} onClose={() => setIsOpen(false)} />}
    </>
  );
}
