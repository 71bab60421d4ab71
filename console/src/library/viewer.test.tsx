import { fireEvent, render } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { outline } from '../testing/outline.ts';
import { all, key } from '../testing/use.ts';
import { Viewer } from './viewer.tsx';

afterEach(() => vi.restoreAllMocks());

const media = (id: string, change: Partial<MediaPartsFragment> = {}) =>
  ({
    id,
    url: `/files/${id}`,
    contentType: 'image/png',
    width: 2_000,
    height: 1_000,
    thumbnail: null,
    ...change,
  }) as MediaPartsFragment;

function open(shown = media('one')) {
  const onMove = vi.fn<(step: -1 | 1) => void>();
  const onClose = vi.fn<() => void>();
  const show = (each: MediaPartsFragment) => (
    <Viewer media={each} name={`Name of ${each.id}`} onMove={onMove} onClose={onClose} />
  );
  const { rerender } = render(show(shown));
  const dialog = document.querySelector('dialog') as HTMLDialogElement;
  const frame = dialog.querySelector<HTMLElement>('[aria-pressed]') as HTMLElement;
  return {
    dialog,
    frame,
    onMove,
    onClose,
    change: (next: MediaPartsFragment) => rerender(show(next)),
    press: (name: string) => key(name, {}, dialog),
    width: () => dialog.querySelector('img')?.style.width,
    state: () => [dialog.dataset['viewer'], frame.getAttribute('aria-pressed')].join(' '),
  };
}
/** The browser shows an image of so many own pixels as wide as the window. */
const isWide = (pixels: number) =>
  vi.spyOn(HTMLImageElement.prototype, 'naturalWidth', 'get').mockReturnValue(pixels);

it('shows a piece over the whole window, fitting it', async () => {
  const { dialog, state } = open();
  expect(dialog.open).toBe(true);
  expect(state()).toBe('fit false');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/viewer.txt');
});

it.each(['video/mp4', 'audio/wav'])('plays what is %s, without zoom', async (contentType) => {
  const { dialog, press } = open(media('one', { contentType }));
  await expect(outline(dialog)).toMatchFileSnapshot(`outlines/viewer-${contentType.slice(0, 5)}.txt`);
  expect(key('ArrowRight', {}, dialog.querySelector('video, audio') ?? dialog)).toBe(false);
  expect(press('q')).toBe(false);
});

it('goes on by arrows and buttons, and closes by its cross', () => {
  const { press, onMove, onClose } = open();
  expect(press('ArrowRight')).toBe(true);
  press('ArrowLeft');
  fireEvent.click(all('button', 'Next')[0] as HTMLElement);
  fireEvent.click(all('button', 'Previous')[0] as HTMLElement);
  expect(onMove.mock.calls).toEqual([[1], [-1], [1], [-1]]);
  expect(onClose).not.toHaveBeenCalled();
  fireEvent.click(all('button', 'Close')[0] as HTMLElement);
  expect(onClose).toHaveBeenCalledOnce();
});

it('changes between fitting and own pixels by Z and by a click', async () => {
  const { press, state, width, frame, dialog } = open();
  press('z');
  expect([state(), width()]).toEqual(['full true', '2000px']);
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/viewer-full.txt');
  press('Z');
  expect([state(), width()]).toEqual(['fit false', '']);
  fireEvent.click(frame);
  expect(state()).toBe('full true');
  fireEvent.click(frame);
  expect(state()).toBe('fit false');
});

it('zooms from what is shown, to an eighth and eight times', () => {
  isWide(2_048);
  const { press, width } = open();
  press('+');
  expect(width()).toBe('1250px');
  press('=');
  expect(width()).toBe('1562.5px');
  press('-');
  expect(width()).toBe('1250px');
  fireEvent.click(all('button', 'Smaller')[0] as HTMLElement);
  expect(width()).toBe('1000px');
  fireEvent.click(all('button', 'Larger')[0] as HTMLElement);
  expect(width()).toBe('1250px');
  for (let step = 0; step < 20; step += 1) press('+');
  expect(width()).toBe('16000px');
  for (let step = 0; step < 40; step += 1) press('-');
  expect(width()).toBe('250px');
  press('0');
  expect(width()).toBe('');
});

it('zooms from own pixels what is not drawn yet, and what was not measured by itself', () => {
  isWide(0);
  const { press, width, change } = open();
  press('+');
  expect(width()).toBe('2500px');
  change(media('two', { width: null }));
  press('z');
  expect(width()).toBe('');
});

it('begins with another piece fitting, and does not go back to what the first one had', () => {
  const { press, state, change } = open();
  press('z');
  change(media('two'));
  expect(state()).toBe('fit false');
  press('z');
  expect(state()).toBe('full true');
  change(media('one'));
  expect(state()).toBe('fit false');
});

it('is moved by dragging, which is no click', () => {
  const { frame, state } = open();
  const scrolled: number[][] = [];
  frame.scrollBy = ((x: number, y: number) => scrolled.push([x, y])) as never;
  const move = (init: object) => {
    const event = new Event('pointermove', { bubbles: true });
    fireEvent(frame, Object.assign(event, { buttons: 1, movementX: 0, movementY: 0, ...init }));
  };
  move({ movementX: 5 });
  expect(scrolled).toEqual([]);
  fireEvent.click(frame);
  expect(state()).toBe('full true');
  fireEvent(frame, new Event('pointerdown', { bubbles: true }));
  move({});
  move({ buttons: 0, movementX: 5 });
  fireEvent.click(frame);
  expect(state()).toBe('fit false');
  fireEvent.click(frame);
  fireEvent(frame, new Event('pointerdown', { bubbles: true }));
  move({ movementX: 5 });
  move({ movementY: -3 });
  move({ movementX: 1, movementY: 2 });
  expect(scrolled.map((each) => each.map((one) => one + 0))).toEqual([
    [-5, 0],
    [0, 3],
    [-1, -2],
  ]);
  fireEvent.click(frame);
  expect(state()).toBe('full true');
  fireEvent(frame, new Event('pointerdown', { bubbles: true }));
  fireEvent.click(frame);
  expect(state()).toBe('fit false');
});

it('is zoomed by the wheel, and the page does not scroll', () => {
  isWide(1_024);
  const { frame, width } = open();
  const wheel = (deltaY: number) => {
    const event = Object.assign(new Event('wheel', { bubbles: true, cancelable: true }), { deltaY });
    fireEvent(frame, event);
    return event.defaultPrevented;
  };
  expect(wheel(-1)).toBe(true);
  expect(width()).toBe('2500px');
  wheel(1);
  expect(width()).toBe('2000px');
  wheel(0);
  expect(width()).toBe('1600px');
});

it('keeps in the middle what was there, while its size changes', () => {
  const { frame, press } = open();
  const scrolled: (readonly [number, number])[] = [];
  frame.scrollTo = ((x: number, y: number) => scrolled.push([x, y])) as never;
  const has = (name: string, value: number) =>
    Object.defineProperty(frame, name, { value, configurable: true });
  has('clientWidth', 100);
  has('clientHeight', 50);
  has('scrollWidth', 1_000);
  has('scrollHeight', 400);
  press('z');
  expect(scrolled).toEqual([[450, 175]]);
  frame.scrollLeft = 150;
  frame.scrollTop = 75;
  frame.dispatchEvent(new Event('scroll'));
  press('+');
  expect(scrolled[1]).toEqual([150, 75]);
});
