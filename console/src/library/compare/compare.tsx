import './compare.css';
import { type PointerEvent, useEffect, useRef, useState } from 'react';

import type { MediaPartsFragment } from '../../api/documents/operations.ts';
import { Icon } from '../../parts/icons.tsx';
import { t } from '../../text/text.ts';
import { START, useView, type View } from './use-view.ts';

/** One picture that is compared. */
const PANE =
  'compare-pane flex-1 min-h-0 overflow-hidden rounded-control [&_img]:w-full [&_img]:h-full [&_img]:object-contain [&_img]:select-none [.compare-wipe_&]:absolute [.compare-wipe_&]:top-0 [.compare-wipe_&]:right-0 [.compare-wipe_&]:bottom-7 [.compare-wipe_&]:left-0';

/** A picture to be compared, and what is written below it. */
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

/** Pictures side by side, zoomed and moved together; of two, also one over the other with a line to be drawn across. */
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
      className="viewer w-[100vw] h-[100vh] max-w-none max-h-none m-0 p-0 border-0 [background:#000] rounded-none"
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
          <button type="button" className="onpic" aria-pressed={isWipe} onClick={() => setIsWipe(!isWipe)}>
            {t(isWipe ? 'compare.side' : 'compare.wipe')}
          </button>
        )}
        <Tool icon="minus" label={t('gallery.smaller')} onClick={() => zoom(0.8)} />
        <Tool icon="plus" label={t('gallery.larger')} onClick={() => zoom(1.25)} />
        {view !== START && <Tool icon="again" label={t('compare.fit')} onClick={reset} />}
        <Tool icon="close" label={t('gallery.close')} onClick={() => dialog.current?.close()} />
      </div>
    </dialog>
  );
}

interface ToolProps {
  readonly icon: 'minus' | 'plus' | 'again' | 'close';
  readonly label: string;
  readonly onClick: () => void;
}

function Tool({ icon, label, onClick }: ToolProps) {
  return (
    <button type="button" className="onpic ico" onClick={onClick} aria-label={label} title={label}>
      <Icon name={icon} size={14} />
    </button>
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
      className={`grid h-full gap-3 grid-cols-2 [grid-auto-rows:minmax(0,1fr)] touch-none max-sm:grid-cols-[minmax(0,1fr)] [&_figure]:flex [&_figure]:flex-col [&_figure]:gap-2 [&_figure]:min-h-0 [&_figcaption]:text-12 [&_figcaption]:font-normal [&_figcaption]:text-center [&.n3]:grid-cols-3 max-sm:[&.n3]:grid-cols-[minmax(0,1fr)] max-sm:[&.n4]:grid-cols-2 n${pieces.length}`}
      onPointerMove={drag}
    >
      {pieces.map(({ media, name }) => (
        <figure key={media.id}>
          <div className={PANE}>
            <img src={media.url} alt={name} draggable={false} style={styleOf(view)} />
          </div>
          <figcaption>{name}</figcaption>
        </figure>
      ))}
    </div>
  );
}

/** One picture over the other: what is left of the line is the first, what is right of it the second. */
function Wipe({ pieces, view }: PanesProps) {
  const [at, setAt] = useState(50);
  const [one, other] = pieces;
  if (one === undefined || other === undefined) return null;
  return (
    <div className="compare-wipe">
      <div className={PANE}>
        <img src={other.media.url} alt={other.name} style={styleOf(view)} />
      </div>
      <div className={PANE} style={{ clipPath: `inset(0 ${100 - at}% 0 0)` }}>
        <img src={one.media.url} alt={one.name} style={styleOf(view)} />
      </div>
      <i
        className="absolute top-0 right-auto bottom-7 left-auto w-0.5 [translate:-1px_0] [background:#fff] shadow-[0_0_0_1px_rgb(0_0_0_/_0.5)] pointer-events-none after:absolute after:left-[50%] after:top-[50%] after:w-7 after:h-7 after:[translate:-50%_-50%] after:[border:2px_solid_#fff] after:rounded-full after:[background:rgb(0_0_0_/_0.55)] after:content-['']"
        style={{ left: `${at}%` }}
        aria-hidden="true"
      />
      <input
        type="range"
        min={0}
        max={100}
        step={0.5}
        value={at}
        aria-label={t('compare.line')}
        onChange={({ target }) => setAt(target.valueAsNumber)}
      />
      <p className="text-12 font-normal text-center absolute top-auto right-0 bottom-0 left-0 flex justify-between gap-4 [.compare-wipe_input:focus-visible~&]:[outline:2px_solid_#fff]">
        <span>{one.name}</span>
        <span>{other.name}</span>
      </p>
    </div>
  );
}

function styleOf({ scale, x, y }: View) {
  return { transform: `translate(${x}px, ${y}px) scale(${scale})` };
}
