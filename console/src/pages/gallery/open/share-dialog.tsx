import { useQuery } from '@apollo/client/react';
import { useId, useState } from 'react';

import { ShareUrlDocument } from '../../../api/operations.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';

const HOUR = 3_600;
const TIMES = [
  ['hour', HOUR],
  ['day', 24 * HOUR],
  ['week', 7 * 24 * HOUR],
  ['month', 30 * 24 * HOUR],
] as const;

/** An address to be passed on, which ends; who is given it learns nothing else. */
export function ShareDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const field = useId();
  const [seconds, setSeconds] = useState<number>(7 * 24 * HOUR);
  const { data, error } = useQuery(ShareUrlDocument, {
    variables: { id, seconds },
    fetchPolicy: 'no-cache',
  });
  const address = data?.media?.shareUrl ?? '';
  return (
    <Modal title={t('gallery.share')} onClose={onClose}>
      <div className="field">
        <label htmlFor={`${field}-time`}>{t('gallery.shareFor')}</label>
        <select
          id={`${field}-time`}
          className="in"
          value={seconds}
          onChange={({ target }) => setSeconds(Number(target.value))}
        >
          {TIMES.map(([name, value]) => (
            <option key={name} value={value}>
              {t(`gallery.share.${name}`)}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${field}-address`}>{t('gallery.shareAddress')}</label>
        <div className="row">
          <input
            id={`${field}-address`}
            className="in mono grow"
            readOnly
            value={address}
            aria-describedby={`${field}-help`}
            onFocus={({ target }) => target.select()}
          />
          <CopyButton text={address} />
        </div>
        <p className="help" id={`${field}-help`}>
          {t('gallery.shareText')}
        </p>
      </div>
      {error !== undefined && <Problem error={error} />}
    </Modal>
  );
}
