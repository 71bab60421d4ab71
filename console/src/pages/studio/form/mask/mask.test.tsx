import { act, fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { useState } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { StoredFile } from '../../../../api/kiln.ts';
import { drawn, stubCanvases } from '../../../../testing/canvas.ts';
import { outline } from '../../../../testing/outline.ts';
import { holdUploads } from '../../../../testing/uploads.ts';
import { MaskField } from './mask-field.tsx';

beforeEach(stubCanvases);
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
const closeDialog = async () => {
  const open = dialog();
  if (open !== null) fireEvent(open, new Event('close'));
  await waitFor(() => expect(dialog()).toBeNull());
};
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
  drawn.length = 0;
  action();
  return [...drawn];
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

it('leaves the mask as it was when it is closed while it sends', async () => {
  const uploads = holdUploads();
  const onChange = await paint();
  stroke();
  press('Use the mask');
  await waitFor(() => expect(uploads).toHaveLength(1));
  await closeDialog();
  expect(uploads[0]?.isAborted()).toBe(true);
  uploads[0]?.store('late');
  await act(async () => undefined);
  expect(onChange).not.toHaveBeenCalled();
});

it('goes on with a mask of before, and anew where that can not be read', async () => {
  await paint(imageFile, before);
  await waitFor(() => expect(button('Use the mask').disabled).toBe(false));
  expect(button('Undo').disabled).toBe(true);
  const drawn = since(() => press('Invert')).filter((call) => call.startsWith('drawImage'));
  expect([...new Set(drawn)]).toEqual(['drawImage(image 0 0 100 50)']);
  press('Clear');
  expect(since(() => press('Invert')).filter((call) => call.startsWith('drawImage'))).toEqual([]);
  await closeDialog();
  document.body.replaceChildren();
  await paint(imageFile, { ...before, url: '/gone.png' });
  await act(async () => undefined);
  expect(button('Use the mask').disabled).toBe(true);
});
