import { describe, expect, it } from 'vitest';

import type { VendorModel } from '../../providers/contract/provider.ts';
import { isAllowed } from './any-models.ts';
import { toCatalogEntry } from './described-model.ts';

const image = { type: 'object', properties: { images: { type: 'array' } } };

function described(properties: object, more: Partial<VendorModel> & { readonly schemas?: object } = {}) {
  const { schemas = {}, ...rest } = more;
  const input = { type: 'object', properties };
  const document = { components: { schemas: { Input: input, ...schemas } } };
  const model = { name: 'A model', document, input, output: image, example: null, source: 'here', ...rest };
  return toCatalogEntry('owner/name', model, '2026-11-24');
}

describe('a described model', () => {
  it('has the typed inputs that its fields say, in the form that these have', () => {
    const video = { type: 'object', properties: { video: { type: 'object' } } };
    const entry = described(
      {
        prompt: { type: 'string' },
        duration: { type: 'string', enum: ['4s', '6s', '8s'], default: '8s' },
        start_image: { type: 'string', format: 'uri' },
        end_image: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        reference_images: { type: 'array', items: { type: 'string' }, maxItems: 3 },
        generate_audio: { type: 'boolean' },
      },
      { output: video },
    );
    expect(entry).toMatchObject({
      kinds: ['VIDEO', 'FRAME_VIDEO'],
      durations: [8, 4, 6],
      maxImages: 3,
      inputs: ['prompt', 'duration', 'firstFrame', 'lastFrame', 'references', 'image', 'generateAudio'],
      wire: {
        fields: {
          duration: { name: 'duration', as: 'seconds' },
          firstFrame: { name: 'start_image' },
          lastFrame: { name: 'end_image' },
          references: { name: 'reference_images', as: 'list' },
        },
      },
      options: { properties: { generate_audio: { type: 'boolean', 'x-input': 'generateAudio' } } },
    });
  });

  const video = { output: { type: 'object', properties: { video: { type: 'object' } } } };
  const number = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum });

  it.each([
    [
      { aspect_ratio: { type: 'string', enum: ['auto', '1:1', '16:9'] } },
      {},
      { aspectRatios: ['1:1', '16:9'] },
    ],
    [{ resolution: { type: 'string', enum: ['1K', '2K'] } }, {}, { sizes: ['1K', '2K'] }],
    [{ num_images: { type: 'integer', enum: [1, 4] } }, {}, { counts: [1, 4] }],
    [{ num_images: number(1, 6) }, {}, { maxCount: 6 }],
    [{ image_urls: { type: 'array', maxItems: 5 } }, {}, { maxImages: 5 }],
    [{ image_url: { type: 'string' } }, {}, { maxImages: 1 }],
    [{ duration: { type: 'integer', enum: [5, 10], default: 10 } }, video, { durations: [10, 5] }],
    [{ duration: { ...number(3, 6), default: 5 } }, video, { durations: [5, 3, 4, 6] }],
    [{ duration: number(3.5, 6.2) }, video, { durations: [4, 5, 6] }],
    [{ duration: { type: 'string', enum: ['5', '10'] } }, video, { durations: [5, 10] }],
  ])('that has %j has the limits that it says', (properties, more, limits) => {
    expect(described({ prompt: { type: 'string' }, ...properties }, more)).toMatchObject(limits);
  });

  it.each([
    [{ aspect_ratio: { type: 'string' } }, {}, ['aspectRatio']],
    [{ resolution: { type: 'string' } }, {}, ['resolution']],
    [{ num_images: { type: 'integer' } }, {}, ['count']],
    [{ duration: { type: 'number' } }, video, ['duration']],
    [{ duration: number(1, 900) }, video, ['duration']],
    // Of another form than the typed input: an option, by the vendor's name.
    [{ aspect_ratio: { type: 'number' } }, {}, []],
    [{ image_size: { type: 'string', enum: ['small'] } }, {}, []],
    [{ resolution: { type: 'integer' } }, {}, []],
    [{ num_images: { type: 'string' } }, {}, []],
    [{ image_urls: { type: 'array', items: { type: 'object' } } }, {}, []],
    [{ mask: { type: 'boolean' } }, {}, []],
    [{ seed: { type: 'string' } }, {}, []],
    [{ duration: { type: 'string', enum: ['short', 'long'] } }, video, []],
    [{ duration: { type: 'boolean' } }, video, []],
  ])('that has %j takes it as it is, without limits', (properties, more, inputs) => {
    const entry = described({ prompt: { type: 'string' }, ...properties }, more);
    expect(entry.inputs).toEqual(['prompt', ...inputs]);
    const { aspectRatios, sizes, counts, maxCount, maxImages, durations } = entry;
    const limits = [aspectRatios, sizes, counts, maxCount, maxImages, durations];
    expect(limits).toEqual([null, null, null, null, null, null]);
  });

  it('follows references and allOf, and takes no notice of null', () => {
    const { options } = described(
      {
        style: { allOf: [{ $ref: '#/components/schemas/style' }], default: 'ink' },
        strength: { anyOf: [{ type: 'number', minimum: 0, maximum: 1 }, { type: 'null' }] },
        tree: { $ref: '#/components/schemas/tree' },
      },
      {
        schemas: {
          style: { type: 'string', enum: ['ink', 'oil'] },
          tree: {
            type: 'object',
            properties: { leaf: { $ref: '#/components/schemas/tree' }, size: { type: 'integer' } },
          },
        },
      },
    );
    expect(options?.properties).toMatchObject({
      style: { type: 'string', enum: ['ink', 'oil'], default: 'ink' },
      strength: { type: 'number', minimum: 0, maximum: 1 },
      tree: { type: 'object', properties: { size: { type: 'integer' } } },
    });
  });

  it.each([
    ['mp4', 'VIDEO'],
    ['webp', 'IMAGE'],
  ])('that shows a result in %s makes %s', (ending, kind) => {
    const output = { type: 'string', format: 'uri' };
    const example = [`https://replicate.delivery/x/out.${ending}`];
    expect(described({ prompt: { type: 'string' } }, { output, example }).kinds).toEqual([kind]);
  });

  it.each([
    ['makes sound', { output: { type: 'object', properties: { audio: {} } } }],
    ['is too deep', { document: Array.from({ length: 60 }).reduce<object>((inner) => ({ inner }), {}) }],
    ['is too large', { document: { text: 'x'.repeat(1_000_001) } }],
  ])('that %s is refused', (_, more) => {
    expect(() => described({ prompt: { type: 'string' } }, more)).toThrow(/^model: /);
  });

  it('with too many options, or references in a circle, is refused', () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`o${index}`, { type: 'string' }]),
    );
    expect(() => described(many)).toThrow('too large');
    const circle = { a: { $ref: '#/components/schemas/b' }, b: { $ref: '#/components/schemas/a' } };
    expect(() => described({ x: { $ref: '#/components/schemas/a' } }, { schemas: circle })).toThrow(
      'too large',
    );
    const wide = { anyOf: Array.from({ length: 8 }, () => ({ $ref: '#/components/schemas/wide' })) };
    expect(() => described({ x: { $ref: '#/components/schemas/wide' } }, { schemas: { wide } })).toThrow(
      'too large',
    );
  });
});

it('a pattern allows the names that it fits', () => {
  const patterns = ['fal-ai/flux*', '*/seedance-*/text-to-video', 'owner/name'];
  const allowed = ['fal-ai/flux/dev', 'bytedance/seedance-2.5/text-to-video', 'owner/name'];
  expect(allowed.map((name) => isAllowed(patterns, name))).toEqual([true, true, true]);
  const others = ['fal-ai/veo3', 'bytedance/seedance-2.5', 'owner/name2', 'xowner/name'];
  expect(others.map((name) => isAllowed(patterns, name))).toEqual([false, false, false, false]);
  expect(isAllowed(['*'], 'any/thing')).toBe(true);
});
