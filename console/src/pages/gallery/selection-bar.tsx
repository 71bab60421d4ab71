import { useState } from 'react';

import { useIsSignedIn } from '../../api/credential.ts';
import { downloadFiles } from '../../library/download.ts';
import type { Piece } from '../../library/pieces.ts';
import { Icon } from '../../parts/icons.tsx';
import { problemText } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { DeleteDialog } from './delete/delete-dialog.tsx';

interface SelectionBarProps {
  readonly pieces: readonly Piece[];
  readonly onClear: () => void;
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
}

/** What can be done with all that is ticked. */
export function SelectionBar({ pieces, onClear, onDeleted }: SelectionBarProps) {
  const isSignedIn = useIsSignedIn();
  const [isBusy, setIsBusy] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const run = (work: () => Promise<void>) => {
    setIsBusy(true);
    setFailure(null);
    work()
      .catch((error: unknown) => setFailure(problemText(error)))
      .finally(() => setIsBusy(false));
  };
  return (
    <div className="bulk" role="region" aria-label={t('gallery.selection')}>
      <span className="num" role="status">
        {failure ?? t('gallery.selected', { count: pieces.length })}
      </span>
      <button
        type="button"
        className="btn sm"
        disabled={isBusy}
        onClick={() => run(() => downloadFiles(pieces.map(({ media }) => media)))}
      >
        <Icon name="download" size={14} />
        {t('media.download')}
      </button>
      {isSignedIn && (
        <button type="button" className="btn sm bad" disabled={isBusy} onClick={() => setIsDeleting(true)}>
          <Icon name="trash" size={14} />
          {t('gallery.delete')}
        </button>
      )}
      <button type="button" className="btn sm ghost" onClick={onClear}>
        {t('gallery.clear')}
      </button>
      {isDeleting && (
        <DeleteDialog pieces={pieces} onClose={() => setIsDeleting(false)} onDeleted={onDeleted} />
      )}
    </div>
  );
}
