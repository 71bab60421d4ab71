import { describe, expect, it } from 'vitest';

import type { BindingPartsFragment, ModelsQuery } from '../../api/documents/operations.ts';
import { providerName } from '../../parts/provider-name.ts';
import { countByHour, byProvider, connectLines, readProviderState } from './by-provider.ts';

const model = (provider: string) => ({ provider }) as ModelsQuery['models'][number];
const binding = (provider: string, more: Partial<BindingPartsFragment> = {}) =>
  ({
    provider,
    binding: `x:${provider}`,
    sandbox: true,
    paused: null,
    breaker: null,
    ...more,
  }) as BindingPartsFragment;
const paused = { reason: '', by: 'usr_1', at: '2026-11-26T10:00:00Z' };

describe('models by provider', () => {
  it('shows what needs somebody first, then by the names that vendors give themselves', () => {
    const models = ['volcengine', 'openai', 'fal'].map(model);
    const bindings = [binding('openai'), binding('kling', { paused }), binding('fal', { sandbox: false })];
    const groups = byProvider(models, bindings);
    expect(groups.map(({ provider }) => provider)).toEqual(['kling', 'fal', 'openai', 'volcengine']);
    expect(groups.map(readProviderState)).toEqual(['paused', 'healthy', 'sandbox', 'sandbox']);
    expect(providerName('gemini')).toBe('Google Gemini');
    expect(providerName('of-our-own')).toBe('of-our-own');
  });

  it('tells each way to connect as lines of an .env file, once', () => {
    const kling = 'KLING_ACCESS_KEY and KLING_SECRET_KEY, or KLING_API_KEY';
    expect(connectLines([kling, 'AGG_BASE_URL and AGG_API_KEY', kling])).toEqual([
      ['KLING_ACCESS_KEY=', 'KLING_SECRET_KEY='],
      ['KLING_API_KEY='],
      ['AGG_BASE_URL=', 'AGG_API_KEY='],
    ]);
    expect(connectLines(['A_KEY, B_KEY and C_SPACE'])).toEqual([['A_KEY=', 'B_KEY=', 'C_SPACE=']]);
  });

  it('has a bar for each of the last 24 hours, the present one last', () => {
    const now = Date.parse('2026-11-26T12:30:00Z');
    const hours = [
      { binding: 'a', hour: '2026-11-26T12:00:00.000Z', attempts: 4, succeeded: 3 },
      { binding: 'b', hour: '2026-11-26T12:00:00.000Z', attempts: 2, succeeded: 2 },
      { binding: 'c', hour: '2026-11-26T12:00:00.000Z', attempts: 9, succeeded: 0 },
      { binding: 'a', hour: '2026-11-25T13:00:00.000Z', attempts: 1, succeeded: 1 },
      { binding: 'a', hour: '2026-11-25T12:00:00.000Z', attempts: 7, succeeded: 7 },
    ];
    const bars = countByHour(hours, ['a', 'b'], now);
    expect(bars).toHaveLength(24);
    expect(bars.at(-1)).toMatchObject({ attempts: 6, failed: 1 });
    expect(bars[0]).toMatchObject({ attempts: 1, failed: 0 });
  });
});
