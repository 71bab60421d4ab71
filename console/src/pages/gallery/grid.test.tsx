import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { ago, createFile, createList, createTask } from '../../testing/things.ts';
import { all, key, resizeTo, shown } from '../../testing/use.ts';
import { closeConsole, openConsole } from '../../testing/whole-console.tsx';

afterEach(async () => {
  resizeTo(1_024);
  document.documentElement.style.fontSize = '';
  await closeConsole();
});

/** Four a row, twelve of them, the last two of the day before. */
const FILES = Array.from({ length: 12 }, (_, at) =>
  createFile(`f${at}`, { width: 1_000, height: 800, createdAt: ago(at < 10 ? at : 100_000) }),
);
const open = (address: string) =>
  openConsole(address, { medias: createList(FILES), task: createTask('any') });
/** Where each row is, the name of a day, and its pieces with their sizes. */
const rows = () =>
  [...document.querySelectorAll<HTMLElement>('[data-grid] > div')].map((row) => {
    const pieces = [...row.querySelectorAll<HTMLElement>('[data-piece]')].map(({ dataset, style }) =>
      [
        dataset['piece'],
        ...[style.width, style.height].map((size) => Number.parseFloat(size).toFixed(1)),
      ].join(' '),
    );
    return [row.style.transform, row.querySelector('h2')?.textContent ?? '', ...pieces].join(' | ');
  });
const height = () => document.querySelector<HTMLElement>('[data-grid]')?.style.height;

it('lays rows out below each other, of the width that there is, under the names of days', async () => {
  await open('/gallery');
  await screen.findByAltText('a lake, f11');
  expect(rows()).toMatchInlineSnapshot(`
    [
      "translateY(0px) | Today",
      "translateY(48px) |  | f0 253.0 202.4 | f1 253.0 202.4 | f2 253.0 202.4 | f3 253.0 202.4",
      "translateY(254.4px) |  | f4 253.0 202.4 | f5 253.0 202.4 | f6 253.0 202.4 | f7 253.0 202.4",
      "translateY(460.8px) |  | f8 245.0 196.0 | f9 245.0 196.0",
      "translateY(660.8px) | Yesterday",
      "translateY(708.8px) |  | f10 245.0 196.0 | f11 245.0 196.0",
    ]
  `);
  expect(height()).toMatchInlineSnapshot(`"908.8px"`);
});

it.each([
  [760, 104],
  [761, 196],
  [1_719, 196],
  [1_720, 232],
  [2_559, 232],
  [2_560, 296],
])('has rows for a window that is %i wide', async (width, most) => {
  resizeTo(width);
  await open('/gallery');
  const last = await shown('[data-piece=f11]');
  expect(last.style.height).toBe(`${most}px`);
});

it('grows with the letters of the page', async () => {
  document.documentElement.style.fontSize = '32px';
  await open('/gallery');
  await screen.findByAltText('a lake, f11');
  expect(rows().map((row) => row.split(' |')[0])).toMatchInlineSnapshot(`
    [
      "translateY(0px)",
      "translateY(96px)",
      "translateY(304px)",
      "translateY(512px)",
      "translateY(716px)",
      "translateY(812px)",
    ]
  `);
});

it('is walked through by arrows, closed by Escape', async () => {
  const { address } = await open('/gallery?find=lake');
  await screen.findByAltText('a lake, f11');
  const goes = async (name: string, id: string) => {
    expect(key(name)).toBe(true);
    await waitFor(() => expect(address()).toBe(`/gallery?find=lake&open=${id}`));
    await waitFor(() =>
      expect(document.querySelector('[aria-current][href*=open]')?.getAttribute('href')).toContain(
        `open=${id}`,
      ),
    );
  };
  // What needs an open piece is left to the page.
  for (const name of ['ArrowDown', 'ArrowUp', 'Escape', 'x', 'z', 'q']) expect(key(name)).toBe(false);
  expect(key('ArrowLeft')).toBe(true);
  await goes('ArrowRight', 'f0');
  await goes('ArrowRight', 'f1');
  await goes('ArrowLeft', 'f0');
  expect(key('ArrowLeft')).toBe(true);
  expect(key('ArrowUp')).toBe(true);
  expect(address()).toBe('/gallery?find=lake&open=f0');
  await goes('ArrowDown', 'f4');
  await goes('ArrowDown', 'f8');
  await goes('ArrowDown', 'f10');
  expect(key('ArrowDown')).toBe(true);
  await goes('ArrowRight', 'f11');
  expect(key('ArrowRight')).toBe(true);
  await goes('ArrowUp', 'f9');
  expect(key('x', { ctrlKey: true })).toBe(false);
  key('Escape');
  await waitFor(() => expect(address()).toBe('/gallery?find=lake'));
});

it('ticks and enlarges what is open by keys, but not while somebody types', async () => {
  await open('/gallery?open=f1');
  await shown('[data-piece=f11]');
  key('x');
  await waitFor(() => expect(all('[aria-checked=true]', 'Select a lake, f1')).toHaveLength(1));
  key('x');
  await waitFor(() => expect(document.querySelector('[aria-checked=true]')).toBeNull());
  expect(key('z', {}, screen.getByRole('searchbox'))).toBe(false);
  expect(document.querySelector('dialog')).toBeNull();
  key('z');
  await shown('dialog');
});

it('scrolls to what is opened outside of the window', async () => {
  const scrollTo = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined);
  const files = Array.from({ length: 60 }, (_, at) =>
    createFile(`f${at}`, { width: 4_000, height: 800, createdAt: ago(at) }),
  );
  await openConsole('/gallery?open=f50', { medias: createList(files), task: createTask('any') });
  await waitFor(() => expect(scrollTo).toHaveBeenCalled());
  scrollTo.mockRestore();
});

it('leaves nothing that listens when its page is left', async () => {
  const { address } = await open('/gallery?open=f1');
  await shown('aside');
  fireEvent.click(all('nav a', 'Cast')[0] ?? document.body);
  await waitFor(() => expect(address()).toBe('/cast'));
  await waitFor(() => expect(document.querySelector('[data-grid]')).toBeNull());
  expect(key('ArrowRight')).toBe(false);
});
