import { type RefObject, useCallback, useEffect, useState } from 'react';

/** How pictures are looked at together: moved by pixels, and zoomed. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/** All of each picture. */
export const START: View = { scale: 1, x: 0, y: 0 };
const MOST = 8;

/** A view with another zoom; what is in the middle stays there. */
export function zoomed({ scale, x, y }: View, by: number): View {
  const next = Math.min(MOST, Math.max(1, scale * by));
  return next === 1 ? START : { scale: next, x: (x * next) / scale, y: (y * next) / scale };
}

/** One view for all pictures in an element; its wheel zooms. */
export function useView(element: RefObject<HTMLElement | null>) {
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
