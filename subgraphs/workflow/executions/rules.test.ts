import { describe, expect, it } from 'vitest';

import { computeFingerprint } from '../../../platform/access/idempotency.ts';
import type { Template } from '../domain/template.ts';
import { checkedParameters } from './checked-start.ts';
import { template } from './template.fixture.ts';
import { toStartInput } from './workflows.ts';

describe('the start of an image template', () => {
  it.each([
    ['fills every placeholder', '{prompt}, in ink, {prompt}!', 'a fox', 'a fox, in ink, a fox!'],
    ['takes what looks like a pattern as text', 'of {prompt}', '$& {prompt} $1', 'of $& {prompt} $1'],
    ['lets the text stand alone without a prompt', '{prompt}, in ink', undefined, 'in ink'],
    ['keeps a text without placeholder', 'a cat', 'a fox', 'a cat'],
    ['uses the prompt when there is no text', null, 'a fox', 'a fox'],
    ['uses the prompt when the text is empty', ' ', 'a fox', 'a fox'],
  ])('%s', (_, imagePrompt, prompt, expected) => {
    const parameters = prompt === undefined ? {} : { prompt };
    expect(toStartInput({ ...template, imagePrompt }, parameters)).toEqual({
      image: { generator: 'agg/imga', model: 'm', prompt: expected },
    });
  });

  it('passes an image and a ratio on', () => {
    const start = toStartInput(template, {
      prompt: 'x',
      imageUrl: 'https://example.org/a.png',
      aspectRatio: '1:1',
    });
    expect(start).toMatchObject({
      image: { images: [{ url: 'https://example.org/a.png' }], aspectRatio: '1:1' },
    });
  });

  it('names no model where the template has none', () => {
    for (const imageModel of [null, '', ' ']) {
      expect(toStartInput({ ...template, imageModel }, { prompt: 'x' })['image']).not.toHaveProperty('model');
    }
  });

  it('refuses a start without any prompt, and a workflow it does not know', () => {
    expect(() => toStartInput({ ...template, imagePrompt: null }, {})).toThrow('parameters.prompt is needed');
    expect(() => toStartInput({ ...template, workflow: 'constructor' }, {})).toThrow('names the workflow');
  });

  it('runs a workflow of another system by its name, with parameters that are always set', () => {
    const names = { 'their-portrait': { workflow: 'image', parameters: { aspectRatio: '3:4' } } };
    const foreign = { ...template, workflow: 'their-portrait', imagePrompt: null };
    expect(toStartInput(foreign, { prompt: 'x', aspectRatio: '1:1' }, names)).toEqual({
      image: { generator: 'agg/imga', model: 'm', prompt: 'x', aspectRatio: '3:4' },
    });
    expect(() => toStartInput(foreign, { prompt: 'x' })).toThrow('names the workflow');
  });
});

describe('the start of a video template without words', () => {
  const video = { ...template, workflow: 'video', imageModel: null, description: 'Waves.' };
  const imageUrl = 'https://example.org/a.png';
  const createPrompt = (of: Partial<Template>, parameters: object) =>
    (toStartInput({ ...video, ...of }, parameters as never)['video'] as { prompt: string }).prompt;

  it("is the template's text, else its description, else a gentle motion of the image", () => {
    expect(createPrompt({ imagePrompt: '{prompt}, slow' }, { imageUrl })).toBe('slow');
    expect(createPrompt({ imagePrompt: '{prompt}' }, { imageUrl })).toBe('Waves.');
    expect(createPrompt({ imagePrompt: null }, {})).toBe('Waves.');
    expect(createPrompt({ imagePrompt: null, description: '' }, { imageUrl })).toMatch(/movement/);
  });

  it('is refused when there is neither a word nor an image', () => {
    expect(() => createPrompt({ imagePrompt: null, description: ' ' }, {})).toThrow('or parameters.imageUrl');
  });
});

describe('the start of a comfy template', () => {
  const comfy = { ...template, workflow: 'comfy:text-to-image', imagePrompt: null };
  const given = { prompt: 'a fox', width: 64, height: '', type: 'gift', order: { id: 7 } };

  it('hands on what the template declares, and keeps the rest for its caller', () => {
    const parameters = { prompt: {}, width: {}, height: {} };
    expect(toStartInput({ ...comfy, parameters }, given)).toEqual({
      comfy: { workflowName: 'text-to-image', inputs: { prompt: 'a fox', width: 64 } },
    });
  });

  it('has no words where nobody gave any', () => {
    expect(toStartInput(comfy, { imageUrl: 'https://example.org/a.png', prompt: ' ' })).toEqual({
      comfy: { workflowName: 'text-to-image', inputs: { imageUrl: 'https://example.org/a.png' } },
    });
  });

  it('hands on everything but the free text of tasks when the template declares nothing', () => {
    expect(toStartInput(comfy, given)).toEqual({
      comfy: { workflowName: 'text-to-image', inputs: { prompt: 'a fox', width: 64, order: { id: 7 } } },
    });
  });
});

describe('parameters', () => {
  const specification = {
    prompt: { type: 'string', required: true, maxLength: 5 },
    count: { type: 'integer', minimum: 1, maximum: 4, default: 2 },
    loud: { type: 'boolean' },
    page: { type: 'url' },
    width: { type: 'integer', minimum: 64, maximum: 128, multipleOf: 8 },
  };
  const findProblems = (parameters: object) => {
    try {
      return checkedParameters(specification, parameters as never);
    } catch (error) {
      return (error as { problems: { field: string }[] }).problems.map(({ field }) => field);
    }
  };

  it('keep what is not documented and get their defaults', () => {
    expect(findProblems({ prompt: 'x', other: [1] })).toEqual({ prompt: 'x', other: [1], count: 2 });
  });

  it('may be as long as their limit says, and no longer; without one as long as texts are', () => {
    expect(findProblems({ prompt: '12345' })).toMatchObject({ prompt: '12345' });
    const unlimited = (length: number) => checkedParameters({ text: {} }, { text: 'x'.repeat(length) });
    expect(unlimited(20_000)['text']).toHaveLength(20_000);
    expect(() => unlimited(20_001)).toThrow('may have at most 20000 characters');
  });

  it('are refused with every problem at once', () => {
    expect(findProblems({ prompt: '123456', count: 5, loud: 'yes', page: 'javascript:1' })).toEqual([
      'parameters.prompt',
      'parameters.count',
      'parameters.loud',
      'parameters.page',
    ]);
    expect(findProblems({ prompt: ' ', count: 1.5, width: 65 })).toEqual([
      'parameters.prompt',
      'parameters.count',
      'parameters.width',
    ]);
  });
});

describe('a fingerprint', () => {
  it('does not depend on the order of keys but on everything else', () => {
    const one = computeFingerprint({ a: 1, b: [{ x: 1, y: null }] });
    expect(computeFingerprint({ b: [{ y: null, x: 1 }], a: 1 })).toBe(one);
    expect(computeFingerprint({ b: [{ y: null, x: 2 }], a: 1 })).not.toBe(one);
  });
});
