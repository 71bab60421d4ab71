import { type PointerEvent, useEffect, useRef, useState, type RefObject, useCallback } from 'react';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { onImage, ImageTool } from '../parts/controls/selection.tsx';
import { t } from '../text/text.ts';

/** One image that is compared. */
const PANE = 'compare-pane min-h-0 flex-1 overflow-hidden rounded-control';
const IMAGE = 'h-full w-full object-contain select-none';
/** Where both lie while one is drawn over the other. */
const WIPED = 'absolute inset-x-0 top-0 bottom-7';

/** An image to be compared, and what is written below it. */
interface ComparedPiece {
  readonly media: MediaPartsFragment;
  readonly name: string;
}

interface CompareProps {
  /** From two to four. */
  readonly pieces: readonly ComparedPiece[];
  readonly onClose: () => void;
}

/** Most that stand side by side. */
export const MOST_COMPARED = 4;

/** Images side by side, zoomed and moved together; of two, also one over the other with a line to be drawn across. */
export function Compare({ pieces, onClose }: CompareProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const [isWipe, setIsWipe] = useState(false);
  const { view, zoom, move, reset } = useView(area);
  useEffect(() => dialog.current?.showModal(), []);
  const canWipe = pieces.length === 2;
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoom(1.25),
    '=': () => zoom(1.25),
    '-': () => zoom(0.8),
    0: reset,
    w: () => canWipe && setIsWipe(!isWipe),
  };
  return (
    <dialog
      ref={dialog}
      className="w-[100vw] h-[100vh] max-w-none max-h-none m-0 p-0 border-0 [background:#000] rounded-none"
      aria-label={t('compare.title')}
      onClose={onClose}
      onKeyDown={({ key }) => keys[key]?.()}
    >
      <div ref={area} className="w-full h-full pt-13 pr-3 pb-3 pl-3 text-[#fff]">
        {isWipe && canWipe ? (
          <Wipe pieces={pieces} view={view} />
        ) : (
          <SideBySide pieces={pieces.slice(0, MOST_COMPARED)} view={view} onMove={move} />
        )}
      </div>
      <div className="fixed right-3 top-3 flex gap-1">
        {canWipe && (
          <button
            type="button"
            className={`${onImage} px-2`}
            aria-pressed={isWipe}
            onClick={() => setIsWipe(!isWipe)}
          >
            {t(isWipe ? 'compare.side' : 'compare.wipe')}
          </button>
        )}
        <ImageTool icon="minus" label={t('gallery.smaller')} onClick={() => zoom(0.8)} />
        <ImageTool icon="plus" label={t('gallery.larger')} onClick={() => zoom(1.25)} />
        {view !== START && <ImageTool icon="again" label={t('compare.fit')} onClick={reset} />}
        <ImageTool icon="close" label={t('gallery.close')} onClick={() => dialog.current?.close()} />
      </div>
    </dialog>
  );
}

interface PanesProps {
  readonly pieces: readonly ComparedPiece[];
  readonly view: View;
}

function SideBySide({
  pieces,
  view,
  onMove,
}: PanesProps & { readonly onMove: (x: number, y: number) => void }) {
  const drag = ({ buttons, movementX, movementY }: PointerEvent) => {
    if (buttons === 1) onMove(movementX, movementY);
  };
  return (
    <div
      className={`grid h-full touch-none auto-rows-[minmax(0,1fr)] gap-3 ${pieces.length === 3 ? 'grid-cols-3' : 'grid-cols-2'} ${pieces.length === 4 ? '' : 'max-sm:grid-cols-[minmax(0,1fr)]'}`}
      onPointerMove={drag}
    >
      {pieces.map(({ media, name }) => (
        <figure key={media.id} className="flex min-h-0 flex-col gap-2">
          <div className={PANE}>
            <img className={IMAGE} src={media.url} alt={name} draggable={false} style={toStyle(view)} />
          </div>
          <figcaption className="text-center text-12 font-normal">{name}</figcaption>
        </figure>
      ))}
    </div>
  );
}

/** One image over the other: what is left of the line is the first, what is right of it the second. */
function Wipe({ pieces, view }: PanesProps) {
  const [at, setAt] = useState(50);
  const [one, other] = pieces;
  if (one === undefined || other === undefined) return null;
  return (
    <div className="relative h-full">
      <div className={`${PANE} ${WIPED}`}>
        <img className={IMAGE} src={other.media.url} alt={other.name} style={toStyle(view)} />
      </div>
      <div className={`${PANE} ${WIPED}`} style={{ clipPath: `inset(0 ${100 - at}% 0 0)` }}>
        <img className={IMAGE} src={one.media.url} alt={one.name} style={toStyle(view)} />
      </div>
      <i
        className="absolute top-0 right-auto bottom-7 left-auto w-0.5 [translate:-1px_0] [background:#fff] shadow-[0_0_0_1px_rgb(0_0_0_/_0.5)] pointer-events-none after:absolute after:left-[50%] after:top-[50%] after:w-7 after:h-7 after:[translate:-50%_-50%] after:[border:2px_solid_#fff] after:rounded-full after:[background:rgb(0_0_0_/_0.55)] after:content-['']"
        style={{ left: `${at}%` }}
        aria-hidden="true"
      />
      <input
        className="peer absolute inset-x-0 top-0 bottom-7 h-auto w-full cursor-ew-resize opacity-0"
        type="range"
        min={0}
        max={100}
        step={0.5}
        value={at}
        aria-label={t('compare.line')}
        onChange={({ target }) => setAt(target.valueAsNumber)}
      />
      <p className="text-12 font-normal text-center absolute top-auto right-0 bottom-0 left-0 flex justify-between gap-4 peer-focus-visible:outline-2 peer-focus-visible:outline-white">
        <span>{one.name}</span>
        <span>{other.name}</span>
      </p>
    </div>
  );
}

function toStyle({ scale, x, y }: View) {
  return { transform: `translate(${x}px, ${y}px) scale(${scale})` };
}

/** How images are looked at together: moved by pixels, and zoomed. */
interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/** All of each image. */
export const START: View = { scale: 1, x: 0, y: 0 };
const MOST = 8;

/** A view with another zoom; what is in the middle stays there. */
export function zoomed({ scale, x, y }: View, by: number): View {
  const next = Math.min(MOST, Math.max(1, scale * by));
  return next === 1 ? START : { scale: next, x: (x * next) / scale, y: (y * next) / scale };
}

/** One view for all images in an element; its wheel zooms. */
function useView(element: RefObject<HTMLElement | null>) {
  const [view, setView] = useState(START);
  const zoom = useCallback((by: number) => setView((before) => zoomed(before, by)), []);
  useEffect(() => {
    const area = element.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8);
    };
    // Not React's own listener, which may not keep the page from scrolling.
    area?.addEventListener('wheel', onWheel, { passive: false });
    return () => area?.removeEventListener('wheel', onWheel);
  }, [element, zoom]);
  return {
    view,
    zoom,
    reset: () => setView(START),
    move: (x: number, y: number) =>
      setView((before) => (before.scale === 1 ? before : { ...before, x: before.x + x, y: before.y + y })),
  };
}
