import { describe, expect, it } from 'vitest';

import type { Binding } from '../generators/bindings/binding.ts';
import { withGenerator } from './startable.ts';

/** A binding that makes images and videos, as far as its models do; "gone" has ended. */
function binding(generator: string, models: Readonly<Record<string, readonly string[]>>): Binding {
  const listed = Object.entries(models).map(([id, kinds]) => ({
    id,
    kinds,
    isRetired: () => id === 'gone',
  }));
  const provider = { jobs: { IMAGE: {}, VIDEO: {} } };
  return { generator, provider, models: listed } as unknown as Binding;
}

const all = [
  binding('union', { brush: ['IMAGE'], shared: ['IMAGE'], gone: ['IMAGE'] }),
  binding('agg', { shared: ['IMAGE'], reel: ['VIDEO'] }),
];
const generatorFor = (kind: 'IMAGE' | 'VIDEO', generator: string, model?: string) =>
  withGenerator({ all: () => all }, kind, { generator, model });

describe('the generator of work that names a model', () => {
  it.each([
    ['its own where that has the model', 'agg', 'shared', { generator: 'agg', model: 'shared' }],
    ['the first that has the model', 'agg', 'brush', { generator: 'union', model: 'brush' }],
    ['one that is named as a model', 'union', 'agg', { generator: 'agg', model: null }],
    ['its own where no model is named', 'agg', undefined, { generator: 'agg' }],
  ])('is %s', (_, generator, model, request) => {
    expect(generatorFor('IMAGE', generator, model)).toEqual(request);
  });

  it('makes a video with its default model where a template names the model of its images', () => {
    expect(generatorFor('VIDEO', 'agg', 'brush')).toEqual({ generator: 'agg', model: null });
  });

  it('is refused for a model that nothing has, naming those that would do and have not ended', () => {
    expect(() => generatorFor('IMAGE', 'union', 'reel')).toThrow(
      expect.objectContaining({
        field: 'model',
        message: 'model: no generator here makes images with it; known are brush, shared',
      }),
    );
  });
});
