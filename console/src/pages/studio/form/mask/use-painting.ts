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
  brush: Brush,
  before: string | null,
) {
  const steps = useRef<PaintStep[]>([]);
  const [base, setBase] = useState<CanvasImageSource | null>(null);
  const [count, setCount] = useState(0);
  const draw = useCallback(() => {
    if (canvas.current !== null) paintAll(canvas.current, base, steps.current);
  }, [canvas, base]);
  useEffect(draw, [draw, count]);
  useEffect(() => {
    // Of an address that may not be read, it is painted anew.
    if (before !== null) readMask(before).then(setBase, () => undefined);
  }, [before]);
  const change = (next: PaintStep[]) => {
    steps.current = next;
    setCount(next.length);
  };
  return {
    draw,
    isEmpty: count === 0 && base === null,
    canUndo: count > 0,
    undo: () => change(steps.current.slice(0, -1)),
    invert: () => change([...steps.current, { kind: 'invert' }]),
    clear: () => {
      setBase(null);
      change([]);
    },
    pointer: {
      onPointerDown: (event: PointerEvent<HTMLCanvasElement>) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        change([...steps.current, lineFrom(event, brush)]);
      },
      onPointerMove: (event: PointerEvent<HTMLCanvasElement>) => {
        const last = steps.current.at(-1);
        if (event.buttons === 0 || last?.kind !== 'line') return;
        last.points.push(pointOf(event));
        draw();
      },
    },
  };
}

function lineFrom(event: PointerEvent<HTMLCanvasElement>, { size, isErasing }: Brush): PaintStep {
  return { kind: 'line', points: [pointOf(event)], width: size * scaleOf(event.currentTarget), isErasing };
}

/** Where the pointer is on the mask. */
function pointOf({ clientX, clientY, currentTarget }: PointerEvent<HTMLCanvasElement>) {
  const { left, top } = currentTarget.getBoundingClientRect();
  const scale = scaleOf(currentTarget);
  return { x: (clientX - left) * scale, y: (clientY - top) * scale };
}

/** Pixels of the mask for one of the screen. */
function scaleOf(canvas: HTMLCanvasElement): number {
  return canvas.width / canvas.getBoundingClientRect().width;
}
