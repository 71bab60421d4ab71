import { describe, expect, it } from 'vitest';

import type { Cost, Units } from '../../domain/cost.ts';
import type { ModelPrices } from '../../domain/price.ts';
import type { StepInput } from '../../domain/work/work.ts';
import { testBinding } from '../../tasks/testing/provider.ts';
import { createCatalog } from '../catalog/catalog.ts';
import {
  costOfAttempt,
  costOfChat,
  expectedCost,
  expectedCostOfChat,
  type Charged,
  type PricedChat,
} from './cost.ts';
import { readPriceList, withPrices } from './price-list.ts';

const catalog = createCatalog();
const list = readPriceList(null, catalog);

function charged(provider: string, model: string, change: Partial<Charged>): Charged {
  const [binding = null] = withPrices(
    [testBinding('test#0', { name: provider }, 'http://127.0.0.1:1')],
    list,
  );
  const input = { kind: 'IMAGE', generator: 'test', prompt: 'a fox' } as const;
  return { binding, model, input, measured: {}, ending: 'finished', ...change };
}

const video = { kind: 'VIDEO', generator: 'test', prompt: 'a fox' } as const;

describe('the cost of an attempt', () => {
  it('is per image, by its size', () => {
    const small = charged('openai', 'gpt-image-1', { measured: { pictures: 2 } });
    expect(costOfAttempt(small)).toMatchObject({ microUnits: 84_000, currency: 'USD', estimated: false });
    const wide = { ...small, input: { ...small.input, resolution: '1536x1024' } as typeof small.input };
    expect(costOfAttempt(wide).microUnits).toBe(126_000);
    const unmeasured = { ...small, measured: {} };
    expect(costOfAttempt(unmeasured).microUnits).toBe(42_000);
    const three = { ...unmeasured, input: { ...small.input, count: 3 } as typeof small.input };
    expect(costOfAttempt(three).microUnits).toBe(126_000);
  });

  it('is per second of video, by its resolution', () => {
    const asked = charged('openai', 'sora-2-pro', { input: { ...video, duration: 8 } });
    expect(costOfAttempt(asked).microUnits).toBe(2_400_000);
    const measured = charged('openai', 'sora-2', { input: video, measured: { milliseconds: 4_500 } });
    expect(costOfAttempt(measured).microUnits).toBe(450_000);
  });

  it('is per run where duration and size decide', () => {
    const input = { ...video, resolution: '768P', duration: 10 };
    expect(costOfAttempt(charged('minimax', 'MiniMax-Hailuo-02', { input })).microUnits).toBe(560_000);
  });

  it('is per character and per token, cached ones for less', () => {
    const speech = { kind: 'SPEECH', generator: 'test', text: 'twelve chars', voiceId: 'v' } as const;
    expect(costOfAttempt(charged('minimax', 'speech-2.8-hd', { input: speech })).microUnits).toBe(1_200);
    const measured = { inputTokens: 1_000, cachedTokens: 1_000, outputTokens: 100 };
    expect(costOfAttempt(charged('openai', 'gpt-4o', { measured })).microUnits).toBe(4_750);
  });

  it("is half for a chat of the vendor's slower tier, expected and measured", () => {
    const { binding } = charged('openai', 'gpt-6-luna', {});
    if (binding === null || binding.prices === null) throw new Error('there are no prices');
    const units = { inputTokens: 10_000, cachedTokens: 0, outputTokens: 2_000 };
    const { units: counted } = costOfChat(binding, { model: 'gpt-6-luna', options: null }, units);
    expect(counted).toEqual({ runs: 1, ...units });
    const cost = (options?: { service_tier: string }) => ({
      measured: costOfChat(binding, { model: 'gpt-6-luna', options: options ?? null }, units).microUnits,
      expected: expectedCostOfChat(
        binding,
        { model: 'gpt-6-luna', options: options ?? null },
        { characters: 40_000, maxTokens: 2_000 },
      ).microUnits,
    });
    expect(cost()).toEqual({ measured: 2_000, expected: 2_000 });
    expect(cost({ service_tier: 'flex' })).toEqual({ measured: 1_000, expected: 1_000 });
    expect(cost({ service_tier: 'default' })).toEqual(cost());
  });

  it('of a chat is expected by its characters and the longest reply', () => {
    const { binding } = charged('openai', 'gpt-4o', {});
    const ask = (characters: number, maxTokens: number | null) =>
      expectedCostOfChat(binding ?? {}, { model: 'gpt-4o', options: null }, { characters, maxTokens });
    expect(ask(400, 10)).toMatchObject({ microUnits: 350, currency: 'USD', estimated: true });
    expect(ask(401, 10).units).toMatchObject({ runs: 1, inputTokens: 101, outputTokens: 10 });
    expect(ask(1, null).units).toMatchObject({ inputTokens: 1, outputTokens: 500 });
  });

  it('of a chat with a model that makes images is that of its words and of each image', () => {
    const { binding } = charged('gemini', 'gemini-3.1-flash-image', {});
    const model = { model: 'gemini-3.1-flash-image', options: null };
    const words = { inputTokens: 1_000, cachedTokens: 0, outputTokens: 100 };
    expect(costOfChat(binding ?? {}, model, { ...words, pictures: 2 }).microUnits).toBe(134_800);
    expect(costOfChat(binding ?? {}, model, words)).toMatchObject({
      microUnits: 800,
      units: { pictures: 0 },
    });
    const chat = { characters: 4_000, maxTokens: 100 };
    expect(expectedCostOfChat(binding ?? {}, model, chat).microUnits).toBe(67_800);
    const image = costOfAttempt(charged('gemini', 'gemini-3.1-flash-image', {}));
    expect(image.microUnits).toBe(67_000);
  });

  it('is unknown, and not 0, without a price, a measure or a fitting one', () => {
    expect(costOfAttempt(charged('openai', 'no-such-model', {})).microUnits).toBeNull();
    expect(costOfAttempt(charged('openai', 'sora-2', { input: video })).microUnits).toBeNull();
    const clone = { kind: 'VOICE_CLONE', generator: 'test', sample: { fileId: 'f' }, text: 'hi' } as const;
    expect(costOfAttempt(charged('minimax', 'speech-2.8-hd', { input: clone })).microUnits).toBeNull();
    const unknown = { microUnits: null, estimated: false };
    expect(costOfAttempt(charged('openai', 'gpt-image-1', { ending: 'unknown' }))).toMatchObject(unknown);
    expect(costOfChat({}, { model: 'gpt-5' }, null)).toMatchObject(unknown);
    expect(costOfChat({}, { model: 'gpt-5' }, { outputTokens: 1 })).toMatchObject(unknown);
    const gone = costOfAttempt({ ...charged('openai', 'gpt-image-1', {}), binding: null });
    expect(gone).toMatchObject({ microUnits: null, estimated: false });
  });

  it('is nothing when it was refused, or failed where failures are not charged', () => {
    const nothing = { microUnits: 0, estimated: false };
    expect(costOfAttempt(charged('openai', 'no-such-model', { ending: 'refused' }))).toMatchObject(nothing);
    const measured = { pictures: 1 };
    expect(costOfAttempt(charged('openai', 'gpt-image-1', { ending: 'failed', measured }))).toEqual({
      ...nothing,
      currency: 'USD',
      units: measured,
    });
  });

  it('is of the seconds that were made, where the file is some frames longer or shorter', () => {
    const models = [{ id: 'sora-2', kinds: ['VIDEO'], durations: [4, 8], isRetired: () => false }] as never;
    const [binding = null] = withPrices(
      [testBinding('test#0', { name: 'openai' }, 'http://127.0.0.1:1', { models })],
      list,
    );
    const made = (milliseconds: number) =>
      costOfAttempt({ ...charged('openai', 'sora-2', { input: video, measured: { milliseconds } }), binding })
        .units;
    expect([7_600, 8_499, 8_500].map((milliseconds) => made(milliseconds).milliseconds)).toEqual([
      8_000, 8_000, 8_500,
    ]);
    expect(costOfAttempt({ ...charged('openai', 'sora-2', { input: video }), binding })).toMatchObject({
      microUnits: null,
    });
  });

  it('is expected by the model that is asked for, else that of the binding, else the first that is able', () => {
    const models = [
      { id: 'gpt-image-1', kinds: ['IMAGE'], isRetired: () => false },
      { id: 'sora-2', kinds: ['VIDEO'], durations: [4, 8], isRetired: () => false },
    ] as never;
    const at = (change: object) => {
      const binding = testBinding('test#0', { name: 'openai' }, 'http://127.0.0.1:1', { models });
      const connection = { ...binding.connection, ...change };
      const [priced = binding] = withPrices([{ ...binding, connection }], list);
      return priced;
    };
    const imageInput = { kind: 'IMAGE', generator: 'test', prompt: 'a fox' } as const;
    const expected = { currency: 'USD', estimated: true };
    expect(expectedCost(at({}), imageInput)).toMatchObject({
      ...expected,
      microUnits: 42_000,
      units: { pictures: 1 },
    });
    expect(expectedCost(at({}), { ...imageInput, count: 3 })).toMatchObject({
      ...expected,
      microUnits: 126_000,
    });
    expect(expectedCost(at({ model: 'no-such-model' }), imageInput)).toMatchObject({
      ...expected,
      microUnits: null,
    });
    const asked = { ...imageInput, model: 'gpt-image-1' };
    expect(expectedCost(at({ model: 'no-such-model' }), asked)).toMatchObject({
      ...expected,
      microUnits: 42_000,
    });
    // Nobody has said how long: the first of its durations.
    expect(expectedCost(at({}), video)).toMatchObject({
      ...expected,
      microUnits: 400_000,
      units: { milliseconds: 4_000 },
    });
    expect(expectedCost(at({}), { ...video, duration: 8 })).toMatchObject({
      ...expected,
      microUnits: 800_000,
    });
  });

  it('is charged for failures where the list says so, estimated where nothing was measured', () => {
    const text = JSON.stringify({
      currency: 'EUR',
      date: '2026-11-22',
      models: [
        {
          provider: 'comfyui',
          model: '*',
          prices: [{ unit: 'gpuSecond', amount: 0.001 }],
          chargesFailures: true,
          expected: { gpuMilliseconds: 20_000 },
        },
      ],
    });
    const binding = testBinding('test#0', { name: 'comfyui' }, 'http://127.0.0.1:1');
    const [priced = null] = withPrices([binding], readPriceList({ path: '/p.json', text }, catalog));
    const failed = { ...charged('comfyui', 'any', { ending: 'failed' }), binding: priced };
    expect(costOfAttempt(failed)).toMatchObject({ microUnits: 20_000, currency: 'EUR', estimated: true });
    const measured = { gpuMilliseconds: 1_500 };
    expect(costOfAttempt({ ...failed, measured })).toMatchObject({ microUnits: 1_500, estimated: false });
  });

  it("is the aggregator's own where one stands before the provider", () => {
    const binding = testBinding('test#0', { name: 'kling' }, 'http://127.0.0.1:1', { isAggregated: true });
    const [own = null] = withPrices([binding], list);
    expect(own?.prices?.of('kling-v1-6')).toBeNull();
  });
});

/** A model that takes computing besides images, one that has words beside its images, and one that nobody has measured. */
const prices = {
  painter: {
    prices: [
      { unit: 'picture', amount: 0.02 },
      { unit: 'gpuSecond', amount: 0.001 },
    ],
    expected: { gpuMilliseconds: 4_000 },
    chargesFailures: true,
  },
  filmer: {
    prices: [
      { unit: 'second', amount: 0.1 },
      { unit: 'gpuSecond', amount: 0.001 },
    ],
    expected: { milliseconds: 6_000, gpuMilliseconds: 4_000 },
  },
  talker: {
    prices: [
      { unit: 'run', amount: 0.5, when: { tier: 'fast' } },
      { unit: 'run', amount: 0.1 },
      { unit: 'outputToken', amount: 0.000_002 },
    ],
    expected: { cachedTokens: 7, outputTokens: 50 },
  },
  poster: {
    prices: [
      { unit: 'picture', amount: 0.02 },
      { unit: 'outputToken', amount: 0.000_002 },
    ],
  },
} as const satisfies Readonly<Record<string, ModelPrices>>;

const models = [
  { id: 'painter', kinds: ['IMAGE'], isRetired: () => false },
  { id: 'filmer', kinds: ['VIDEO'], durations: [4, 8], isRetired: () => false },
] as never;

const own = {
  ...testBinding('test#0', { name: 'own' }, 'http://127.0.0.1:1', { models }),
  prices: {
    currency: 'EUR',
    of: (model: string | null): ModelPrices | null => prices[model as keyof typeof prices] ?? null,
  },
};
const imageInput = { kind: 'IMAGE', generator: 'test', prompt: 'a fox' } as const;

describe('a whole cost', () => {
  const nothing = { microUnits: 0, units: {}, estimated: false };
  const unknown = { microUnits: null, currency: 'EUR', units: {}, estimated: false };

  it.each<[string, Partial<Charged>, Cost]>([
    [
      'three images that were measured',
      { measured: { pictures: 3, gpuMilliseconds: 1_500 } },
      {
        microUnits: 61_500,
        currency: 'EUR',
        units: { runs: 1, pictures: 3, gpuMilliseconds: 1_500 },
        estimated: false,
      },
    ],
    [
      'three images whose computing nobody measured',
      { input: { ...imageInput, count: 3 } },
      {
        microUnits: 72_000,
        currency: 'EUR',
        units: { runs: 1, pictures: 3, gpuMilliseconds: 12_000 },
        estimated: true,
      },
    ],
    [
      'two images of three',
      { input: { ...imageInput, count: 3 }, measured: { pictures: 2 } },
      {
        microUnits: 48_000,
        currency: 'EUR',
        units: { runs: 1, pictures: 2, gpuMilliseconds: 8_000 },
        estimated: true,
      },
    ],
    [
      'a video some frames longer than its seconds',
      { model: 'filmer', input: video, measured: { milliseconds: 8_040, gpuMilliseconds: 1_000 } },
      {
        microUnits: 801_000,
        currency: 'EUR',
        units: { runs: 1, milliseconds: 8_000, gpuMilliseconds: 1_000 },
        estimated: false,
      },
    ],
    [
      'a video whose computing nobody measured',
      { model: 'filmer', input: { ...video, duration: 5 } },
      {
        microUnits: 504_000,
        currency: 'EUR',
        units: { runs: 1, milliseconds: 5_000, gpuMilliseconds: 4_000 },
        estimated: true,
      },
    ],
    [
      'a failure that is charged',
      { ending: 'failed' },
      {
        microUnits: 24_000,
        currency: 'EUR',
        units: { runs: 1, pictures: 1, gpuMilliseconds: 4_000 },
        estimated: true,
      },
    ],
    [
      'a failure that is not charged',
      { model: 'filmer', input: video, ending: 'failed', measured: { milliseconds: 3_990 } },
      { ...nothing, currency: 'EUR', units: { milliseconds: 3_990 } },
    ],
    ['a refusal', { ending: 'refused', measured: { pictures: 1 } }, { ...nothing, currency: 'EUR' }],
    ['a refusal of what is gone', { ending: 'refused', binding: null }, { ...nothing, currency: null }],
    ['an unknown end', { ending: 'unknown', measured: { pictures: 1 } }, unknown],
    ['an unknown end of what is gone', { ending: 'unknown', binding: null }, { ...unknown, currency: null }],
    [
      'a model without a price',
      { model: 'other', measured: { pictures: 2 } },
      { ...unknown, units: { runs: 1, pictures: 2 } },
    ],
    [
      'what expects nothing and was not measured',
      { model: 'poster' },
      { ...unknown, units: { runs: 1, pictures: 1 } },
    ],
  ])('of %s', (_, change, cost) => {
    const input: StepInput = imageInput;
    const usual = { binding: own, model: 'painter', input, measured: {}, ending: 'finished' } as const;
    expect(costOfAttempt({ ...usual, ...change })).toEqual(cost);
  });

  it.each<[string, StepInput, number | null, Units]>([
    ['an image', imageInput, 24_000, { runs: 1, pictures: 1, gpuMilliseconds: 4_000 }],
    ['three images', { ...imageInput, count: 3 }, 72_000, { runs: 1, pictures: 3, gpuMilliseconds: 12_000 }],
    ['a video', video, 604_000, { runs: 1, milliseconds: 6_000, gpuMilliseconds: 4_000 }],
    [
      'a video of five seconds',
      { ...video, duration: 5 },
      504_000,
      { runs: 1, milliseconds: 5_000, gpuMilliseconds: 4_000 },
    ],
    ['what has no price', { ...imageInput, model: 'other' }, null, { runs: 1, pictures: 1 }],
  ])('that is expected of %s', (_, input, microUnits, units) => {
    expect(expectedCost(own, input)).toEqual({ microUnits, currency: 'EUR', units, estimated: true });
  });

  it.each<[string, PricedChat, Units | null, Cost]>([
    ['broke off', { model: 'talker' }, null, unknown],
    [
      'was counted',
      { model: 'talker' },
      { outputTokens: 10 },
      { microUnits: 100_020, currency: 'EUR', units: { runs: 1, outputTokens: 10 }, estimated: false },
    ],
    [
      'has options',
      { model: 'talker', options: { tier: 'fast' } },
      { outputTokens: 10 },
      { microUnits: 500_020, currency: 'EUR', units: { runs: 1, outputTokens: 10 }, estimated: false },
    ],
    [
      'was not counted',
      { model: 'talker' },
      {},
      {
        microUnits: 100_100,
        currency: 'EUR',
        units: { runs: 1, cachedTokens: 7, outputTokens: 50 },
        estimated: true,
      },
    ],
    [
      'made no image',
      { model: 'poster' },
      { outputTokens: 10 },
      {
        microUnits: 20,
        currency: 'EUR',
        units: { runs: 1, pictures: 0, outputTokens: 10 },
        estimated: false,
      },
    ],
    [
      'has no price',
      { model: null },
      { outputTokens: 10 },
      { ...unknown, units: { runs: 1, outputTokens: 10 } },
    ],
  ])('of a chat that %s', (_, chat, units, cost) => {
    expect(costOfChat(own, chat, units)).toEqual(cost);
  });

  it.each<[string, PricedChat, number | null, number | null, Units]>([
    ['a chat', { model: 'talker' }, null, 100_100, { cachedTokens: 7, outputTokens: 50 }],
    [
      'one with options',
      { model: 'talker', options: { tier: 'fast' } },
      5,
      500_010,
      { cachedTokens: 7, outputTokens: 5 },
    ],
    ['one that makes an image', { model: 'poster' }, null, 22_000, { pictures: 1, outputTokens: 1_000 }],
    ['one without a price', { model: null }, null, null, { outputTokens: 1_000 }],
  ])('that is expected of %s', (_, chat, maxTokens, microUnits, units) => {
    expect(expectedCostOfChat(own, chat, { characters: 9, maxTokens })).toEqual({
      microUnits,
      currency: 'EUR',
      units: { runs: 1, inputTokens: 3, ...units },
      estimated: true,
    });
  });
});
