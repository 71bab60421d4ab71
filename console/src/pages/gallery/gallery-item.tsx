import { Link } from '@tanstack/react-router';
import type { CSSProperties } from 'react';

import type { MediaPartsFragment, TaskPartsFragment } from '../../api/operations.ts';
import { Icon } from '../../parts/icons.tsx';
import { t } from '../../text/text.ts';
import { batchOfTask, titleOf } from '../../work/batches.ts';

/** The kinds of file that the gallery filters by. */
export type FileKind = 'image' | 'video' | 'audio';

interface GalleryItemProps {
  readonly media: MediaPartsFragment;
  readonly task: TaskPartsFragment;
  readonly kind: FileKind | undefined;
}

const SOUND_SHAPE = 1.6;

/** One file in the justified grid, in the shape it was measured to have. */
export function GalleryItem({ media, task, kind }: GalleryItemProps) {
  const { id, url, contentType, width, height, duration } = media;
  const shape = width === null || height === null ? SOUND_SHAPE : width / height;
  const name = nameOfPiece(task);
  return (
    <Link
      to="/gallery"
      search={kind === undefined ? { open: id } : { open: id, kind }}
      replace
      aria-label={name}
      activeOptions={{ exact: true, includeSearch: true }}
      style={{ '--r': shape } as CSSProperties}
    >
      {contentType.startsWith('image/') && <img src={url} alt="" loading="lazy" decoding="async" />}
      {contentType.startsWith('video/') && (
        <>
          <video
            className="g-video"
            src={`${url}#t=0.1`}
            muted
            playsInline
            preload="metadata"
            tabIndex={-1}
          />
          <span className="onpic row mk">
            <Icon name="play" size={12} />
            {duration === null ? '' : `${duration.toFixed(0)} s`}
          </span>
        </>
      )}
      {contentType.startsWith('audio/') && (
        <span className="wavecard">
          <Icon name="speech" />
          <span className="cut2">{name}</span>
          <span className="c12 num">{duration === null ? '' : `${duration.toFixed(1)} s`}</span>
        </span>
      )}
    </Link>
  );
}

/** What a piece is called. */
export function nameOfPiece(task: TaskPartsFragment): string {
  const batch = batchOfTask(task.id);
  return (batch === undefined ? null : titleOf(batch)) ?? t(`kind.${task.kind}`);
}
