import { useState } from 'react';

import { Compare, MOST_COMPARED } from '../../../library/compare.tsx';
import { SelectionRegion } from '../../../parts/controls/selection.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Figures } from '../../../parts/looks/lines.tsx';
import { t } from '../../../text/text.ts';
import { listFacts, type Shot } from './shots.ts';

interface ComparedProps {
  readonly shots: readonly Shot[];
  readonly onClear: () => void;
}

/** What is ticked in the strip, and what can be done with it. */
export function Compared({ shots, onClear }: ComparedProps) {
  const [isOpen, setOpen] = useState(false);
  const pieces = shots.flatMap((shot) =>
    shot.media === null ? [] : [{ media: shot.media, name: listFacts(shot).join(' · ') }],
  );
  return (
    <SelectionRegion label={t('compare.title')}>
      <Figures role="status">
        {t(pieces.length > MOST_COMPARED ? 'compare.tooMany' : 'gallery.selected', {
          count: pieces.length,
          most: MOST_COMPARED,
        })}
      </Figures>
      <Button
        kind="primary"
        size="small"
        disabled={pieces.length < 2 || pieces.length > MOST_COMPARED}
        onClick={() => setOpen(true)}
      >
        <Icon name="compare" size={14} />
        {t('compare.open')}
      </Button>
      <Button kind="ghost" size="small" onClick={onClear}>
        {t('gallery.clear')}
      </Button>
      {isOpen && <Compare pieces={pieces} onClose={() => setOpen(false)} />}
    </SelectionRegion>
  );
}
