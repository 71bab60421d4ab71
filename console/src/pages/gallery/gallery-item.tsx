import { Link } from '@tanstack/react-router';
import { memo, type MouseEvent } from 'react';

import { namePiece, Preview, type Piece } from '../../library/piece.tsx';
import { Tick } from '../../parts/controls/selection.tsx';
import { Icon } from '../../parts/icons.tsx';
import { t } from '../../text/text.ts';
import { drag } from './boards/use-boards.ts';

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
  const name = namePiece(piece);
  const select = (event: MouseEvent) => onSelect(id, event.shiftKey);
  return (
    <div
      data-piece={id}
      className="group relative flex-none"
      style={{ width, height }}
      draggable
      onDragStart={(event) => drag(event, dragWith(id))}
    >
      <Link
        className="relative block h-full w-full overflow-hidden rounded-small bg-media focus-visible:z-1 focus-visible:-outline-offset-3 aria-[current]:outline-3 aria-[current]:-outline-offset-3 aria-[current]:outline-focus aria-[current]:after:absolute aria-[current]:after:inset-0.75 aria-[current]:after:rounded-[2px] aria-[current]:after:border-2 aria-[current]:after:border-white aria-[current]:after:content-['']"
        from="/gallery"
        to="/gallery"
        search={(before) => ({ ...before, open: id })}
        replace
        resetScroll={false}
        activeOptions={{ exact: true, includeSearch: true }}
      >
        <Preview piece={piece} name={name} place="rows" />
      </Link>
      <Tick
        className="top-1.5 right-1.5"
        isOn={isSelected}
        label={t('gallery.selectOne', { name })}
        size={14}
        onClick={select}
      />
      {onStar !== undefined && (
        <button
          type="button"
          className="absolute bottom-1.5 left-1.5 grid size-7 place-items-center rounded-control bg-veil text-white opacity-0 group-hover:opacity-100 focus-visible:opacity-100 aria-pressed:opacity-100 no-hover:opacity-100 aria-pressed:[&_svg]:fill-current"
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
