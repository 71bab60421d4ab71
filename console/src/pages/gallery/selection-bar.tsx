import { useState } from 'react';

import { useIsSignedIn } from '../../api/caller.ts';
import type { BoardPartsFragment } from '../../api/documents/operations.ts';
import { downloadFiles } from '../../library/download.ts';
import { namePiece, type Piece } from '../../library/piece.tsx';
import { SelectionRegion } from '../../parts/controls/selection.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Figures } from '../../parts/looks/lines.tsx';
import { later } from '../../parts/page/later.tsx';
import { problemText } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { PutOnBoard } from './boards/put-on-board.tsx';
import type { Boards } from './boards/use-boards.ts';
import { DeleteDialog } from './open/delete-dialog.tsx';

const Compare = later(async () => (await import('../../library/compare.tsx')).Compare);
/** Most images that are compared at once. */
const MOST_COMPARED = 4;

interface SelectionBarProps {
  readonly pieces: readonly Piece[];
  readonly boards: Boards;
  /** The board that is open. */
  readonly board: BoardPartsFragment | undefined;
  /** Puts files on a board. */
  readonly onPut: (board: string, ids: readonly string[]) => Promise<void>;
  /** Called with what is on the open board no more. */
  readonly onLeft: (ids: ReadonlySet<string>) => void;
  readonly onClear: () => void;
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
}

/** What can be done with all that is ticked. */
export function SelectionBar(props: SelectionBarProps) {
  const { pieces, boards, board, onPut, onLeft, onClear, onDeleted } = props;
  const isSignedIn = useIsSignedIn();
  const [isBusy, setIsBusy] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  const [isComparing, setIsComparing] = useState(false);
  const images = pieces
    .filter(({ media }) => media.contentType.startsWith('image/'))
    .map((piece) => ({ media: piece.media, name: namePiece(piece) }));
  const [failure, setFailure] = useState<string | null>(null);
  const run = (work: () => Promise<void>) => {
    setIsBusy(true);
    setFailure(null);
    work()
      .catch((error: unknown) => setFailure(problemText(error)))
      .finally(() => setIsBusy(false));
  };
  return (
    <SelectionRegion label={t('gallery.selection')}>
      <Figures role="status">{failure ?? t('gallery.selected', { count: pieces.length })}</Figures>
      <Button
        size="small"
        disabled={isBusy}
        onClick={() => run(() => downloadFiles(pieces.map(({ media }) => media)))}
      >
        <Icon name="download" size={14} />
        {t('media.download')}
      </Button>
      {images.length > 1 && images.length <= MOST_COMPARED && (
        <Button size="small" onClick={() => setIsComparing(true)}>
          <Icon name="compare" size={14} />
          {t('compare.open')}
        </Button>
      )}
      {isSignedIn && (
        <PutOnBoard pieces={pieces} boards={boards} board={board} onPut={onPut} onLeft={onLeft} />
      )}
      {isSignedIn && (
        <Button kind="bad" size="small" disabled={isBusy} onClick={() => setIsDeleting(true)}>
          <Icon name="trash" size={14} />
          {t('gallery.delete')}
        </Button>
      )}
      <Button kind="ghost" size="small" onClick={onClear}>
        {t('gallery.clear')}
      </Button>
      {isComparing && <Compare pieces={images} onClose={() => setIsComparing(false)} />}
      {isDeleting && (
        <DeleteDialog pieces={pieces} onClose={() => setIsDeleting(false)} onDeleted={onDeleted} />
      )}
    </SelectionRegion>
  );
}
