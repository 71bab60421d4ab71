import { useState } from 'react';

import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { later } from '../../../parts/page/later.tsx';
import { t } from '../../../text/text.ts';
import type { SeveralProps } from './axes.ts';

const SeveralDialog = later(async () => (await import('./several-dialog.tsx')).SeveralDialog);

/** Kinds of work whose results are worth to be seen side by side. */
const COMPARABLE: readonly string[] = ['IMAGE', 'CHARACTER_IMAGE', 'VIDEO', 'FRAME_VIDEO', 'SPEECH'];

/** Starts the form on several models, or with several values of an option. */
export function SeveralButton({ choices, choice, values, onRun }: SeveralProps) {
  const [isOpen, setIsOpen] = useState(false);
  if (!COMPARABLE.includes(choice.kind)) return null;
  return (
    <>
      <Button
        size="large"
        icon
        className="max-sm:h-12"
        label={t('several.title')}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="grid" />
      </Button>
      {isOpen && (
        <SeveralDialog
          choices={choices}
          choice={choice}
          values={values}
          onRun={(runs) => {
            setIsOpen(false);
            onRun(runs);
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}
