import { describe, expect, it } from 'vitest';

import { parseWithLines } from '../../../../platform/config/parse-with-lines.ts';
import { AppError } from '../../../../platform/errors.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import { createGeneratorRegistry, type RegistryOptions } from '../bindings/registry.ts';
import { createCatalog } from '../catalog/catalog.ts';
import { withGeneratorsFile } from './generators-file.ts';

const job = { start: async () => ({}), status: async () => ({ state: 'queued' }) as const, pollMs: 1 };
const call = { call: async () => ({ files: [], texts: [] }) };
const providers: Record<string, Provider> = {
  midjourney: { name: 'midjourney', jobs: { IMAGE: job, DESCRIPTION: job } },
  kling: { name: 'kling', jobs: { VIDEO: job } },
  openai: { name: 'openai', calls: { IMAGE: call }, jobs: { VIDEO: job } },
  comfyui: { name: 'comfyui', jobs: { COMFY_WORKFLOW: job } },
  batching: { name: 'batching', jobs: { IMAGE: job }, batches: { jobs: { IMAGE: job }, isAt: () => true } },
};

const bundled: RegistryOptions = {
  bindings: [],
  missing: { vidc: 'KLING_API_KEY', 'agg/imga': 'AGG_BASE_URL and AGG_API_KEY' },
};

function read(text: string, variables: Record<string, string> = {}) {
  const file = { path: '/etc/kiln/generators.json', text, variables };
  return createGeneratorRegistry(withGeneratorsFile(bundled, { file, providers, catalog: createCatalog() }));
}

/** The lines of the refusal, without the two blanks before each. */
function findMistakes(text: string, variables?: Record<string, string>): readonly string[] {
  try {
    read(text, variables);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_CONFIGURED') throw error;
    const [, ...lines] = error.message.split('\n');
    return lines.map((line) => line.trim());
  }
  return [];
}

describe('a bindings file', () => {
  it('gives a generator its bindings in the order of fall-back', () => {
    const registry = read(
      `{
        "vidc": [
          { "provider": "kling", "baseUrl": "https://kling.example/", "model": "kling-v1-6",
            "credentials": { "accessKey": "\${KLING_AK}", "secretKey": "\${KLING_SK}" }, "concurrency": 3 },
          { "provider": "openai", "baseUrl": "https://agg.example", "pathPrefix": "/v1", "model": "made-up",
            "kinds": ["VIDEO"], "headers": { "authorization": "Bearer \${AGG}" }, "stallSeconds": 60,
            "maxWaiting": 5, "requestsPerMinute": 90, "budgetSeconds": 30, "restartUnknown": true, "resultOrigins": ["https://cdn.example"],
            "limits": { "durations": [3], "maxPrompt": 100 } }
        ],
        "comfy": [{ "provider": "comfyui", "nodes": ["http://10.0.0.1:8188/", "http://10.0.0.2:8188"] }]
      }`,
      { KLING_AK: 'ak', KLING_SK: 'sk', AGG: 'secret' },
    );
    expect(registry.bindingsFor('vidc', 'VIDEO')).toMatchObject([
      {
        id: 'vidc#0',
        sandbox: false,
        concurrency: 3,
        connection: {
          baseUrl: 'https://kling.example',
          model: 'kling-v1-6',
          credentials: { accessKey: 'ak', secretKey: 'sk' },
        },
      },
      {
        id: 'vidc#1',
        maxWaiting: 5,
        requestsPerMinute: 90,
        retryUnknownStart: true,
        attemptTimeoutSeconds: 60,
        budgetSeconds: 30,
        connection: {
          pathPrefix: '/v1',
          model: 'made-up',
          headers: { authorization: 'Bearer secret' },
          resultOrigins: ['https://cdn.example'],
        },
      },
    ]);
    expect(registry.bindingsFor('comfy', 'COMFY_WORKFLOW')[0]?.connection).toMatchObject({
      baseUrl: 'http://10.0.0.1:8188',
      nodes: ['http://10.0.0.1:8188', 'http://10.0.0.2:8188'],
      model: null,
    });
    expect(registry.models({ generator: 'vidc' })).toMatchObject([
      { id: 'kling-v1-6', durations: [5, 10], category: 'video' },
      { id: 'made-up', durations: [3], maxPrompt: 100, category: 'video' },
    ]);
    expect(registry.bindingsFor('vidc', 'VIDEO', 'made-up').map(({ id }) => id)).toEqual(['vidc#1']);
  });

  it('says what else a model takes, for options of tasks', () => {
    const text = (options: object) =>
      JSON.stringify({
        own: [
          {
            provider: 'openai',
            baseUrl: 'https://own.example',
            model: 'flux',
            kinds: ['VIDEO'],
            limits: { options },
          },
        ],
      });
    const schema = { type: 'object', properties: { steps: { type: 'integer', minimum: 1 } } };
    expect(read(text(schema)).models({ generator: 'own' })).toMatchObject([{ options: schema }]);
    expect(findMistakes(text({ type: 'object', properties: { steps: { type: 'whole' } } }))).toEqual([
      expect.stringMatching(/^generators\.json, line 1: own\[0\]\.limits\.options\.properties\.steps\.type /),
    ]);
  });

  it('may have comments', () => {
    const text = '{\n // none of ours\n "vidc": [] /* for now */\n}';
    expect(() => read(text).bindingsFor('vidc', 'VIDEO')).toThrow('is not available here');
  });

  it('leaves the others as they are, and may take one away', () => {
    const registry = read('{ "vidc": [] }');
    expect(() => registry.bindingsFor('vidc', 'VIDEO')).toThrow('is not available here');
    expect(() => registry.bindingsFor('agg/imga', 'IMAGE')).toThrow('is not available here');
  });
});

describe('the name of a binding', () => {
  const entry = (change: object = {}) => ({
    provider: 'kling',
    baseUrl: 'https://kling.example',
    model: 'kling-v1-6',
    credentials: { accessKey: 'ak', secretKey: 'sk' },
    ...change,
  });
  const readNames = (...entries: readonly object[]) =>
    read(JSON.stringify({ vidc: entries }))
      .all()
      .map(({ name }) => name);
  const [made = ''] = readNames(entry());

  it('is the one that it was given, or tells provider and model', () => {
    expect(readNames(entry({ name: 'main' }))).toEqual(['vidc:main']);
    expect(made).toMatch(/^vidc:kling-kling-v1-6-[0-9a-f]{8}$/);
    const strange = entry({ model: 'Org/Größe 2', kinds: ['VIDEO'] });
    expect(readNames(strange)[0]).toMatch(/^vidc:kling-org-gr-e-2-video-[0-9a-f]{8}$/);
    // Of those without batches every name is free.
    const two = [entry({ name: 'a' }), entry({ name: 'a-batch', baseUrl: 'https://other.example' })];
    expect(readNames(...two)).toEqual(['vidc:a', 'vidc:a-batch']);
  });

  it('is the same wherever it stands in the list, and whatever its limits are', () => {
    const another = entry({ baseUrl: 'https://other.example' });
    expect(readNames(entry(), another)).toEqual(readNames(another, entry()).toReversed());
    expect(readNames(entry({ concurrency: 2, requestsPerMinute: 5 }))).toEqual([made]);
  });

  it.each([
    ['address', { baseUrl: 'https://other.example' }],
    ['path', { pathPrefix: '/kling' }],
    ['account', { credentials: { accessKey: 'ak', secretKey: 'another' } }],
    ['headers', { headers: { authorization: 'Bearer x' } }],
    ['kinds', { kinds: ['VIDEO'] }],
  ])('is another one with another %s', (_, change) => {
    expect(readNames(entry(change))).not.toContain(made);
  });

  it('has a number where two are alike in all of that', () => {
    expect(readNames(entry(), entry({ concurrency: 1 }))).toEqual([made, `${made}-2`]);
  });

  it('finds the binding, as its place does', () => {
    const registry = read(JSON.stringify({ vidc: [entry()] }));
    expect(registry.byName(made)).toBe(registry.byId('vidc#0'));
    expect(registry.byName('vidc#0')).toBe(registry.byId('vidc#0'));
    expect(registry.byName('vidc#1')).toBeNull();
  });
});

describe('every mistake of a bindings file', () => {
  it('is told at once, with its line, its field and the remedy', () => {
    const mistakes = findMistakes(`{
  "imga": [
    { "provider": "midjurney",
      "baseUrl": "mj.example" },
    { "provider": "midjourney",
      "baseUrl": "https://mj.example",
      "headers": {
        "mj-api-secret": "\${MJ_SECRET}"
      },
      "concurency": 4,
      "concurrency": 0,
      "resultOrigins": ["https://cdn.example/path"]
    }
  ],
  "Vid C": [],
  "vidb": { "provider": "kling" }
}`);
    expect(mistakes).toEqual([
      'generators.json, line 3: imga[0].provider must be one of midjourney, kling, openai, comfyui, batching',
      expect.stringMatching(/^generators\.json, line 4: imga\[0\]\.baseUrl must be an http/),
      expect.stringMatching(
        /^generators\.json, line 8: imga\[1\]\.headers\.mj-api-secret refers to \$\{MJ_SECRET\}, which is not set: set it/,
      ),
      expect.stringMatching(
        /^generators\.json, line 10: imga\[1\]\.concurency is no field of a binding: remove it/,
      ),
      'generators.json, line 11: imga[1].concurrency must be a whole number from 1 to 10000',
      expect.stringMatching(/^generators\.json, line 12: imga\[1\]\.resultOrigins\[0\] must be an origin/),
      expect.stringMatching(/^generators\.json, line 15: Vid C must be like the generators of the API/),
      'generators.json, line 16: vidb must be a list of bindings',
    ]);
  });

  it.each([
    ['{"vidc": [{"provider": "kling"}]}', 'vidc[0].baseUrl is missing'],
    ['{"vidc": [{"baseUrl": "https://x.example"}]}', 'vidc[0].provider is missing'],
    [
      '{"vidc": [{"provider": "kling", "baseUrl": "https://x.example", "model": "new"}]}',
      'vidc[0].kinds is missing',
    ],
    [
      '{"vidc": [{"provider": "kling", "baseUrl": "https://x.example", "kinds": ["IMAGE"]}]}',
      'kling does not do',
    ],
    [
      '{"vidc": [{"provider": "openai", "baseUrl": "https://x.example", "model": "sora-2", "kinds": []}]}',
      'vidc[0].kinds must not be empty',
    ],
    [
      '{"vidc": [{"provider": "kling", "baseUrl": "https://x.example", "credentials": {"accessKey": "a"}}]}',
      'secretKey together',
    ],
    [
      '{"vidc": [{"provider": "kling", "baseUrl": "https://x.example", "stallSeconds": 5, "attemptTimeoutSeconds": 6}]}',
      'stallSeconds is the old name of attemptTimeoutSeconds',
    ],
    [
      '{"vidc": [{"provider": "kling", "baseUrl": "https://x.example", "name": "a"}, {"provider": "kling", "baseUrl": "https://y.example", "name": "a"}]}',
      'vidc[1].name is the name of another binding',
    ],
    [
      '{"imga": [{"provider": "midjourney", "baseUrl": "https://x.example", "name": "a-batch"}, {"provider": "batching", "baseUrl": "https://y.example", "kinds": ["IMAGE"], "model": "m", "name": "a"}]}',
      'imga[0].name is the name of another binding',
    ],
    ['{"vidc": [], "vidc": []}', 'vidc comes twice'],
    ['[]', 'the file must be an object'],
  ])('%s is refused', (text, remedy) => {
    expect(findMistakes(text)).toEqual([expect.stringContaining(remedy)]);
  });

  it.each([
    ['{\n "vidc": [\n {}\n {}\n ]\n}', 4, 'needs a comma or "]"'],
    ['{\n "vidc": [],\n}', 3, 'comma too many'],
    ['{ "a": '.repeat(70), 1, 'nested too deeply'],
    ["{\n 'vidc': []\n}", 2, 'double quotes'],
    ['{\n "vidc": [', 2, 'ends too early'],
    ['{}\n{}', 2, 'must end'],
    ['', 1, 'ends too early'],
    ['{"a" 1}', 1, 'needs a colon'],
  ])('%j is no JSON, and the line is told', (text, line, remedy) => {
    const [mistake = '', ...others] = findMistakes(text);
    expect(others).toEqual([]);
    expect(mistake).toContain(`generators.json, line ${line}: the file `);
    expect(mistake).toContain(remedy);
  });

  it('never repeats a secret', () => {
    const text =
      '{"imga": [{"provider": "midjourney", "baseUrl": "${KEY}", "headers": {"${KEY}": "${KEY}\\n"}}]}';
    const mistakes = findMistakes(text, { KEY: 'hunter2' });
    expect(mistakes.length).toBeGreaterThan(0);
    expect(mistakes.join()).not.toContain('hunter2');
  });
});

describe('JSON with lines', () => {
  it('means the same as JSON', () => {
    const text = '{"a": [1, -2.5e3, true, null, {}, [], "x\\u00e9\\n"],\n "b": {"c": "\\"}"}}';
    const { value, findLine } = parseWithLines(text);
    expect(value).toEqual(JSON.parse(text));
    expect(findLine(['a', 6])).toBe(1);
    expect(findLine(['b', 'c'])).toBe(2);
    expect(findLine(['b', 'absent'])).toBe(2);
    expect(findLine(['absent'])).toBe(1);
  });
});
