import { type PointerEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { ImageTool } from '../parts/controls/selection.tsx';
import { MediaView } from '../parts/media-view.tsx';
import { t } from '../text/text.ts';

interface ViewerProps {
  readonly media: MediaPartsFragment;
  readonly name: string;
  readonly onClose: () => void;
  /** Shows the next piece (1) or the one before (-1). */
  readonly onMove: (step: -1 | 1) => void;
}

/** How large a piece is shown. */
interface Zoomed {
  readonly id: string;
  readonly scale: number | null;
}

const MOST = 8;
const STEP = 1.25;

/** A piece over the whole window. Arrows move on; Z and a click change between fitting and own pixels, + and - zoom. */
export function Viewer({ media, name, onClose, onMove }: ViewerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const image = useRef<HTMLImageElement>(null);
  /** Screen pixels for one of the image; null while it fits the window. */
  const [zoomed, setZoomed] = useState<Zoomed>({ id: media.id, scale: null });
  useEffect(() => dialog.current?.showModal(), []);
  // Another piece begins fitting; not by an effect, which would undo what is pressed meanwhile.
  const scale = zoomed.id === media.id ? zoomed.scale : null;
  const setScale = (next: (before: number | null) => number | null) =>
    setZoomed(({ id, scale: before }) => ({ id: media.id, scale: next(id === media.id ? before : null) }));
  const zoom = (by: number) => setScale((before) => bounded((before ?? shownScale(image)) * by));
  const toggle = () => setScale((before) => (before === null ? 1 : null));
  const keys: Readonly<Record<string, () => void>> = {
    z: toggle,
    Z: toggle,
    '+': () => zoom(STEP),
    '=': () => zoom(STEP),
    '-': () => zoom(1 / STEP),
    0: () => setScale(() => null),
    ArrowRight: () => onMove(1),
    ArrowLeft: () => onMove(-1),
  };
  const isImage = media.contentType.startsWith('image/');
  return (
    <dialog
      ref={dialog}
      className="m-0 h-[100vh] max-h-none w-[100vw] max-w-none rounded-none border-0 bg-[#000] p-0"
      data-viewer={scale === null ? 'fit' : 'full'}
      aria-label={name}
      onClose={onClose}
      onKeyDown={(event) => {
        const action = event.target instanceof HTMLMediaElement ? undefined : keys[event.key];
        if (action === undefined) return;
        event.preventDefault();
        action();
      }}
    >
      {isImage ? (
        <ViewedImage media={media} name={name} image={image} scale={scale} onToggle={toggle} onZoom={zoom} />
      ) : (
        <div className="grid place-items-center h-full pt-14 pr-4 pb-4 pl-4">
          <MediaView
            key={media.id}
            media={media}
            alt={name}
            className={
              media.contentType.startsWith('video/')
                ? 'max-h-[calc(100vh_-_72px)] max-w-full'
                : 'w-[min(720px,100%)] rounded-panel bg-surface'
            }
          />
        </div>
      )}
      <div className="fixed right-3 top-3 flex gap-1">
        <ImageTool icon="left" label={t('gallery.before')} onClick={() => onMove(-1)} />
        <ImageTool icon="right" label={t('gallery.next')} onClick={() => onMove(1)} />
        {isImage && (
          <>
            <ImageTool icon="minus" label={t('gallery.smaller')} onClick={() => zoom(1 / STEP)} />
            <ImageTool icon="plus" label={t('gallery.larger')} onClick={() => zoom(STEP)} />
          </>
        )}
        <ImageTool icon="close" label={t('gallery.close')} onClick={() => dialog.current?.close()} />
      </div>
    </dialog>
  );
}

interface ImageProps extends Pick<ViewerProps, 'media' | 'name'> {
  readonly image: RefObject<HTMLImageElement | null>;
  readonly scale: number | null;
  readonly onToggle: () => void;
  readonly onZoom: (by: number) => void;
}

/** The wheel zooms around its middle, dragging moves it. */
function ViewedImage({ media, name, image, scale, onToggle, onZoom }: ImageProps) {
  const frame = useRef<HTMLButtonElement>(null);
  const hasMoved = useRef(false);
  useWheel(frame, onZoom);
  useMiddle(frame, scale);
  const onMove = ({ buttons, movementX, movementY }: PointerEvent) => {
    if (buttons !== 1 || scale === null || (movementX === 0 && movementY === 0)) return;
    hasMoved.current = true;
    frame.current?.scrollBy(-movementX, -movementY);
  };
  const width = scale === null || media.width === null ? undefined : media.width * scale;
  return (
    <button
      ref={frame}
      type="button"
      className={`grid h-full w-full overflow-auto ${scale === null ? 'cursor-zoom-in place-items-center' : 'cursor-zoom-out place-items-start'}`}
      aria-pressed={scale !== null}
      aria-label={t('gallery.zoom')}
      onPointerDown={() => (hasMoved.current = false)}
      onPointerMove={onMove}
      onClick={() => !hasMoved.current && onToggle()}
    >
      <img
        key={media.id}
        ref={image}
        className={`h-auto w-auto ${scale === null ? 'max-h-[100vh] max-w-[100vw]' : 'max-h-none max-w-none cursor-grab touch-none select-none'}`}
        src={media.url}
        alt={name}
        draggable={false}
        style={{ width }}
      />
    </button>
  );
}

/** Not React's own listener, which may not keep the page from scrolling. */
function useWheel(frame: RefObject<HTMLElement | null>, onZoom: (by: number) => void): void {
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      onZoom(event.deltaY < 0 ? STEP : 1 / STEP);
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [frame, onZoom]);
}

/** What is in the middle stays there while the size changes. */
function useMiddle(frame: RefObject<HTMLElement | null>, scale: number | null): void {
  const middle = useRef({ x: 0.5, y: 0.5 });
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const { clientWidth, clientHeight, scrollWidth, scrollHeight } = element;
    element.scrollTo(
      middle.current.x * scrollWidth - clientWidth / 2,
      middle.current.y * scrollHeight - clientHeight / 2,
    );
    const onScroll = () => {
      middle.current = {
        x: (element.scrollLeft + element.clientWidth / 2) / element.scrollWidth,
        y: (element.scrollTop + element.clientHeight / 2) / element.scrollHeight,
      };
    };
    element.addEventListener('scroll', onScroll);
    return () => element.removeEventListener('scroll', onScroll);
  }, [frame, scale]);
}

function shownScale(image: RefObject<HTMLImageElement | null>): number {
  const element = image.current;
  return element === null || element.naturalWidth === 0 ? 1 : element.clientWidth / element.naturalWidth;
}

function bounded(scale: number): number {
  return Math.min(MOST, Math.max(1 / MOST, scale));
}
