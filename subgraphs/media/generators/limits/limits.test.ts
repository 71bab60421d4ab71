import { describe, expect, it } from 'vitest';

import { createGeneratorRegistry } from '../bindings/registry.ts';
import { createCatalog } from '../catalog/catalog.ts';
import { createBinding } from '../configuration/create-binding.ts';
import { bindingsTaking, checkWork } from './limits.ts';

const catalog = createCatalog({ date: '2026-11-01' });
const call = { call: async () => ({ files: [], texts: [] }) };

/** A generator of which the second binding is the fall-back of the first. */
function registryWith(...sandboxes: readonly boolean[]) {
  const bindings = (['openai', 'gemini'] as const).map((provider, index) =>
    createBinding({
      generator: 'union',
      index,
      provider: { name: provider, calls: { IMAGE: call } },
      connection: { baseUrl: 'http://127.0.0.1:1' },
      settings: 'TEST',
      models: catalog.listModels(provider).filter(({ kinds }) => kinds.includes('IMAGE')),
      today: catalog.today,
      sandbox: sandboxes[index] === true,
    }),
  );
  return createGeneratorRegistry({ bindings });
}

const registry = registryWith();
const image = { kind: 'IMAGE', generator: 'union', prompt: 'a fox' } as const;
const taking = (more: object, all = registry) =>
  bindingsTaking(all, { ...image, ...more }).map(({ id }) => id);

describe('a fall-back', () => {
  it('is a binding only whose model has the options of the work', () => {
    expect(taking({})).toEqual(['union#0', 'union#1']);
    expect(taking({ options: { moderation: 'low' } })).toEqual(['union#0']);
    expect(taking({ options: { generationConfig: { topP: 0.5 } } })).toEqual(['union#1']);
    expect(taking({ quality: 'high' })).toEqual(['union#0']);
    expect(taking({ quality: 'best' })).toEqual([]);
  });

  it('of a real binding is never the sandbox, and the other way', () => {
    expect(taking({}, registryWith(false, true))).toEqual(['union#0']);
    expect(taking({}, registryWith(true, false))).toEqual(['union#0']);
    expect(taking({}, registryWith(true, true))).toEqual(['union#0', 'union#1']);
    expect(taking({ options: { generationConfig: { topP: 0.5 } } }, registryWith(true, false))).toEqual([
      'union#1',
    ]);
  });
});

describe('a refusal of an option', () => {
  const refusal = (options: object) => {
    try {
      checkWork({ ...image, model: 'gpt-image-2', options: options as never }, registry);
    } catch (error) {
      return (error as Error).message;
    }
    return null;
  };

  it('names the models that take the request, else those that have the option', () => {
    expect(refusal({ input_fidelity: 'low' })).toMatch(
      /^options\.input_fidelity: is not taken by this model; it takes .*; models that take this request: gpt-image-1\.5 \(union\), gpt-image-1-mini \(union\)$/,
    );
    expect(refusal({ input_fidelity: 'low', complexity: 'low' })).toMatch(
      /; models that have it: gpt-image-1\.5 \(union\), gpt-image-1-mini \(union\)$/,
    );
    expect(refusal({ nothing: 1 })).toMatch(/user$/);
  });

  it('does not name the model that has the option for another kind of work alone', () => {
    const models = catalog.listModels('minimax').filter(({ kinds }) => kinds.includes('VOICE_CLONE'));
    const binding = createBinding({
      generator: 'voices',
      index: 0,
      provider: { name: 'minimax', calls: { SPEECH: call, VOICE_CLONE: call } },
      connection: { baseUrl: 'http://127.0.0.1:1' },
      settings: 'TEST',
      models,
      today: catalog.today,
      sandbox: false,
    });
    const sample = { url: 'https://a.example/voice.mp3' };
    const options = { language_boost: 'English' };
    const work = {
      kind: 'VOICE_CLONE',
      generator: 'voices',
      voiceId: 'TestVoice01',
      sample,
      options,
    } as const;
    const all = createGeneratorRegistry({ bindings: [binding] });
    expect(() => checkWork(work, all)).toThrow(
      /^options\.language_boost: is not taken by this model; it takes [^;]*$/,
    );
  });
});
