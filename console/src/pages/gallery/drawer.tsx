import { useNavigate } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';

import { Icon } from '../../parts/icons.tsx';
import { MediaView } from '../../parts/media-view.tsx';
import { bytesText, exactTime } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { batchOfTask } from '../../work/batches.ts';
import { setDraft } from '../../work/drafts.ts';
import { tabOf } from '../../work/work.ts';
import { nameOfPiece } from './gallery-item.tsx';
import type { Piece } from './use-pieces.ts';

/** A piece beside the grid: large, what it is, and what can be made of it. */
export function Drawer({ piece, onClose }: { readonly piece: Piece; readonly onClose: () => void }) {
  const { media, task } = piece;
  return (
    <aside className="drawer" aria-label={t('gallery.details')}>
      <div className="view">
        <MediaView media={media} alt={nameOfPiece(task)} />
        <button
          type="button"
          className="onpic ico drawer-close"
          onClick={onClose}
          aria-label={t('gallery.close')}
        >
          <Icon name="close" size={14} />
        </button>
      </div>
      <Actions piece={piece} />
      <section>
        <h2>{t('field.prompt')}</h2>
        <p className="c14">{nameOfPiece(task)}</p>
      </section>
      <section>
        <h2>{t('task.facts')}</h2>
        <dl className="kv">
          <dt>{t('task.generator')}</dt>
          <dd>{task.generator}</dd>
          {media.width !== null && (
            <>
              <dt>{t('field.resolution')}</dt>
              <dd>
                {media.width} × {media.height}
              </dd>
            </>
          )}
          <dt>{t('gallery.file')}</dt>
          <dd>
            {media.contentType} · {bytesText(media.bytes)}
          </dd>
          <dt>{t('task.created')}</dt>
          <dd>{exactTime(media.createdAt)}</dd>
          <dt>SHA-256</dt>
          <dd className="mono cut" title={media.sha256}>
            {media.sha256}
          </dd>
          <dt>{t('task.task')}</dt>
          <dd>
            <Link className="link" to="/tasks/$id" params={{ id: task.id }}>
              {t('task.open')}
            </Link>
          </dd>
        </dl>
      </section>
    </aside>
  );
}

function Actions({ piece: { media, task } }: { readonly piece: Piece }) {
  const navigate = useNavigate();
  const batch = batchOfTask(task.id);
  const remix = () => {
    if (batch === undefined) return;
    const tab = tabOf(batch.kind);
    setDraft(tab, { key: `${batch.kind} ${batch.generator} ${batch.model}`, values: batch.values });
    void navigate({ to: '/', search: { kind: tab } });
  };
  const useAsInput = () => {
    const { id, url, contentType, bytes } = media;
    const file = { id, url, contentType, bytes };
    setDraft('video', { key: '', values: { image: file } });
    void navigate({ to: '/', search: { kind: 'video' } });
  };
  return (
    <section>
      <div className="acts">
        <button type="button" className="btn pri" onClick={remix} disabled={batch === undefined}>
          <Icon name="remix" size={14} />
          {t('studio.remix')}
        </button>
        <button
          type="button"
          className="btn"
          onClick={useAsInput}
          disabled={!media.contentType.startsWith('image/')}
        >
          <Icon name="input" size={14} />
          {t('gallery.toVideo')}
        </button>
        <a className="btn" href={media.url} download>
          <Icon name="download" size={14} />
          {t('media.download')}
        </a>
      </div>
    </section>
  );
}
