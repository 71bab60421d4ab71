import { describe, expect, it } from 'vitest';

import type { Provider } from '../providers/provider.ts';
import type { Work } from '../tasks/task.ts';
import { bundledBindings, type BundledSettings } from './bundled-bindings.ts';
import { checkWork, isAspectRatio } from './limits.ts';
import { createGeneratorRegistry } from './registry.ts';

const job = { start: async () => ({}), status: async () => ({ state: 'queued' }) as const, pollMs: 1 };
const midjourney: Provider = { name: 'midjourney', jobs: { IMAGE: job, DESCRIPTION: job } };
const openai: Provider = {
  name: 'openai',
  calls: { IMAGE: { call: async () => ({ files: [], texts: [] }) } },
  chat: async () => ({ text: '', model: '', usage: { inputTokens: 0, outputTokens: 0 } }),
};
const providers = { midjourney, openai };
const none: BundledSettings = { openai: null, midjourney: null, aggregator: null };
const sandboxUrls = { midjourney: 'http://127.0.0.1:1/mj', openai: 'http://127.0.0.1:1/v1' };

const registry = (settings: Partial<BundledSettings> = {}, urls: typeof sandboxUrls | null = sandboxUrls) =>
  createGeneratorRegistry(
    bundledBindings({ sandboxUrls: urls, settings: { ...none, ...settings }, providers }),
  );

describe('the bundled generators', () => {
  it('all point to the sandbox without settings', () => {
    const made = registry();
    expect(made.generators()).toEqual(['imga', 'agg/imga', 'union', 'llm']);
    expect(made.all().every((binding) => binding.sandbox)).toBe(true);
    expect(made.generators('DESCRIPTION')).toEqual(['imga', 'agg/imga']);
    expect(made.generators('CHAT')).toEqual(['union', 'llm']);
  });

  it('are replaced one by one by their own settings', () => {
    const made = registry({ midjourney: { baseUrl: 'https://mj.example', secret: 's3cret' } });
    expect(made.bindingsFor('imga', 'IMAGE')).toMatchObject([
      {
        sandbox: false,
        connection: { baseUrl: 'https://mj.example', headers: { 'mj-api-secret': 's3cret' } },
      },
    ]);
    expect(made.bindingsFor('agg/imga', 'IMAGE')[0]?.sandbox).toBe(true);
    expect(JSON.stringify(made.models({}))).not.toContain('s3cret');
    expect(made.models({ generator: 'imga' })).toMatchObject([{ sandbox: false, provider: 'midjourney' }]);
  });

  it('are absent without settings and sandbox, and say which setting is missing', () => {
    const made = registry({ openai: { apiKey: 'k', baseUrl: 'https://api.openai.com/v1' } }, null);
    expect(made.generators()).toEqual(['union', 'llm']);
    expect(() => made.bindingsFor('agg/imga', 'IMAGE')).toThrow(
      expect.objectContaining({
        code: 'NOT_CONFIGURED',
        message: expect.stringContaining('AGG_BASE_URL and AGG_API_KEY'),
      }),
    );
    expect(made.models({ category: 'image' }).map(({ generator }) => generator)).toEqual(['union']);
  });

  it('are told apart from names that do not exist and kinds they do not make', () => {
    expect(() => registry().bindingsFor('toString', 'IMAGE')).toThrow('there is no such generator');
    expect(() => registry().bindingsFor('union', 'DESCRIPTION')).toThrow('does not make descriptions');
    expect(registry().byId('agg/imga#0')?.generator).toBe('agg/imga');
    expect(registry().byId('agg/imga#9')).toBeNull();
  });
});

describe('limits', () => {
  it.each(['1:1', '64:1', '9:16'])('take %s as an aspect ratio', (text) =>
    expect(isAspectRatio(text)).toBe(true),
  );
  it.each(['0:1', '65:1', '1.5:1', '16x9', '16:9:1', ' 1:1', ''])('refuse %j', (text) =>
    expect(isAspectRatio(text)).toBe(false),
  );

  it('name the field and the limit of the model', () => {
    const work: Work = { kind: 'IMAGE', generator: 'imga', prompt: 'a fox' };
    const check = (change: object) => () => checkWork({ ...work, ...change }, registry());
    expect(check({})).not.toThrow();
    expect(check({ prompt: 'x'.repeat(4_001) })).toThrow('prompt: must be at most 4000 characters');
    expect(check({ model: 'dall-e' })).toThrow("model: is not one of this generator's models (midjourney)");
    expect(check({ aspectRatio: '100:1' })).toThrow('aspectRatio: must be W:H');
  });
});
