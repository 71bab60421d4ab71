import { Link } from '@tanstack/react-router';
import { memo, type MouseEvent } from 'react';

import { nameOfPiece, Preview } from '../../library/piece.tsx';
import type { Piece } from '../../library/pieces.ts';
import { Icon } from '../../parts/icons.tsx';
import { t } from '../../text/text.ts';
import { drag } from './boards/dragged.ts';

/** The kinds of file that the gallery filters by. */
export type FileKind = 'image' | 'video' | 'audio';

interface GalleryItemProps {
  readonly piece: Piece;
  readonly width: number;
  readonly height: number;
  readonly isSelected: boolean;
  readonly onSelect: (id: string, isRange: boolean) => void;
  readonly isStarred: boolean;
  /** Absent for visitors, who have no stars. */
  readonly onStar: ((id: string, starred: boolean) => void) | undefined;
  /** Ids of all that is dragged with this one. */
  readonly dragWith: (id: string) => readonly string[];
}

/** One file in the justified grid: it opens beside it, its tick selects it. Scrolling draws again what is new alone. */
export const GalleryItem = memo(function GalleryItem({
  piece,
  width,
  height,
  isSelected,
  onSelect,
  isStarred,
  onStar,
  dragWith,
}: GalleryItemProps) {
  const { id } = piece.media;
  const name = nameOfPiece(piece);
  const select = (event: MouseEvent) => onSelect(id, event.shiftKey);
  return (
    <div
      className="g-item relative flex-none [&:hover_.g-tick]:opacity-100"
      style={{ width, height }}
      draggable
      onDragStart={(event) => drag(event, dragWith(id))}
    >
      <Link
        from="/gallery"
        to="/gallery"
        search={(before) => ({ ...before, open: id })}
        replace
        resetScroll={false}
        activeOptions={{ exact: true, includeSearch: true }}
      >
        <Preview piece={piece} name={name} />
      </Link>
      <button
        type="button"
        className="g-tick"
        role="checkbox"
        aria-checked={isSelected}
        aria-label={t('gallery.selectOne', { name })}
        onClick={select}
      >
        <Icon name="check" size={14} />
      </button>
      {onStar !== undefined && (
        <button
          type="button"
          className="g-star"
          aria-pressed={isStarred}
          aria-label={t('board.star', { name })}
          onClick={() => onStar(id, !isStarred)}
        >
          <Icon name="star" size={14} />
        </button>
      )}
    </div>
  );
});
