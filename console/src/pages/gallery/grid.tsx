import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';

import type { Piece } from '../../library/piece.tsx';
import { isBusy } from '../../parts/controls/typing.ts';
import { useIncrementalCount } from '../../parts/page/later.tsx';
import { dayText } from '../../parts/time.tsx';
import { GalleryItem } from './gallery-item.tsx';
import { pieceBeside, type Row, fillRows, measureShape } from './rows.ts';

/** Pixels of the root's font in the design. */
const ROOT_PX = 16;
/** Pixels of the design between two pieces. */
const GAP = 4;
/** Rows beyond the window that are drawn, and rows before the end at which the next page is loaded. */
const OVERSCAN = 4;
const AHEAD = 8;
/** Pixels of the design of the name of a day. */
const HEADING = 44;

interface GridProps {
  readonly pieces: readonly Piece[];
  /** Height of rows as a share of the usual one. */
  readonly share: number;
  /** Index of the open one; -1 for none. */
  readonly current: number;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (id: string, isRange: boolean) => void;
  /** Stars that were set or taken on this page. */
  readonly starred: ReadonlyMap<string, boolean>;
  readonly onStar: ((id: string, starred: boolean) => void) | undefined;
  readonly dragWith: (id: string) => readonly string[];
  readonly onEnd: () => void;
  /** Opens the piece with this index, if there is one. */
  readonly onShow: (index: number) => void;
  readonly onClose: () => void;
  readonly onEnlarge: () => void;
}

/** The justified grid; only the rows in the window are in the page, however many there are. */
export function Grid(props: GridProps) {
  const { pieces, share, current, selected, onSelect, onEnd, onShow, onClose, onEnlarge } = props;
  const { starred, onStar, dragWith } = props;
  const element = useRef<HTMLDivElement>(null);
  const { width, top, scale } = useSpace(element);
  const target = chooseHeight(window.innerWidth) * share;
  const rows = useMemo(
    () =>
      width === 0 ? [] : fillRows(pieces, { width, target, gap: GAP * scale, heading: HEADING * scale }),
    [pieces, width, target, scale],
  );
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => (rows[index]?.height ?? target) + GAP * scale,
    overscan: OVERSCAN,
    scrollMargin: top,
  });
  // Heights are known, not measured: new ones count at once.
  useLayoutEffect(() => virtual.measure(), [virtual, rows]);
  const items = virtual.getVirtualItems();
  // One row in each turn of the event loop, as a row is many images.
  const drawn = useIncrementalCount(items.length, 1);
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - AHEAD) onEnd();
  }, [last, rows.length, onEnd]);
  const currentRow = useMemo(() => findRow(rows, pieces[current]), [rows, pieces, current]);
  useEffect(() => {
    if (currentRow !== -1) virtual.scrollToIndex(currentRow, { align: 'auto' });
  }, [virtual, currentRow]);
  useGalleryKeys({
    current,
    show: onShow,
    close: onClose,
    beside: (step) => indexBeside(pieces, rows, { current, step }),
    select: () => {
      const piece = pieces[current];
      if (piece !== undefined) onSelect(piece.media.id, false);
    },
    enlarge: onEnlarge,
  });
  return (
    <div
      ref={element}
      className="relative [overflow-anchor:none] max-sm:[--rowh:104px] 2xl:[--rowh:232px]"
      data-grid
      style={{ height: virtual.getTotalSize() }}
    >
      {items.slice(0, drawn).map(({ index, key, start }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <div
            key={key}
            className="absolute top-0 right-0 bottom-auto left-0 flex gap-1"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            {row.day !== null && (
              <h2 className="flex items-baseline gap-2 pt-4 pb-2 text-14 font-semibold">
                {dayText(row.day)}
              </h2>
            )}
            {row.pieces.map((piece) => (
              <GalleryItem
                key={piece.media.id}
                piece={piece}
                width={row.height * measureShape(piece)}
                height={row.height}
                isSelected={selected.has(piece.media.id)}
                onSelect={onSelect}
                isStarred={starred.get(piece.media.id) ?? piece.starred === true}
                onStar={onStar}
                dragWith={dragWith}
              />
            ))}
          </div>
        );
      })}
    </div>
  );
}

function indexBeside(
  pieces: readonly Piece[],
  rows: readonly Row<Piece>[],
  { current, step }: { readonly current: number; readonly step: -1 | 1 },
): number {
  const piece = pieces[current];
  const next = piece === undefined ? undefined : pieceBeside(rows, piece, step);
  return next === undefined ? -1 : pieces.indexOf(next);
}

function findRow(rows: readonly Row<Piece>[], piece: Piece | undefined): number {
  return piece === undefined ? -1 : rows.findIndex(({ pieces }) => pieces.includes(piece));
}

/** The wished height of a row in a window of this width. */
function chooseHeight(width: number): number {
  if (width <= 760) return 104;
  if (width < 1720) return 196;
  return width < 2560 ? 232 : 296;
}

/** Width of the grid, how far down the page it begins, and how much larger than designed everything is. */
function useSpace(element: React.RefObject<HTMLDivElement | null>) {
  const [space, setSpace] = useState({ width: 0, top: 0, scale: 1 });
  useLayoutEffect(() => {
    const grid = element.current;
    if (grid === null) return undefined;
    const measure = () =>
      setSpace({
        width: grid.clientWidth,
        top: grid.getBoundingClientRect().top + window.scrollY,
        scale: Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / ROOT_PX,
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(grid);
    return () => observer.disconnect();
  }, [element]);
  return space;
}

interface GalleryKeys {
  /** Index of the open piece; -1 for none. */
  readonly current: number;
  readonly show: (index: number) => void;
  readonly close: () => void;
  /** Index of the piece above or below the open one; -1 for none. */
  readonly beside: (step: -1 | 1) => number;
  /** Ticks the open piece, or takes the tick away. */
  readonly select: () => void;
  /** Shows the open piece over the whole window. */
  readonly enlarge: () => void;
}

/** Arrows move, X ticks, Z enlarges, Escape closes; not while somebody types, plays or looks at a dialog. */
function useGalleryKeys(keys: GalleryKeys): void {
  // With what is drawn, not after it: the next press may come at once.
  useLayoutEffect(() => {
    const { current, show, close, beside, select, enlarge } = keys;
    const isOpen = current !== -1;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowRight: () => show(current + 1),
      ArrowLeft: () => show(current - 1),
      ...(isOpen && {
        ArrowDown: () => show(beside(1)),
        ArrowUp: () => show(beside(-1)),
        Escape: close,
        x: select,
        z: enlarge,
      }),
    };
    const onKey = (event: KeyboardEvent) => {
      const action = isBusy(event) ? undefined : actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [keys]);
}
