import { describe, expect, it } from 'vitest';

import { catalogEntry } from '../../subgraphs/media/generators/catalog/entry.ts';
import { compareModels } from './compare-models.ts';

const model = (change: object) => ({
  ...catalogEntry.parse({
    id: 'gpt-image-9',
    name: 'Nine',
    category: 'image',
    kinds: ['IMAGE'],
    inputs: ['prompt'],
    ...change,
  }),
  options: null,
});
const told = (change: object) => ({
  'gpt-image-9': { litellm_provider: 'openai', mode: 'image_generation', ...change },
});
const found = (change: object, table: object) =>
  compareModels('openai', [model(change)], { table: table as never, today: '2026-11-23' }).map(
    ({ kind, model: id, text }) => `${kind}: ${id} ${text}`,
  );

describe('the catalog beside a table of models', () => {
  it('is told a default that has ended there', () => {
    expect(found({}, told({ deprecation_date: '2026-11-23' }))).toEqual([
      'end differs: gpt-image-9 2026-11-23 in the table, none here',
      'ended default: gpt-image-9 is a default, and has ended on 2026-11-23',
    ]);
    expect(found({ retiresAt: '2026-11-23' }, told({ deprecation_date: '2026-11-23' }))).toEqual([]);
  });

  it('is told an end within 60 days, and none later', () => {
    expect(found({ retiresAt: '2027-01-22' }, {})).toEqual([
      'ends soon: gpt-image-9 a default, in 60 days (2027-01-22)',
    ]);
    expect(found({ retiresAt: '2027-01-23' }, {})).toEqual([]);
  });

  it('is told a price that differs, of medium quality where prices depend on it', () => {
    const prices = [
      { unit: 'picture', amount: 0.05, when: { resolution: '1536x1024' } },
      { unit: 'picture', amount: 0.034 },
    ];
    const medium = { 'medium/1024-x-1024/gpt-image-9': { input_cost_per_image: 0.034 } };
    expect(found({ prices }, { ...told({ input_cost_per_image: 0.009 }), ...medium })).toEqual([]);
    expect(found({ prices }, told({ input_cost_per_image: 0.009 }))).toEqual([
      'price differs: gpt-image-9 a picture: 0.009 in the table, 0.034 here',
    ]);
    const sources = [{ of: ['prices'], from: 'its own page', read: '2026-11-26', disputed: true }];
    expect(found({ prices, sources }, told({ input_cost_per_image: 0.009 }))).toEqual([
      'price disputed: gpt-image-9 a picture: 0.009 in the table, 0.034 here (its own page)',
    ]);
    const tokens = [{ unit: 'outputToken', amount: 30, per: 1_000_000 }];
    expect(found({ prices: tokens }, told({ output_cost_per_image_token: 3e-5 }))).toEqual([]);
  });

  it('is told models of its kinds that it lacks, not those that have ended, nor dated snapshots', () => {
    const other = (id: string, change: object = {}) => ({
      [id]: { litellm_provider: 'openai', mode: 'image_generation', ...change },
    });
    const table = {
      ...other('gpt-image-10'),
      ...other('gpt-image-9-2026-01-01'),
      ...other('gpt-image-0', { deprecation_date: '2026-01-01' }),
      ...other('whisper-9', { mode: 'audio_transcription' }),
    };
    expect(found({}, table)).toEqual(['missing: gpt-image-10 is not in the catalog']);
  });
});
