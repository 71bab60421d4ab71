import { useMutation } from '@apollo/client/react';
import { useId, useState } from 'react';

import { ShareBoardDocument, UnshareBoardDocument } from '../../../api/documents/gallery.ts';
import type { BoardPartsFragment } from '../../../api/documents/operations.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Input } from '../../../parts/looks/inputs.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { ShareAddress, ShareChoice } from '../open/share-dialog.tsx';

interface NameDialogProps {
  readonly title: string;
  readonly name: string;
  /** Whether the name was taken; else the dialog stays. */
  readonly onName: (name: string) => Promise<boolean>;
  /** Why the last change of a board was refused: shown once that of this dialog was. */
  readonly error: unknown;
  readonly onClose: () => void;
}

const MOST = 100;

/** Asks for the name of a board. */
export function NameDialog({ title, name, onName, error, onClose }: NameDialogProps) {
  const field = useId();
  const [text, setText] = useState(name);
  const [state, setState] = useState<'open' | 'busy' | 'refused'>('open');
  const save = async () => {
    if (state === 'busy') return;
    setState('busy');
    if (await onName(text.trim())) onClose();
    else setState('refused');
  };
  return (
    <Modal title={title} onClose={onClose}>
      <form
        className="flex items-center gap-2 min-w-0"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label className="sr-only" htmlFor={field}>
          {t('board.name')}
        </label>
        <Input
          id={field}
          className="flex-1 min-w-0"
          // The dialog was opened to write it.
          ref={(input) => input?.focus()}
          required
          maxLength={MOST}
          placeholder={t('board.name')}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" kind="primary" disabled={state === 'busy' || text.trim() === ''}>
          {t('board.save')}
        </Button>
      </form>
      {state === 'refused' && <Problem error={error} />}
    </Modal>
  );
}

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
