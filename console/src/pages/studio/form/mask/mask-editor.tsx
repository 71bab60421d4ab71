import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';

import { kiln, type StoredFile } from '../../../../api/kiln.ts';
import { Modal } from '../../../../parts/controls/modal.tsx';
import { Button } from '../../../../parts/looks/button.tsx';
import { Figures, Row } from '../../../../parts/looks/lines.tsx';
import { Problem } from '../../../../parts/problem.tsx';
import { t } from '../../../../text/text.ts';
import { maskFile, maskSize, paintAll, type PaintStep, readMask } from './paint.ts';

interface MaskEditorProps {
  readonly image: StoredFile;
  /** The mask of before, to be painted on. */
  readonly mask: StoredFile | null;
  readonly onDone: (mask: StoredFile) => void;
  readonly onClose: () => void;
}

const LEAST = 4;
const MOST = 160;

/** Paints over an image what is to be drawn anew. */
export function MaskEditor({ image, mask, onDone, onClose }: MaskEditorProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState(48);
  const [isErasing, setIsErasing] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const control = useRef(new AbortController());
  useEffect(() => () => control.current.abort(), []);
  const painting = usePainting(canvas, { size, isErasing }, mask?.url ?? null);
  const finish = async () => {
    if (canvas.current === null) return;
    setIsBusy(true);
    try {
      const file = await maskFile(canvas.current);
      onDone(await kiln.upload(file, { listed: false, signal: control.current.signal }));
    } catch (thrown) {
      setError(thrown);
      setIsBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === '[') setSize(Math.max(LEAST, size - 8));
    if (event.key === ']') setSize(Math.min(MOST, size + 8));
    if (event.key === 'z' && (event.metaKey || event.ctrlKey)) painting.undo();
  };
  return (
    <Modal
      title={t('mask.paint')}
      onClose={onClose}
      width="w-[min(880px,calc(100vw_-_32px))]"
      foot={
        <Button kind="primary" disabled={isBusy || painting.isEmpty} onClick={() => void finish()}>
          {t(isBusy ? 'studio.sending' : 'mask.use')}
        </Button>
      }
    >
      <div className="gap-3 flex flex-col min-w-0" role="presentation" onKeyDown={onKeyDown}>
        <p className="text-muted">{t('mask.text')}</p>
        <Row wrap>
          <label className="flex items-center gap-2 min-w-0">
            {t('mask.size')}
            <input
              type="range"
              min={LEAST}
              max={MOST}
              value={size}
              onChange={({ target }) => setSize(target.valueAsNumber)}
            />
            <Figures>{size}</Figures>
          </label>
          <Button size="small" aria-pressed={isErasing} onClick={() => setIsErasing(!isErasing)}>
            {t('mask.erase')}
          </Button>
          <Button size="small" disabled={!painting.canUndo} onClick={painting.undo}>
            {t('mask.undo')}
          </Button>
          <Button size="small" onClick={painting.invert}>
            {t('mask.invert')}
          </Button>
          <Button size="small" disabled={painting.isEmpty} onClick={painting.clear}>
            {t('gallery.clear')}
          </Button>
        </Row>
        <div className="relative mx-auto w-fit bg-media" data-mask>
          <img
            className="block max-h-[60vh] max-w-full"
            src={image.url}
            alt=""
            draggable={false}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
              if (canvas.current !== null)
                Object.assign(canvas.current, maskSize(naturalWidth, naturalHeight));
              painting.draw();
            }}
          />
          <canvas
            ref={canvas}
            className="absolute inset-0 h-full w-full cursor-crosshair touch-none opacity-60"
            role="img"
            aria-label={t('mask.canvas')}
            {...painting.pointer}
          />
        </div>
        {error !== null && <Problem error={error} />}
      </div>
    </Modal>
  );
}

interface Brush {
  /** Pixels of the screen. */
  readonly size: number;
  readonly isErasing: boolean;
}

/** Painting on a canvas by pointer, with what was painted before and steps that can be taken back. */
function usePainting(canvas: RefObject<HTMLCanvasElement | null>, brush: Brush, before: string | null) {
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
        last.points.push(findPoint(event));
        draw();
      },
    },
  };
}

function lineFrom(event: PointerEvent<HTMLCanvasElement>, { size, isErasing }: Brush): PaintStep {
  return {
    kind: 'line',
    points: [findPoint(event)],
    width: size * measureScale(event.currentTarget),
    isErasing,
  };
}

/** Where the pointer is on the mask. */
function findPoint({ clientX, clientY, currentTarget }: PointerEvent<HTMLCanvasElement>) {
  const { left, top } = currentTarget.getBoundingClientRect();
  const scale = measureScale(currentTarget);
  return { x: (clientX - left) * scale, y: (clientY - top) * scale };
}

/** Pixels of the mask for one of the screen. */
function measureScale(canvas: HTMLCanvasElement): number {
  return canvas.width / canvas.getBoundingClientRect().width;
}
