import { expect, it } from 'vitest';

import { takenBy } from './taken.ts';

const model = {
  sizes: ['720p', '1080p'],
  aspectRatios: null,
  durations: [5],
  formats: ['wav'],
  maxCount: 2,
  maxImages: 1,
};

it('what a model does not offer is left to its own default, and the rest stays', () => {
  const values = {
    prompt: 'a',
    resolution: '4K',
    aspectRatio: '7:3',
    duration: 10,
    format: 'wav',
    count: 4,
    images: [1, 2],
  };
  expect(takenBy(model, values)).toEqual({
    prompt: 'a',
    resolution: null,
    aspectRatio: '7:3',
    duration: null,
    format: 'wav',
    count: 2,
    images: [1],
  });
});
