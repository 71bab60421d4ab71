import { useMutation } from '@apollo/client/react';

import { ShareBoardDocument, UnshareBoardDocument } from '../../../api/documents/gallery.ts';
import type { BoardPartsFragment } from '../../../api/documents/operations.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { ShareAddress, ShareChoice } from '../open/share-parts.tsx';

interface BoardShareDialogProps {
  readonly board: BoardPartsFragment;
  readonly onClose: () => void;
}

/** The address of a board, which ends or is revoked; whoever is given it sees the board without signing in. */
export function BoardShareDialog({ board: { id, share }, onClose }: BoardShareDialogProps) {
  const [make, made] = useMutation(ShareBoardDocument);
  const [revoke, revoked] = useMutation(UnshareBoardDocument);
  const error = made.error ?? revoked.error;
  return (
    <Modal title={t('board.share')} onClose={onClose}>
      <ShareChoice
        help={t('board.shareText')}
        isMaking={made.loading}
        onMake={(seconds) => void make({ variables: { id, seconds } }).catch(() => undefined)}
      />
      {share !== null && (
        <ShareAddress
          share={share}
          onRevoke={() => void revoke({ variables: { id } }).catch(() => undefined)}
        />
      )}
      {error !== undefined && <Problem error={error} />}
    </Modal>
  );
}
