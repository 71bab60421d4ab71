import { useState } from 'react';

import type { BoardPartsFragment } from '../../../api/documents/operations.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { t } from '../../../text/text.ts';
import { BoardShareDialog } from './board-share-dialog.tsx';
import { NameDialog } from './name-dialog.tsx';
import type { Boards } from './use-boards.ts';

interface BoardHeadProps {
  readonly board: BoardPartsFragment;
  readonly boards: Boards;
  /** Called when it is no more. */
  readonly onGone: () => void;
}

/** The board that is open: its name, and what can be done with all of it. */
export function BoardHead({ board, boards, onGone }: BoardHeadProps) {
  const [over, setOver] = useState<'name' | 'share' | 'delete' | null>(null);
  const close = () => setOver(null);
  return (
    <div className="flex flex-wrap items-center gap-2 pb-2 [&_h2]:text-16 [&_h2]:font-semibold [&_h2]:mr-2">
      <h2 className="truncate min-w-0">{board.name}</h2>
      <Button size="small" onClick={() => setOver('share')}>
        <Icon name="share" size={14} />
        {t('gallery.shareIt')}
      </Button>
      <Button kind="ghost" size="small" onClick={() => setOver('name')}>
        {t('board.rename')}
      </Button>
      <Button kind="ghost-bad" size="small" onClick={() => setOver('delete')}>
        {t('board.delete')}
      </Button>
      {over === 'name' && (
        <NameDialog
          title={t('board.rename')}
          name={board.name}
          onClose={close}
          onName={(name) => boards.rename(board.id, name)}
        />
      )}
      {over === 'share' && <BoardShareDialog board={board} onClose={close} />}
      {over === 'delete' && (
        <Modal
          title={t('board.deleteSure', { name: board.name })}
          onClose={close}
          foot={
            <Button
              kind="bad"
              onClick={() => void boards.remove(board.id).then((isGone) => isGone && onGone())}
            >
              {t('board.delete')}
            </Button>
          }
        >
          <p className="text-muted">{t('board.deleteText')}</p>
        </Modal>
      )}
    </div>
  );
}
