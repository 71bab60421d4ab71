import { expect, it } from 'vitest';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { setDraft } from './keeper.ts';
import { endText } from './model-words.ts';
import { formAt, placesFor } from './reuse.ts';
import type { Model } from './work.ts';

const model = (name: string, kinds: readonly string[], inputs: readonly string[], more = {}) =>
  ({
    generator: 'g',
    model: name,
    kinds,
    inputs,
    allowed: true,
    paused: false,
    maxImages: 2,
    ...more,
  }) as unknown as Model;
const models = [
  model('draws', ['IMAGE'], ['prompt', 'images', 'mask']),
  model('paused', ['VIDEO'], ['prompt', 'image'], { paused: true }),
  model('moves', ['VIDEO'], ['prompt', 'image']),
  model('speaks', ['LIP_SYNC'], ['image', 'audio']),
];
const createImage = (id: string) =>
  ({ id, url: `/${id}`, contentType: 'image/png', bytes: 1 }) as MediaPartsFragment;

it('a result can be used in every place that a model takes it in', () => {
  const named = (type: string) => placesFor(type, models).map(({ kind, member }) => `${kind}.${member}`);
  expect(named('image/png')).toEqual(['IMAGE.images', 'IMAGE.mask', 'VIDEO.image', 'LIP_SYNC.image']);
  expect(named('audio/wav')).toEqual(['LIP_SYNC.audio']);
  expect(named('text/plain')).toEqual([]);
});

it('a first frame goes to a model that works, and what was filled in stays', () => {
  setDraft('video', { key: 'VIDEO g none', values: { prompt: 'run' } });
  const draft = formAt({ tab: 'video', kind: 'VIDEO', member: 'image' }, createImage('a'), models);
  expect(draft).toEqual({
    key: 'VIDEO g moves',
    values: { prompt: 'run', image: { id: 'a', url: '/a', contentType: 'image/png', bytes: 1 } },
  });
});

it('references add up to as many as the model takes', () => {
  const place = { tab: 'image', kind: 'IMAGE', member: 'images' } as const;
  for (const id of ['a', 'b', 'b', 'c']) {
    const draft = formAt(place, createImage(id), models);
    if (draft !== null) setDraft('image', draft);
  }
  const images = formAt(place, createImage('d'), models)?.values['images'] as readonly { id: string }[];
  expect(images.map(({ id }) => id)).toEqual(['a', 'd']);
});

it('a model that ends soon, or has ended, says so', () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const texts = [-1, 5, 300].map((days) =>
    endText({ retiresAt: inDays(days) } as Parameters<typeof endText>[0]),
  );
  expect(texts).toEqual(['ended', expect.stringMatching(/^ends in \d days$/), null]);
});
