import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { expect, it, vi } from 'vitest';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { outline } from '../testing/outline.ts';
import { Compare, START, zoomed } from './compare.tsx';

const piece = (id: string) => ({
  media: { id, url: `/${id}.png` } as MediaPartsFragment,
  name: `Image ${id}`,
});
const none = () => undefined;

it('two images stand side by side, or one over the other with a line between them', () => {
  render(<Compare pieces={[piece('a'), piece('b')]} onClose={none} />);
  expect(screen.getAllByRole('img', { hidden: true })).toHaveLength(2);
  fireEvent.click(screen.getByText('Wipe between the two'));
  const line = screen.getByRole('slider', { hidden: true });
  fireEvent.change(line, { target: { value: '30' } });
  const upper = screen.getByAltText('Image a').parentElement;
  expect(upper?.style.clipPath).toBe('inset(0 70% 0 0)');
});

it('three images have no line to be drawn across, and all are zoomed together', () => {
  render(<Compare pieces={[piece('a'), piece('b'), piece('c')]} onClose={none} />);
  expect(screen.queryByText('Wipe between the two')).toBeNull();
  fireEvent.click(screen.getByLabelText('Larger'));
  const scales = ['a', 'b', 'c'].map((id) => screen.getByAltText(`Image ${id}`).style.transform);
  expect(new Set(scales)).toEqual(new Set(['translate(0px, 0px) scale(1.25)']));
});

it('what is in the middle stays there while the zoom changes, and all of it is shown again at the end', () => {
  expect(zoomed({ scale: 2, x: 10, y: -20 }, 2)).toEqual({ scale: 4, x: 20, y: -40 });
  expect(zoomed({ scale: 2, x: 10, y: -20 }, 0.1)).toBe(START);
  expect(zoomed({ scale: 8, x: 0, y: 0 }, 2).scale).toBe(8);
});

const open = (...ids: readonly string[]) => {
  const onClose = vi.fn<() => void>();
  render(<Compare pieces={ids.map(piece)} onClose={onClose} />);
  const dialog = screen.getByRole<HTMLDialogElement>('dialog', { name: 'Compare' });
  const key = (name: string) => fireEvent.keyDown(dialog, { key: name });
  const transform = () => screen.getByAltText('Image a').style.transform;
  return { onClose, dialog, key, transform };
};

it('images are compared over the page until that is closed, two, three and four of them', async () => {
  const outlines = [
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['a', 'b', 'c', 'd'],
    ['a', 'b', 'c', 'd', 'e'],
  ].map((ids) => {
    open(...ids);
    const drawn = outline(document.querySelector('dialog'));
    cleanup();
    return drawn;
  });
  expect(outlines[3]).toBe(outlines[2]);
  await expect(outlines.slice(0, 3).join('\n')).toMatchFileSnapshot('outlines/compare.txt');
  const { onClose, dialog } = open('a', 'b');
  expect(dialog.open).toBe(true);
  fireEvent.click(screen.getByLabelText('Close'));
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
});

it('keys zoom, show all again, and wipe between two', async () => {
  const { key, transform } = open('a', 'b');
  expect(screen.queryByLabelText('Show all of it')).toBeNull();
  const views = ['+', '=', '-', 'x', '0', '-'].map((name) => {
    key(name);
    return transform();
  });
  const scaled = (scale: number) => `translate(0px, 0px) scale(${scale})`;
  expect(views).toEqual([1.25, 1.5625, 1.25, 1.25, 1, 1].map(scaled));
  key('w');
  await expect(outline(document.querySelector('dialog'))).toMatchFileSnapshot('outlines/wipe.txt');
  key('w');
  expect(screen.queryByRole('slider')).toBeNull();
  fireEvent.click(screen.getByLabelText('Larger'));
  fireEvent.click(screen.getByLabelText('Larger'));
  fireEvent.click(screen.getByLabelText('Smaller'));
  expect(transform()).toBe(scaled(1.25));
  fireEvent.click(screen.getByLabelText('Show all of it'));
  expect([transform(), screen.queryByLabelText('Show all of it')]).toEqual([scaled(1), null]);
  cleanup();
  open('a', 'b', 'c').key('w');
  expect(screen.queryByRole('slider')).toBeNull();
});

it('the wheel zooms and the page stays where it is; a pressed pointer moves what is zoomed', () => {
  const { transform } = open('a', 'b');
  const pane = screen.getByAltText('Image a');
  const drag = (buttons: number) =>
    fireEvent(
      pane,
      Object.assign(new PointerEvent('pointermove', { bubbles: true, buttons }), {
        movementX: 3,
        movementY: -2,
      }),
    );
  drag(1);
  expect(transform()).toBe('translate(0px, 0px) scale(1)');
  expect(fireEvent.wheel(pane, { deltaY: -1 })).toBe(false);
  drag(1);
  drag(0);
  drag(1);
  expect(transform()).toBe('translate(6px, -4px) scale(1.25)');
  fireEvent.wheel(pane, { deltaY: -1 });
  expect(transform()).toBe('translate(7.5px, -5px) scale(1.5625)');
  fireEvent.wheel(pane, { deltaY: 0 });
  expect(transform()).toBe('translate(6px, -4px) scale(1.25)');
});

it('images that are gone leave nothing that listens', () => {
  const off = vi.spyOn(HTMLElement.prototype, 'removeEventListener');
  open('a', 'b');
  cleanup();
  expect(off.mock.calls.map(([name]) => name)).toContain('wheel');
  off.mockRestore();
});
