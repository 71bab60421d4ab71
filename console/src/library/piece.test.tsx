import { fireEvent, render } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { outline } from '../testing/outline.ts';
import { aBatch, keepBatches } from '../testing/studio.ts';
import { downloadFiles } from './download.ts';
import { namePiece, Preview } from './piece.tsx';

afterEach(() => {
  keepBatches([]);
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const media = (contentType: string, change: Partial<MediaPartsFragment> = {}) =>
  ({
    id: 'one',
    url: 'https://kiln.test/one',
    name: 'one.png',
    contentType,
    thumbnail: 'https://kiln.test/small',
    duration: null,
    createdAt: '2026-09-01T12:00:00Z',
    ...change,
  }) as MediaPartsFragment;

it.each(['strip', 'rows', undefined] as const)('looks in %s as its kind does', async (place) => {
  const looks = [
    media('image/png'),
    media('image/png', { thumbnail: null }),
    media('video/mp4'),
    media('video/mp4', { thumbnail: null, duration: 7.6 }),
    media('audio/wav', { duration: 2.46 }),
    media('audio/wav', { thumbnail: null }),
  ].map((one) => {
    const { container } = render(
      <Preview piece={{ media: one, task: null }} name="a lake" {...(place && { place })} />,
    );
    return outline(container);
  });
  await expect(looks.join('')).toMatchFileSnapshot(`outlines/preview-${place ?? 'squares'}.txt`);
});

it('shows an image itself where it has no small copy, once', () => {
  const { container } = render(<Preview piece={{ media: media('image/png'), task: null }} name="a lake" />);
  const image = container.querySelector('img') as HTMLImageElement;
  fireEvent.error(image);
  expect(image.src).toBe('https://kiln.test/one');
  const set = vi.spyOn(image, 'src', 'set');
  fireEvent.error(image);
  expect(set).not.toHaveBeenCalled();
});

it('is called by what was asked for, else by its batch, its kind or its file', () => {
  const task = { id: 't1', kind: 'IMAGE', generator: 'lakes' } as const;
  const name = (producer: Parameters<typeof namePiece>[0]['task']) =>
    namePiece({ media: media('image/png'), task: producer });
  expect(name(null)).toBe('one.png');
  expect(name({ ...task, input: { prompt: 'a lake' } })).toBe('a lake');
  expect(name(task)).toBe('Image');
  keepBatches([aBatch('t1', { values: { prompt: 'a sea' } })]);
  expect(name({ ...task, input: { prompt: null } })).toBe('a sea');
  keepBatches([aBatch('t1', { values: {} })]);
  expect(name(task)).toBe('Image');
});

/** What the browser saves. */
function saves() {
  const saved: string[] = [];
  const blobs: Blob[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push(`${this.download} ${this.href}`);
  });
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => `blob:${blobs.push(blob as Blob)}`);
  return { saved, blobs };
}

it('saves nothing of nothing, and one file as it is', async () => {
  const { saved } = saves();
  await downloadFiles([]);
  expect(saved).toEqual([]);
  await downloadFiles([media('image/png')]);
  expect(saved).toEqual(['one.png https://kiln.test/one']);
});

it('saves several together under names of their own', async () => {
  vi.useFakeTimers({ now: new Date('2026-09-01T12:00:00Z'), toFake: ['Date'] });
  vi.stubGlobal('fetch', async () => new Response('bytes'));
  const { saved, blobs } = saves();
  await downloadFiles([
    media('a'),
    media('a'),
    media('a'),
    media('a', { name: 'bare' }),
    media('a', { name: 'bare' }),
    media('a', { name: 'one (1).png' }),
  ]);
  expect(saved).toEqual(['kiln-2026-09-01.zip blob:1']);
  const text = await blobs[0]?.text();
  expect(new Set(text?.match(/(one|bare)( \(\d\))*(\.png)?/g))).toEqual(
    new Set(['one.png', 'one (1).png', 'one (2).png', 'bare', 'bare (1)', 'one (1) (1).png']),
  );
});

it('says which file could not be had', async () => {
  vi.stubGlobal('fetch', async () => new Response('', { status: 410 }));
  const { saved } = saves();
  await expect(downloadFiles([media('a'), media('a')])).rejects.toThrow('one.png: 410');
  expect(saved).toEqual([]);
});
