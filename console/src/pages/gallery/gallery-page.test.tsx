import { waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { closeConsole, type Fields, NOW, openConsole } from '../../testing/whole-console.tsx';

afterEach(closeConsole);

const file = (id: string, change: Fields = {}): Fields => ({
  id,
  url: `https://kiln.test/files/${id}`,
  contentType: 'image/png',
  bytes: 2_048,
  width: 1_024,
  height: 768,
  createdAt: NOW.toISOString(),
  name: `${id}.png`,
  thumbnail: `https://kiln.test/files/${id}/small`,
  starred: false,
  task: { id: `task-${id}`, kind: 'IMAGE', model: 'large', input: { prompt: `a lake, ${id}` } },
  ...change,
});
const listOf = (nodes: readonly Fields[]): Fields => ({
  totalCount: nodes.length,
  edges: nodes.map((node) => ({ node })),
  pageInfo: { hasNextPage: false },
});

it('shows what was made, newest first', async () => {
  const { askedFor } = await openConsole('/gallery', {
    medias: listOf([
      file('one'),
      file('two', { starred: true }),
      file('film', { contentType: 'video/mp4', duration: 5 }),
    ]),
  });
  await waitFor(() => expect(document.querySelectorAll('img').length).toBeGreaterThan(0));
  await expect(outline()).toMatchFileSnapshot('outlines/gallery.txt');
  expect(askedFor('Gallery')[0]).toEqual({ filter: {}, first: 200, after: null });
});
