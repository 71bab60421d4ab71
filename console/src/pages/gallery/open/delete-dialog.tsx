import { useState } from 'react';

import { client } from '../../../api/client.ts';
import { DeleteMediaDocument } from '../../../api/documents/gallery.ts';
import { refusalCode } from '../../../api/refusal.ts';
import type { Piece } from '../../../library/piece.tsx';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Figures } from '../../../parts/looks/lines.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';

interface DeleteDialogProps {
  readonly pieces: readonly Piece[];
  readonly onClose: () => void;
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
}

/** Asks before files are deleted for good, and shows what goes. */
export function DeleteDialog({ pieces, onClose, onDeleted }: DeleteDialogProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const remove = async () => {
    setIsBusy(true);
    const { deleted, failed: why } = await deletePieces(pieces);
    setIsBusy(false);
    setFailed(why);
    if (deleted.size > 0) onDeleted(deleted);
    if (why === null) onClose();
  };
  return (
    <Modal
      title={t('gallery.deleteMany', { count: pieces.length })}
      onClose={onClose}
      foot={
        <Button kind="bad" disabled={isBusy} onClick={() => void remove()}>
          <Icon name="trash" size={14} />
          {t('gallery.delete')}
        </Button>
      }
    >
      <p className="text-muted">{t('gallery.deleteText')}</p>
      <div className="flex items-center gap-1 overflow-x-auto">
        {pieces.slice(0, SHOWN).map(({ media }) => (
          <span key={media.id}>
            {media.small !== null && (
              <img className="size-16 rounded-small object-cover" src={media.small} alt={media.name} />
            )}
          </span>
        ))}
        {pieces.length > SHOWN && <Figures tone="muted">+{pieces.length - SHOWN}</Figures>}
      </div>
      {failed !== null && <Problem error={failed} />}
    </Modal>
  );
}

const SHOWN = 6;

/** Which files are deleted, and why another one is not. */
interface Deletion {
  readonly deleted: ReadonlySet<string>;
  readonly failed: unknown;
}

/** Deletes files one after the other, and stops at the first that is refused. */
async function deletePieces(pieces: readonly Piece[]): Promise<Deletion> {
  const deleted = new Set<string>();
  for (const { media } of pieces) {
    try {
      await client.mutate({ mutation: DeleteMediaDocument, variables: { id: media.id } });
    } catch (failed) {
      // Somebody has deleted it before, in another tab.
      if (refusalCode(failed) !== 'NOT_FOUND') return { deleted, failed };
    }
    deleted.add(media.id);
  }
  return { deleted, failed: null };
}
