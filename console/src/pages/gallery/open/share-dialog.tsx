import { useMutation, useQuery } from '@apollo/client/react';
import { useId, useState } from 'react';

import {
  RevokeShareDocument,
  ShareMediaDocument,
  SharesDocument,
  type SharePartsFragment,
} from '../../../api/operations.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { SHARE_TIMES, WEEK_SECONDS } from './share-times.ts';

/** Addresses to be passed on, which end or are revoked; who is given one learns nothing else. */
export function ShareDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const field = useId();
  const [seconds, setSeconds] = useState<number>(WEEK_SECONDS);
  const listed = useQuery(SharesDocument, { variables: { mediaId: id }, fetchPolicy: 'network-only' });
  const changed = { refetchQueries: [SharesDocument], awaitRefetchQueries: true };
  const [share, made] = useMutation(ShareMediaDocument, changed);
  const [revoke, revoked] = useMutation(RevokeShareDocument, changed);
  const error = listed.error ?? made.error ?? revoked.error;
  return (
    <Modal title={t('gallery.share')} onClose={onClose}>
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
            onClick={() => void share({ variables: { id, seconds } }).catch(() => undefined)}
          >
            {t('gallery.shareMake')}
          </button>
        </div>
        <p className="help">{t('gallery.shareText')}</p>
      </div>
      {(listed.data?.shares ?? []).map((one) => (
        <Address
          key={one.id}
          share={one}
          onRevoke={() => void revoke({ variables: { id: one.id } }).catch(() => undefined)}
        />
      ))}
      {error !== undefined && <Problem error={error} />}
    </Modal>
  );
}

function Address({
  share: { url, endsAt },
  onRevoke,
}: {
  readonly share: SharePartsFragment;
  readonly onRevoke: () => void;
}) {
  const field = useId();
  return (
    <div className="field">
      <label htmlFor={field}>
        {t('gallery.shareAddress')} · {t('gallery.shareEnds')} <Ago at={endsAt} />
      </label>
      <div className="row">
        <input
          id={field}
          className="in mono grow"
          readOnly
          value={url}
          aria-label={t('gallery.shareAddress')}
          onFocus={({ target }) => target.select()}
        />
        <CopyButton text={url} />
        <button type="button" className="btn" onClick={onRevoke}>
          {t('gallery.shareRevoke')}
        </button>
      </div>
    </div>
  );
}
