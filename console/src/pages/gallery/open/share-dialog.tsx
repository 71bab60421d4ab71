import { useMutation, useQuery } from '@apollo/client/react';
import { useId, useState } from 'react';

import { RevokeShareDocument, ShareMediaDocument, SharesDocument } from '../../../api/documents/gallery.ts';
import { CopyButton } from '../../../parts/buttons.tsx';
import { Modal } from '../../../parts/controls/modal.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Field, Help, Input, Label, Select } from '../../../parts/looks/inputs.tsx';
import { Row } from '../../../parts/looks/lines.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';

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

/** What the dialogs have that make addresses to be passed on, of files and of boards. */

const HOUR = 3_600;

/** How long addresses that are passed on are good for, in seconds, by the names of their texts. */
const SHARE_TIMES = [
  ['hour', HOUR],
  ['day', 24 * HOUR],
  ['week', 7 * 24 * HOUR],
  ['month', 30 * 24 * HOUR],
] as const;

/** What is offered first. */
const WEEK_SECONDS: number = 7 * 24 * HOUR;

interface ShareChoiceProps {
  /** What an address shows. */
  readonly help: string;
  readonly isMaking: boolean;
  readonly onMake: (seconds: number) => void;
}

/** How long an address shall be good, and the button that makes one. */
export function ShareChoice({ help, isMaking, onMake }: ShareChoiceProps) {
  const field = useId();
  const [seconds, setSeconds] = useState<number>(WEEK_SECONDS);
  return (
    <Field>
      <Label htmlFor={field}>{t('gallery.shareFor')}</Label>
      <Row>
        <Select
          id={field}
          className="flex-1 min-w-0"
          value={seconds}
          onChange={({ target }) => setSeconds(Number(target.value))}
          options={SHARE_TIMES.map(([name, value]) => [value, t(`gallery.share.${name}`)])}
        />
        <Button kind="primary" disabled={isMaking} onClick={() => onMake(seconds)}>
          {t('gallery.shareMake')}
        </Button>
      </Row>
      <Help>{help}</Help>
    </Field>
  );
}

interface ShareAddressProps {
  readonly share: { readonly url: string; readonly endsAt: string };
  readonly onRevoke: () => void;
}

/** One address, when it ends, and the button that ends it. */
export function ShareAddress({ share: { url, endsAt }, onRevoke }: ShareAddressProps) {
  const field = useId();
  return (
    <Field>
      <Label htmlFor={field}>
        {t('gallery.shareAddress')} · {t('gallery.shareEnds')} <Ago at={endsAt} />
      </Label>
      <Row>
        <Input
          id={field}
          className="font-mono flex-1 min-w-0"
          readOnly
          value={url}
          aria-label={t('gallery.shareAddress')}
          onFocus={({ target }) => target.select()}
        />
        <CopyButton text={url} />
        <Button onClick={onRevoke}>{t('gallery.shareRevoke')}</Button>
      </Row>
    </Field>
  );
}
