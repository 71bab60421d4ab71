import { type PointerEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react';

import { type PaintStep, paintAll, readMask } from './paint.ts';

interface Brush {
  /** Pixels of the screen. */
  readonly size: number;
  readonly isErasing: boolean;
}

/** Painting on a canvas by pointer, with what was painted before and steps that can be taken back. */
export function usePainting(
  canvas: RefObject<HTMLCanvasElement | null>,
  { size, isErasing }: Brush,
  before: string | null,
) {
  const steps = useRef<PaintStep[]>([]);
  const base = useRef<CanvasImageSource | null>(null);
  const [count, setCount] = useState(0);
  const [hasBase, setHasBase] = useState(false);
  const draw = useCallback(() => {
    if (canvas.current !== null) paintAll(canvas.current, base.current, steps.current);
  }, [canvas]);
  useEffect(() => {
    if (before === null) return;
    readMask(before).then(
      (mask) => {
        base.current = mask;
        setHasBase(true);
        draw();
      },
      // Of an address that may not be read, it is painted anew.
      () => undefined,
    );
  }, [before, draw]);
  const change = (next: PaintStep[]) => {
    steps.current = next;
    setCount(next.length);
    draw();
  };
  const pointOf = ({ clientX, clientY }: PointerEvent<HTMLCanvasElement>) => {
    const element = canvas.current;
    const box = element?.getBoundingClientRect();
    const scale = element === null || box === undefined ? 1 : element.width / box.width;
    return { x: (clientX - (box?.left ?? 0)) * scale, y: (clientY - (box?.top ?? 0)) * scale, scale };
  };
  return {
    draw,
    isEmpty: count === 0 && !hasBase,
    canUndo: count > 0,
    undo: () => change(steps.current.slice(0, -1)),
    invert: () => change([...steps.current, { kind: 'invert' }]),
    clear: () => {
      base.current = null;
      setHasBase(false);
      change([]);
    },
    pointer: {
      onPointerDown: (event: PointerEvent<HTMLCanvasElement>) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const { x, y, scale } = pointOf(event);
        change([...steps.current, { kind: 'line', points: [{ x, y }], width: size * scale, isErasing }]);
      },
      onPointerMove: (event: PointerEvent<HTMLCanvasElement>) => {
        const last = steps.current.at(-1);
        if (event.buttons === 0 || last?.kind !== 'line') return;
        const { x, y } = pointOf(event);
        last.points.push({ x, y });
        draw();
      },
    },
  };
}
