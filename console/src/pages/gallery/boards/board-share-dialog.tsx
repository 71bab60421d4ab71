import { useMutation } from '@apollo/client/react';
import { useId, useState } from 'react';

import {
  type BoardPartsFragment,
  ShareBoardDocument,
  UnshareBoardDocument,
} from '../../../api/operations.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { SHARE_TIMES, WEEK_SECONDS } from '../open/share-times.ts';

interface BoardShareDialogProps {
  readonly board: BoardPartsFragment;
  readonly onClose: () => void;
}

/** The address of a board, which ends or is revoked; whoever is given it sees the board without signing in. */
export function BoardShareDialog({ board: { id, share }, onClose }: BoardShareDialogProps) {
  const field = useId();
  const [seconds, setSeconds] = useState<number>(WEEK_SECONDS);
  const [make, made] = useMutation(ShareBoardDocument);
  const [revoke, revoked] = useMutation(UnshareBoardDocument);
  const error = made.error ?? revoked.error;
  return (
    <Modal title={t('board.share')} onClose={onClose}>
      <div className="field">
        <label htmlFor={`${field}-time`}>{t('gallery.shareFor')}</label>
        <div className="row">
          <select
            id={`${field}-time`}
            className="in grow"
            value={seconds}
            onChange={({ target }) => setSeconds(Number(target.value))}
          >
            {SHARE_TIMES.map(([name, value]) => (
              <option key={name} value={value}>
                {t(`gallery.share.${name}`)}
              </option>
            ))}
          </select>
          <button
            type="button"
            className="btn pri"
            disabled={made.loading}
            onClick={() => void make({ variables: { id, seconds } }).catch(() => undefined)}
          >
            {t('gallery.shareMake')}
          </button>
        </div>
        <p className="help">{t('board.shareText')}</p>
      </div>
      {share !== null && (
        <div className="field">
          <label htmlFor={field}>
            {t('gallery.shareAddress')} · {t('gallery.shareEnds')} <Ago at={share.endsAt} />
          </label>
          <div className="row">
            <input
              id={field}
              className="in mono grow"
              readOnly
              value={share.url}
              onFocus={({ target }) => target.select()}
            />
            <CopyButton text={share.url} />
            <button
              type="button"
              className="btn"
              onClick={() => void revoke({ variables: { id } }).catch(() => undefined)}
            >
              {t('gallery.shareRevoke')}
            </button>
          </div>
        </div>
      )}
      {error !== undefined && <Problem error={error} />}
    </Modal>
  );
}
