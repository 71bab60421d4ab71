import { useState } from 'react';

import type { MediaPartsFragment } from '../../api/documents/operations.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { type Later, later } from '../../parts/page/later.tsx';
import { t } from '../../text/text.ts';

interface UseAsProps {
  readonly media: MediaPartsFragment;
}

const UseAsMenu: Later<UseAsProps> = later(async () => (await import('./use-as-menu.tsx')).UseAsMenu, {
  fallback: () => <Closed onOpen={() => undefined} />,
});

/** Takes a file into a form, in whichever of its places. The menu is loaded when somebody is about to open it. */
export function UseAs({ media }: UseAsProps) {
  const [isWanted, setWanted] = useState(false);
  return isWanted ? <UseAsMenu media={media} /> : <Closed onOpen={() => setWanted(true)} />;
}

function Closed({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <Button
      size="small"
      aria-haspopup="dialog"
      aria-expanded={false}
      onPointerEnter={UseAsMenu.prepare}
      onFocus={UseAsMenu.prepare}
      onClick={onOpen}
    >
      <Icon name="input" size={14} />
      {t('use.title')}
    </Button>
  );
}
