import { act, fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { useState } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { StoredFile } from '../../../../api/kiln.ts';
import { outline } from '../../../../testing/outline.ts';
import { holdUploads } from '../../../../testing/uploads.ts';
import { MaskField } from './mask-field.tsx';
import { maskFile, paintAll, type PaintStep, readMask } from './paint.ts';

/** What was drawn, call by call: nothing draws in a page without a layout. */
let drawn: string[] = [];
function told(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof HTMLCanvasElement) return 'painted';
  return 'data' in value ? String(value.data) : 'image';
}
function createContext(canvas: { readonly width: number; readonly height: number }) {
  return new Proxy(
    {},
    {
      get(_, name: string) {
        if (name === 'canvas') return canvas;
        return (...given: readonly unknown[]) => {
          drawn.push(`${name}(${given.map(told).join(' ')})`);
          return name === 'getImageData'
            ? { data: Uint8ClampedArray.of(255, 1, 2, 9, 0, 3, 4, 9) }
            : undefined;
        };
      },
      set(_, name: string, value: unknown) {
        drawn.push(`${name} = ${String(value)}`);
        return true;
      },
    },
  );
}
class Offscreen {
  readonly width: number;
  readonly height: number;
  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
  }
  getContext = (): unknown => createContext(this);
  convertToBlob = async ({ type }: { readonly type: string }): Promise<Blob> => new Blob(['png'], { type });
}
const box = { left: 10, top: 20, width: 50, height: 25 };

beforeEach(() => {
  drawn = [];
  vi.stubGlobal('OffscreenCanvas', Offscreen);
  vi.stubGlobal('createImageBitmap', async () => ({ width: 2, height: 1 }));
  vi.stubGlobal('fetch', async (address: string) => {
    if (address.includes('gone')) throw new TypeError('fetch failed');
    return new Response('png');
  });
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(function own(
    this: HTMLCanvasElement,
  ) {
    return createContext(this) as never;
  });
  vi.spyOn(HTMLCanvasElement.prototype, 'getBoundingClientRect').mockReturnValue(box as DOMRect);
  HTMLCanvasElement.prototype.setPointerCapture = () => void drawn.push('captured');
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const imageFile = { id: 'p', url: '/p.png', contentType: 'image/png', bytes: 1 };
const before = { id: 'm', url: '/m.png', contentType: 'image/png', bytes: 1 };
function open(of: StoredFile | null = imageFile, first: StoredFile | null = null) {
  const onChange = vi.fn<(mask: StoredFile | null) => void>();
  function Field() {
    const [mask, setMask] = useState(first);
    const change = (next: StoredFile | null) => {
      onChange(next);
      setMask(next);
    };
    return <MaskField label="Mask" image={of} mask={mask} onChange={change} />;
  }
  render(<Field />);
  return onChange;
}
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name });
const press = (name: string) => fireEvent.click(button(name));
const dialog = () => screen.queryByRole('dialog', { name: 'Paint the mask' });
const canvas = () => screen.getByRole<HTMLCanvasElement>('img', { name: 'Painted area' });
async function paint(of: StoredFile | null = imageFile, first: StoredFile | null = null) {
  const onChange = open(of, first);
  press('Paint the mask');
  await waitFor(() => expect(dialog()).not.toBeNull());
  const image = document.querySelector<HTMLImageElement>('[data-mask] img');
  if (image === null) throw new Error('there is an image');
  Object.defineProperties(image, { naturalWidth: { value: 100 }, naturalHeight: { value: 50 } });
  fireEvent.load(image);
  return onChange;
}
const pointer = (name: string, clientX: number, clientY: number, buttons = 1) =>
  fireEvent(canvas(), new PointerEvent(name, { bubbles: true, clientX, clientY, buttons, pointerId: 1 }));
const stroke = () => {
  pointer('pointerdown', 10, 20);
  pointer('pointermove', 20, 25);
  pointer('pointermove', 30, 30, 0);
};
/** What is drawn from now on. */
const since = (action: () => unknown) => {
  drawn = [];
  action();
  return drawn;
};

it('needs an image to be painted over, and takes a mask out', async () => {
  open(null);
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/mask-field.txt');
  document.body.replaceChildren();
  const onChange = open(imageFile, before);
  expect(button('Paint the mask').disabled).toBe(false);
  press('Remove the file');
  expect(onChange.mock.calls).toEqual([[null]]);
});

it('paints by the pointer in the size of the image, with a brush of any size, and takes steps back', async () => {
  await paint();
  await expect(outline(dialog())).toMatchFileSnapshot('outlines/mask-editor.txt');
  expect([canvas().width, canvas().height]).toEqual([100, 50]);
  expect(['Use the mask', 'Undo', 'Clear', 'Invert'].map((name) => button(name).disabled)).toEqual([
    true,
    true,
    true,
    false,
  ]);
  const lines = since(stroke);
  expect(lines).toMatchInlineSnapshot(`
    [
      "captured",
      "globalCompositeOperation = source-over",
      "clearRect(0 0 100 50)",
      "fillStyle = #ff2d6f",
      "strokeStyle = #ff2d6f",
      "globalCompositeOperation = source-over",
      "lineWidth = 96",
      "lineCap = round",
      "lineJoin = round",
      "beginPath()",
      "moveTo(0 0)",
      "lineTo(0 0)",
      "stroke()",
      "globalCompositeOperation = source-over",
      "clearRect(0 0 100 50)",
      "fillStyle = #ff2d6f",
      "strokeStyle = #ff2d6f",
      "globalCompositeOperation = source-over",
      "lineWidth = 96",
      "lineCap = round",
      "lineJoin = round",
      "beginPath()",
      "moveTo(0 0)",
      "lineTo(0 0)",
      "lineTo(20 10)",
      "stroke()",
    ]
  `);
  expect(['Use the mask', 'Undo', 'Clear'].map((name) => button(name).disabled)).toEqual([
    false,
    false,
    false,
  ]);
  press('Erase');
  expect(button('Erase').getAttribute('aria-pressed')).toBe('true');
  fireEvent.input(screen.getByRole('slider'), { target: { value: '10' } });
  expect(
    since(stroke)
      .filter((call) => /lineWidth|Composite/.test(call))
      .slice(-4),
  ).toEqual([
    'globalCompositeOperation = source-over',
    'lineWidth = 96',
    'globalCompositeOperation = destination-out',
    'lineWidth = 20',
  ]);
  expect(since(() => press('Invert')).slice(-2)).toEqual([
    'globalCompositeOperation = xor',
    'fillRect(0 0 100 50)',
  ]);
  // A pointer that moves after that goes on with no line.
  expect(since(() => pointer('pointermove', 30, 30))).toEqual([]);
  press('Undo');
  expect(since(() => press('Undo')).filter((call) => call.startsWith('lineWidth'))).toEqual([
    'lineWidth = 96',
  ]);
  press('Clear');
  expect(['Use the mask', 'Undo', 'Clear'].map((name) => button(name).disabled)).toEqual([true, true, true]);
});

it('changes the brush and takes steps back by keys', async () => {
  await paint();
  const size = () => screen.getByRole<HTMLInputElement>('slider').value;
  const key = (name: string, more = {}) => fireEvent.keyDown(canvas(), { key: name, ...more });
  const sizes = [']', '[', '[', 'x'].map((name) => {
    key(name);
    return size();
  });
  expect(sizes).toEqual(['56', '48', '40', '40']);
  for (let at = 0; at < 20; at += 1) key('[');
  expect(size()).toBe('4');
  for (let at = 0; at < 30; at += 1) key(']');
  expect(size()).toBe('160');
  stroke();
  stroke();
  stroke();
  key('z');
  key('a', { ctrlKey: true });
  expect(since(() => key('z', { ctrlKey: true })).filter((call) => call === 'stroke()')).toHaveLength(2);
  expect(since(() => key('z', { metaKey: true })).filter((call) => call === 'stroke()')).toHaveLength(1);
});

it('sends what was painted as a mask of its own, and closes', async () => {
  const uploads = holdUploads();
  const onChange = await paint();
  stroke();
  press('Use the mask');
  await waitFor(() => expect(uploads).toHaveLength(1));
  expect(button('Sending').disabled).toBe(true);
  expect([uploads[0]?.file.name, uploads[0]?.file.type, uploads[0]?.operations.variables['listed']]).toEqual([
    'mask.png',
    'image/png',
    false,
  ]);
  uploads[0]?.refuse('TOO_LARGE');
  await screen.findByRole('alert');
  press('Use the mask');
  await waitFor(() => expect(uploads).toHaveLength(2));
  uploads[1]?.store('new');
  await waitFor(() => expect(dialog()).toBeNull());
  expect(onChange.mock.calls[0]?.[0]?.id).toBe('new');
});

it('goes on with a mask of before, and anew where that can not be read', async () => {
  await paint(imageFile, before);
  await waitFor(() => expect(button('Use the mask').disabled).toBe(false));
  expect(button('Undo').disabled).toBe(true);
  const drawn = since(() => press('Invert')).filter((call) => call.startsWith('drawImage'));
  expect([...new Set(drawn)]).toEqual(['drawImage(image 0 0 100 50)']);
  press('Clear');
  expect(since(() => press('Invert')).filter((call) => call.startsWith('drawImage'))).toEqual([]);
  const open = dialog();
  if (open !== null) fireEvent(open, new Event('close'));
  await waitFor(() => expect(dialog()).toBeNull());
  document.body.replaceChildren();
  await paint(imageFile, { ...before, url: '/gone.png' });
  await act(async () => undefined);
  expect(button('Use the mask').disabled).toBe(true);
});

it('a mask is white where something is painted, and read back in the colour of the brush', async () => {
  const painted = document.createElement('canvas');
  Object.assign(painted, { width: 4, height: 2 });
  const file = await maskFile(painted);
  expect([file.name, file.type, drawn]).toMatchInlineSnapshot(`
    [
      "mask.png",
      "image/png",
      [
        "drawImage(painted 0 0)",
        "globalCompositeOperation = source-in",
        "fillStyle = #fff",
        "fillRect(0 0 4 2)",
        "globalCompositeOperation = destination-over",
        "fillStyle = #000",
        "fillRect(0 0 4 2)",
      ],
    ]
  `);
  drawn = [];
  await readMask('/m.png');
  expect(drawn).toMatchInlineSnapshot(`
    [
      "drawImage(image 0 0)",
      "getImageData(0 0 2 1)",
      "putImageData(255,1,2,255,0,3,4,0 0 0)",
      "globalCompositeOperation = source-in",
      "fillStyle = #ff2d6f",
      "fillRect(0 0 2 1)",
    ]
  `);
  const line: PaintStep = { kind: 'line', points: [], width: 3, isErasing: false };
  drawn = [];
  paintAll(painted, null, [line]);
  expect(drawn[1]).toBe('clearRect(0 0 4 2)');
  expect(drawn.slice(-5)).toEqual([
    'lineWidth = 3',
    'lineCap = round',
    'lineJoin = round',
    'beginPath()',
    'stroke()',
  ]);
});

it('nothing is painted where there is nothing to paint on', async () => {
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
  vi.stubGlobal(
    'OffscreenCanvas',
    class extends Offscreen {
      override getContext = () => null;
    },
  );
  const painted = document.createElement('canvas');
  paintAll(painted, null, [{ kind: 'invert' }]);
  expect(drawn).toEqual([]);
  await expect(maskFile(painted)).rejects.toThrow('This browser cannot draw here');
  await expect(readMask('/m.png')).rejects.toThrow('This browser cannot draw here');
});
