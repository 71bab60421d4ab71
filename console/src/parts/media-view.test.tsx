import { fireEvent, render } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { outline } from '../testing/outline.ts';
import { MediaView } from './media-view.tsx';

afterEach(() => document.body.replaceChildren());

const media = (contentType: string, change: object = {}) =>
  ({
    id: 'm1',
    url: '/files/m1',
    contentType,
    width: 1_024,
    height: 768,
    thumbnail: '/files/m1/640',
    large: '/files/m1/1280',
    ...change,
  }) as MediaPartsFragment;
const sources = () => document.querySelector('img')?.getAttribute('srcset');

it('a file is shown as what it is, in the shape it has', async () => {
  render(
    <>
      <MediaView media={media('image/png')} alt="a lake" />
      <MediaView media={media('image/png', { width: null, height: null })} alt="a lake" className="w-full" />
      <MediaView media={media('video/mp4')} alt="a lake" />
      <MediaView media={media('video/mp4', { width: null, height: null })} alt="a lake" className="w-full" />
      <MediaView media={media('audio/mpeg')} alt="a song" className="w-full" />
      <MediaView media={media('audio/mpeg', { thumbnail: null })} alt="a song" />
      <MediaView media={media('text/plain')} alt="words" />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/media.txt');
  const { muted, loop, controls } = document.querySelector('video') ?? ({} as HTMLVideoElement);
  expect([muted, loop, controls]).toEqual([true, true, true]);
});

it.each([
  ['640', 640, {}, null],
  ['641', 641, {}, '/files/m1/640 640w, /files/m1/1280 641w'],
  ['1280', 1_280, {}, '/files/m1/640 640w, /files/m1/1280 1280w'],
  ['1281', 1_281, {}, '/files/m1/640 640w, /files/m1/1280 1280w, /files/m1 1281w'],
  ['an unknown number of', null, {}, null],
  ['without a large copy 1000', 1_000, { large: null }, null],
  ['without a small copy 1000', 1_000, { thumbnail: null }, null],
] as const)('an image of %s dots has the copies that it is larger than', (_, width, change, found) => {
  render(<MediaView media={media('image/png', { width, ...change })} alt="a lake" mayScale />);
  expect(sources()).toBe(found);
});

it('a damaged file is shown itself, as it has no copies', () => {
  render(<MediaView media={media('image/png')} alt="a lake" mayScale />);
  expect(sources()).not.toBeNull();
  fireEvent.error(document.querySelector('img') ?? document.body);
  expect(sources()).toBeNull();
});

it('a recording shows how far it has played, and goes where its waveform is pressed', () => {
  render(<MediaView media={media('audio/mpeg')} alt="a song" />);
  const player = document.querySelector('audio');
  const wave = document.querySelector<HTMLElement>('[aria-hidden=true]');
  if (player === null || wave === null) throw new Error('there is no player');
  const played = () => wave.querySelector('span')?.style.width;
  const at = (currentTime: number, duration: number) => {
    Object.defineProperties(player, {
      currentTime: { value: currentTime, writable: true, configurable: true },
      duration: { value: duration, configurable: true },
    });
  };
  expect(played()).toBe('0%');
  for (const [event, time] of [
    ['timeUpdate', 2],
    ['seeked', 4],
    ['ended', 8],
  ] as const) {
    at(time, 8);
    fireEvent[event](player);
    expect(played()).toBe(`${(time / 8) * 100}%`);
  }
  wave.getBoundingClientRect = () => ({ left: 100, width: 200 }) as DOMRect;
  fireEvent.click(wave, { clientX: 150 });
  expect(player.currentTime).toBe(2);
  at(3, NaN);
  fireEvent.timeUpdate(player);
  expect(played()).toBe('0%');
  // Nobody knows yet how long it is.
  fireEvent.click(wave, { clientX: 150 });
  expect(player.currentTime).toBe(3);
});
