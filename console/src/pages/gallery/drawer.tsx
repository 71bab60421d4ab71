import { useQuery } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { TaskInputsDocument, type TaskInputsQuery } from '../../api/operations.ts';
import { nameOfPiece } from '../../library/piece.tsx';
import type { Piece } from '../../library/use-pieces.ts';
import { Icon } from '../../parts/icons.tsx';
import { MediaView } from '../../parts/media-view.tsx';
import { bytesText, exactTime } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { Actions } from './actions.tsx';
import { Viewer } from './viewer.tsx';

type SourceTask = NonNullable<TaskInputsQuery['task']>;

interface DrawerProps {
  readonly piece: Piece;
  readonly onClose: () => void;
  readonly onDeleted: (ids: ReadonlySet<string>) => void;
}

/** A piece beside the grid: large, what it is and was made from, and what can be made of it. */
export function Drawer({ piece, onClose, onDeleted }: DrawerProps) {
  const { media, task } = piece;
  const [isLarge, setIsLarge] = useState(false);
  const { data } = useQuery(TaskInputsDocument, { variables: { id: task?.id ?? '' }, skip: task === null });
  const source = data?.task ?? null;
  const name = nameOfPiece(piece);
  return (
    <aside className="drawer" aria-label={t('gallery.details')}>
      <div className="view">
        {media.contentType.startsWith('image/') ? (
          <button
            type="button"
            className="view-picture"
            onClick={() => setIsLarge(true)}
            aria-label={t('gallery.zoom')}
          >
            <MediaView media={media} alt={name} />
          </button>
        ) : (
          <MediaView media={media} alt={name} />
        )}
        <button
          type="button"
          className="onpic ico drawer-close"
          onClick={onClose}
          aria-label={t('gallery.close')}
        >
          <Icon name="close" size={14} />
        </button>
      </div>
      {isLarge && <Viewer url={media.url} name={name} onClose={() => setIsLarge(false)} />}
      <Actions piece={piece} source={source} onDeleted={onDeleted} />
      <section>
        <h2>{task === null ? t('gallery.upload') : t('field.prompt')}</h2>
        <p className="c14">{name}</p>
      </section>
      {source !== null && <Lineage source={source} />}
      <Facts piece={piece} source={source} />
    </aside>
  );
}

/** From which files it was made. */
function Lineage({ source: { input } }: { readonly source: SourceTask }) {
  const files = (input?.files ?? []).filter(({ media }) => media !== null);
  if (files.length === 0) return null;
  return (
    <section>
      <h2>{t('gallery.madeFrom')}</h2>
      <div className="lin">
        {files.map(({ input: name, media }) => (
          <figure key={`${name} ${media?.id}`}>
            <a href={media?.url} target="_blank" rel="noreferrer">
              {media?.thumbnail ? <img src={media.thumbnail} alt={name} /> : media?.name}
            </a>
            <figcaption>{name}</figcaption>
          </figure>
        ))}
      </div>
    </section>
  );
}

function Facts({
  piece: { media, task },
  source,
}: {
  readonly piece: Piece;
  readonly source: SourceTask | null;
}) {
  const settings = Object.entries((source?.input?.options ?? {}) as Readonly<Record<string, unknown>>).filter(
    ([, value]) => typeof value !== 'object',
  );
  return (
    <section>
      <h2>{t('task.facts')}</h2>
      <dl className="kv">
        {task !== null && <Fact name={t('task.generator')} value={task.generator} />}
        {source?.model && <Fact name={t('gallery.model')} value={source.model} />}
        {source?.provider && <Fact name={t('task.provider')} value={source.provider} />}
        {settings.map(([name, value]) => (
          <Fact key={name} name={name} value={String(value)} />
        ))}
        {media.width !== null && (
          <Fact name={t('field.resolution')} value={`${media.width} × ${media.height}`} />
        )}
        <Fact name={t('gallery.file')} value={`${media.contentType} · ${bytesText(media.bytes)}`} />
        <Fact name={t('task.created')} value={exactTime(media.createdAt)} />
        <dt>SHA-256</dt>
        <dd className="mono cut" title={media.sha256}>
          {media.sha256}
        </dd>
        {task !== null && (
          <>
            <dt>{t('task.task')}</dt>
            <dd>
              <Link className="link" to="/tasks/$id" params={{ id: task.id }}>
                {t('task.open')}
              </Link>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
