import { useQuery } from '@apollo/client/react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { useCredentialKind } from '../../../api/credential.ts';
import { ModelsDocument, type TaskInputsQuery } from '../../../api/operations.ts';
import type { Piece } from '../../../library/use-pieces.ts';
import { Icon } from '../../../parts/icons.tsx';
import { t } from '../../../text/text.ts';
import { setDraft } from '../../../work/drafts.ts';
import { recallTask } from '../../../work/recall.ts';
import { formWith, storedFile } from '../../../work/reuse.ts';
import type { Tab, Values } from '../../../work/work.ts';
import { DeleteDialog } from '../delete/delete-dialog.tsx';
import { ShareDialog } from './share-dialog.tsx';

interface ActionsProps {
  readonly piece: Piece;
  readonly source: TaskInputsQuery['task'];
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
}

/** What can be made of a piece, and how it leaves. */
export function Actions({ piece, source, onDeleted }: ActionsProps) {
  const { media } = piece;
  const navigate = useNavigate();
  const kind = useCredentialKind();
  const [over, setOver] = useState<'share' | 'delete' | null>(null);
  const recalled = source === null ? null : recallTask(source);
  const isImage = media.contentType.startsWith('image/');
  const { data } = useQuery(ModelsDocument);
  const form = formWith(media, 'image', data?.models ?? []);
  const go = (tab: Tab, key: string, values: Values) => {
    setDraft(tab, { key, values });
    void navigate({ to: '/', search: { kind: tab } });
  };
  const useAsInput = () => {
    if (form !== null) go(form.tab, form.draft.key, form.draft.values);
  };
  const toVideo = () => go('video', '', { image: storedFile(media) });
  return (
    <section>
      <div className="acts">
        <button
          type="button"
          className="btn pri"
          disabled={recalled === null}
          onClick={() => recalled !== null && go(recalled.tab, recalled.draft.key, recalled.draft.values)}
        >
          <Icon name="remix" size={14} />
          {t('studio.remix')}
        </button>
        <button type="button" className="btn" disabled={form === null} onClick={useAsInput}>
          <Icon name="input" size={14} />
          {t('gallery.asInput')}
        </button>
        <button type="button" className="btn" disabled={!isImage} onClick={toVideo}>
          <Icon name="video" size={14} />
          {t('gallery.toVideo')}
        </button>
        <a className="btn" href={media.url} download={media.name}>
          <Icon name="download" size={14} />
          {t('media.download')}
        </a>
        <button type="button" className="btn" onClick={() => setOver('share')}>
          <Icon name="share" size={14} />
          {t('gallery.shareIt')}
        </button>
        {kind !== null && (
          <button type="button" className="btn bad" onClick={() => setOver('delete')}>
            <Icon name="trash" size={14} />
            {t('gallery.delete')}
          </button>
        )}
      </div>
      {over === 'share' && <ShareDialog id={media.id} onClose={() => setOver(null)} />}
      {over === 'delete' && (
        <DeleteDialog pieces={[piece]} onClose={() => setOver(null)} onDeleted={onDeleted} />
      )}
    </section>
  );
}
