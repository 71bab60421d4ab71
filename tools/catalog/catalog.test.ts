import { describe, expect, it } from 'vitest';

import type { Binding } from '../../subgraphs/media/generators/bindings/binding.ts';
import { unknownModel } from '../../subgraphs/media/generators/catalog/catalog.ts';
import type { CatalogEntry } from '../../subgraphs/media/generators/catalog/entry.ts';
import { createBinding } from '../../subgraphs/media/generators/configuration/create-binding.ts';
import { must, SECRET } from '../../test/providers/environment/environment.ts';
import { useEnvironment } from '../../test/providers/environment/use-environment.ts';
import { compareWithVendors } from './compare-vendors.ts';

/** `npm run catalog` beside the lists that the stand-ins serve, on a fixed day. */

const world = useEnvironment({ wire: 'openai', queuedMs: 0, runningMs: 0 });
const TODAY = '2026-11-01';

function bindingFor(
  provider: string,
  models: readonly CatalogEntry[],
  change: Partial<Binding> = {},
): Binding {
  const headers: Readonly<Record<string, Record<string, string>>> = {
    gemini: { 'x-goog-api-key': SECRET },
    fal: { authorization: `Key ${SECRET}` },
  };
  const paths: Readonly<Record<string, string>> = {
    gemini: '/gemini/v1beta',
    fal: '/fal',
    replicate: '/replicate/v1',
  };
  const made = createBinding({
    generator: 'union',
    index: 0,
    provider: must(world().providers[provider], provider),
    connection: {
      baseUrl: `${world().sandbox.url}${paths[provider] ?? '/openai/v1'}`,
      headers: headers[provider] ?? { authorization: `Bearer ${SECRET}` },
      endpoints: { api: `${world().sandbox.url}/fal` },
    },
    settings: 'a test',
    models,
    today: () => TODAY,
    sandbox: false,
  });
  return { ...made, ...change };
}

const model = (id: string, change: Partial<CatalogEntry> = {}): CatalogEntry => ({
  ...unknownModel(id, ['IMAGE']),
  ...change,
});

async function checkBindings(...bindings: readonly Binding[]) {
  const found = await compareWithVendors({ bindings, http: world().http, today: TODAY });
  const { findings, notes, unread } = found;
  return {
    notes,
    unread,
    told: findings.map(({ kind, provider, model: id, text }) => `${kind}: ${provider} ${id} ${text}`),
  };
}

describe('the catalog beside a vendor’s own list', () => {
  it('of OpenAI: ends that are near, have come, differ; what is not offered, and what is new', async () => {
    const models = [
      model('gpt-image-1'),
      model('gpt-image-1.5', { retiresAt: '2026-12-01' }),
      model('gpt-image-9', { kinds: ['VIDEO'], retiresAt: '2027-01-01' }),
      model('gpt-image-0', { retiresAt: '2025-01-01' }),
    ];
    const { told } = await checkBindings(bindingFor('openai', models));
    expect(told).toEqual(
      expect.arrayContaining([
        'end differs: openai gpt-image-1 2026-10-23 in the list, none here',
        'ended default: openai gpt-image-1 is a default, and has ended on 2026-10-23',
        'ends soon: openai gpt-image-1.5 in 30 days (2026-12-01)',
        'ended default: openai gpt-image-9 is a default, and is not in the list',
        'missing: openai gpt-image-2 is listed, and not in the catalog',
      ]),
    );
    expect(told.join('\n')).not.toMatch(/gpt-image-0|local-studio/);
  });

  it('of Gemini', async () => {
    const { told, notes } = await checkBindings(
      bindingFor('gemini', [model('gemini-3.1-flash-image'), model('nano-banana-2.1')]),
    );
    expect(told).toContain('not offered: gemini nano-banana-2.1 is not in the list');
    expect(told.join('\n')).not.toContain('gemini-3.1-flash-image is');
    expect(notes).toEqual(['gemini (a test) lists 10 models']);
  });

  it('of fal, with its prices', async () => {
    const prices = [{ unit: 'picture' as const, amount: 0.05 }];
    const { told } = await checkBindings(
      bindingFor('fal', [
        model('fal-ai/flux/schnell', { prices }),
        model('fal-ai/flux/dev'),
        model('fal-ai/gone'),
      ]),
    );
    expect(told).toEqual([
      'price differs: fal fal-ai/flux/schnell a picture: 0.03 in the list, 0.05 here',
      'not offered: fal fal-ai/gone is not in the list',
    ]);
  });

  it('of fal and Replicate, of more models than are asked for at once', async () => {
    const many = Array.from({ length: 60 }, (_, at) => model(`nobody/gone-${at}`, { kinds: ['VIDEO'] }));
    const [flux, schnell] = [model('fal-ai/flux/dev'), model('black-forest-labs/flux-schnell')];
    const { told } = await checkBindings(
      bindingFor('fal', [...many, flux]),
      bindingFor('replicate', [...many, schnell]),
    );
    expect(told).toHaveLength(120);
    expect(told.join('\n')).not.toMatch(/flux/);
  });

  it('of Replicate, model by model', async () => {
    const { told } = await checkBindings(
      bindingFor('replicate', [model('black-forest-labs/flux-schnell'), model('nobody/nothing')]),
    );
    expect(told).toEqual(['not offered: replicate nobody/nothing is not in the list']);
  });

  it('is read once for an account, not for the sandbox, and a list that can not be read is said', async () => {
    const one = bindingFor('openai', [model('gpt-image-2')]);
    const lost = bindingFor('openai-compatible', [model('a')], {
      connection: { ...one.connection, headers: { authorization: 'Bearer other' } },
    });
    const { notes, unread } = await checkBindings(
      one,
      { ...one, id: 'union#1' },
      { ...one, sandbox: true, id: 'union#2' },
      lost,
    );
    expect(notes).toEqual([
      expect.stringMatching(/^openai \(a test\) lists \d+ models$/),
      expect.stringMatching(/^openai-compatible \(a test, .*: its list can't be read: HTTP 401 of \/models$/),
    ]);
    expect(unread).toBe(1);
  });
});
