import { describe, expect, it } from 'vitest';

import type { OptionSchema } from '../../domain/inputs/vendor-options/schema.ts';
import { createGeneratorRegistry } from '../bindings/registry.ts';
import { createBinding } from '../configuration/create-binding.ts';
import { modelFor } from '../limits/limits.ts';
import { bundledModels } from './catalog.ts';
import { createCatalog, type Catalog } from './catalog.ts';

const file = (value: unknown) => ({
  path: '/etc/kiln/catalog.json',
  text: typeof value === 'string' ? value : JSON.stringify(value),
});

const call = { call: async () => ({ files: [], texts: [] }) };

/** The typed inputs that options stand for, at any depth. */
function inputsIn({ properties = {}, 'x-input': input }: OptionSchema): readonly string[] {
  const own = input === undefined ? [] : [input];
  return [...own, ...Object.values(properties).flatMap(inputsIn)];
}

/** A generator whose only binding has these models of OpenAI. */
function createRegistry(catalog: Catalog) {
  const binding = createBinding({
    generator: 'union',
    index: 0,
    provider: { name: 'openai', calls: { IMAGE: call } },
    connection: { baseUrl: 'http://127.0.0.1:1' },
    settings: 'TEST',
    models: catalog.listModels('openai').filter(({ kinds }) => kinds.includes('IMAGE')),
    today: catalog.today,
    sandbox: false,
  });
  return { registry: createGeneratorRegistry({ bindings: [binding] }), binding };
}

const image = { kind: 'IMAGE', generator: 'union', prompt: 'a fox' } as const;

describe('the catalog', () => {
  it('has a successor that it knows for every model that ends, where one is named', () => {
    const catalog = createCatalog();
    const unknown = ['openai', 'gemini', 'kling', 'minimax', 'fal', 'replicate']
      .flatMap((provider) => catalog.listModels(provider).map((model) => ({ provider, model })))
      .filter(({ provider, model: { successor } }) => {
        return successor !== null && !catalog.listModels(provider).some(({ id }) => id === successor);
      });
    expect(unknown).toEqual([]);
  });

  it('says of every price and every end where it is from', () => {
    const entries = [...bundledModels().values()].flat();
    const facts = (['prices', 'retiresAt', 'options'] as const).flatMap((fact) =>
      entries
        .filter((entry) => entry[fact] !== null && !(fact === 'options' && typeof entry.options === 'string'))
        .map((entry) => ({ fact, entry })),
    );
    expect(facts.length).toBeGreaterThan(30);
    const unfounded = facts.filter(({ fact, entry }) => !entry.sources.some(({ of }) => of.includes(fact)));
    expect(unfounded.map(({ fact, entry }) => `${fact} of ${entry.id}`)).toEqual([]);
  });

  it('lists every typed input that an option stands for', () => {
    const unlisted = ['openai', 'gemini', 'fal', 'replicate', 'kling', 'minimax'].flatMap((provider) =>
      createCatalog()
        .listModels(provider)
        .flatMap(({ id, inputs, options }) =>
          inputsIn(options ?? {}).flatMap((input) => (inputs.includes(input) ? [] : [`${id} ${input}`])),
        ),
    );
    expect(unlisted).toEqual([]);
  });

  it('takes the options of another model from the file, and refuses those of none', () => {
    const like = (options: unknown) => ({
      openai: [{ id: 'new', name: 'New', category: 'image', kinds: ['IMAGE'], inputs: ['prompt'], options }],
    });
    const of = (options: unknown) =>
      createCatalog({ file: file(like(options)) })
        .listModels('openai')
        .at(-1)?.options;
    expect(of('gpt-image-2')).toMatchObject({ properties: { quality: { type: 'string' } } });
    const own = { type: 'object', properties: { steps: { type: 'integer' } } };
    expect(of(own)).toEqual(own);
    expect(() => of(7)).toThrow(/openai\[0\]\.options must be a JSON Schema of type object, or the id/);
    expect(() => of('sora-2')).toThrow(/openai\[0\]\.options must be a JSON Schema, or the id of a model/);
    expect(() => of({ type: 'object', properties: { a: { pattern: 'x' } } })).toThrow(
      /openai\[0\]\.options\.properties\.a\.pattern is no field/,
    );
  });

  it('changes what CATALOG_FILE names of a known model, and adds others behind it', () => {
    const added = { id: 'new', name: 'New', category: 'image', kinds: ['IMAGE'], inputs: ['prompt'] };
    const catalog = createCatalog({
      file: file({ openai: [{ id: 'gpt-image-1', retiresAt: null }, added] }),
      date: '2027-06-01',
    });
    const models = catalog.listModels('openai');
    expect(models.find(({ id }) => id === 'gpt-image-1')).toMatchObject({
      retiresAt: null,
      maxPrompt: 32_000,
    });
    expect(models.at(-1)).toMatchObject({ ...added, sizes: null, retiresAt: null, prices: null });
    expect(createRegistry(catalog).registry.bindingsFor('union', 'IMAGE', 'gpt-image-1')).toHaveLength(1);
  });

  it('refuses a file with every mistake, its line and its remedy', () => {
    const text =
      '{\n "openai": [\n  { "id": "x", "kind": "IMAGE" },\n  { "id": "gpt-image-2", "retiresAt": "soon" }\n ],\n "nobody": []\n}';
    expect(() => createCatalog({ file: file(text) })).toThrow(
      expect.objectContaining({
        code: 'NOT_CONFIGURED',
        message: expect.stringMatching(
          /^CATALOG_FILE has mistakes[\s\S]*line 3: openai\[0\]\.kind is no field of a model[\s\S]*line 4: openai\[1\]\.retiresAt must be a day[\s\S]*line 6: nobody is no provider: known are/,
        ),
      }),
    );
  });
});

describe('a model that has ended', () => {
  it('is refused with its successor from its day on, and not a day before', () => {
    const on = (date: string) => createRegistry(createCatalog({ date })).registry;
    expect(on('2026-10-22').bindingsFor('union', 'IMAGE', 'gpt-image-1')).toHaveLength(1);
    expect(() => on('2026-10-23').bindingsFor('union', 'IMAGE', 'gpt-image-1')).toThrow(
      expect.objectContaining({
        code: 'MODEL_RETIRED',
        field: 'model',
        message: 'model: gpt-image-1 has ended on 2026-10-23; use gpt-image-2.5-flare',
      }),
    );
  });

  it('is no default, and is listed only where ended ones are asked for', () => {
    const date = '2026-11-01';
    const ended = { openai: [{ id: 'gpt-image-2', retiresAt: date, successor: null }] };
    const { registry, binding } = createRegistry(createCatalog({ file: file(ended), date }));
    expect(modelFor(binding, image)?.id).toBe('gpt-image-2.5-flare');
    const listed = registry.models({});
    expect(listed.map(({ id }) => id)).not.toContain('gpt-image-2');
    expect(listed.find(({ isDefault }) => isDefault)?.id).toBe('gpt-image-2.5-flare');
    expect(registry.models({ retired: true }).find(({ id }) => id === 'gpt-image-2')).toMatchObject({
      isDefault: false,
      retiresAt: date,
    });
    // Nor is it named to those who have asked for another one that there is not.
    const asked = () => registry.bindingsFor('union', 'IMAGE', 'none');
    expect(asked).toThrow(/models \((?!.*gpt-image-2,).*gpt-image-2\.5-flare/);
  });

  it('leaves work without a name refused when every model has ended', () => {
    const date = '2030-01-01';
    const models = createCatalog().listModels('openai');
    const all = { openai: models.map(({ id }) => ({ id, retiresAt: date, successor: null })) };
    const { registry } = createRegistry(createCatalog({ file: file(all), date }));
    expect(() => registry.bindingsFor('union', 'IMAGE')).toThrow(
      expect.objectContaining({ code: 'MODEL_RETIRED', field: 'generator' }),
    );
  });
});
