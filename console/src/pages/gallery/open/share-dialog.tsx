import { useMutation, useQuery } from '@apollo/client/react';

import { RevokeShareDocument, ShareMediaDocument, SharesDocument } from '../../../api/documents/gallery.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { ShareAddress, ShareChoice } from './share-parts.tsx';

/** Addresses to be passed on, which end or are revoked; who is given one learns nothing else. */
export function ShareDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const listed = useQuery(SharesDocument, { variables: { mediaId: id }, fetchPolicy: 'network-only' });
  const changed = { refetchQueries: [SharesDocument], awaitRefetchQueries: true };
  const [share, made] = useMutation(ShareMediaDocument, changed);
  const [revoke, revoked] = useMutation(RevokeShareDocument, changed);
  const error = listed.error ?? made.error ?? revoked.error;
  return (
    <Modal title={t('gallery.share')} onClose={onClose}>
      <ShareChoice
        help={t('gallery.shareText')}
        isMaking={made.loading}
        onMake={(seconds) => void share({ variables: { id, seconds } }).catch(() => undefined)}
      />
      {(listed.data?.shares ?? []).map((one) => (
        <ShareAddress
          key={one.id}
          share={one}
          onRevoke={() => void revoke({ variables: { id: one.id } }).catch(() => undefined)}
        />
      ))}
      {error !== undefined && <Problem error={error} />}
    </Modal>
  );
}
