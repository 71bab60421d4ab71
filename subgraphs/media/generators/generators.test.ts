import { describe, expect, it } from 'vitest';

import type { ProvidersConfig } from '../../../platform/config/providers.ts';
import { sandboxAddresses, type SandboxAddresses } from '../../../platform/config/sandbox-addresses.ts';
import { AppError } from '../../../platform/errors.ts';
import { isAspectRatio } from '../domain/inputs/checks.ts';
import { approximations } from '../domain/inputs/options.ts';
import type { StepInput, Work } from '../domain/work/work.ts';
import type { Provider } from '../providers/contract/provider.ts';
import { createGeneratorRegistry } from './bindings/registry.ts';
import { createCatalog } from './catalog/catalog.ts';
import { bundledBindings } from './configuration/bundled-bindings.ts';
import { bindingsTaking, checkWork } from './limits/limits.ts';

const job = { start: async () => ({}), status: async () => ({ state: 'queued' }) as const, pollMs: 1 };
const call = { call: async () => ({ files: [], texts: [] }) };
const chat = async () => ({ text: '', model: '', usage: { inputTokens: 0, outputTokens: 0 } });
const providers: Record<string, Provider> = {
  midjourney: { name: 'midjourney', jobs: { IMAGE: job, DESCRIPTION: job, VIDEO: job } },
  openai: { name: 'openai', calls: { IMAGE: call }, jobs: { VIDEO: job }, chat },
  gemini: { name: 'gemini', calls: { IMAGE: call, ANALYSIS: call }, jobs: { VIDEO: job }, chat },
  minimax: { name: 'minimax', calls: { SPEECH: call, VOICE_CLONE: call }, jobs: { VIDEO: job } },
  kling: { name: 'kling', jobs: { VIDEO: job } },
  comfyui: { name: 'comfyui', jobs: { COMFY_WORKFLOW: job } },
  volcengine: {
    name: 'volcengine',
    jobs: { PERSON_DETECTION: job, HUMAN_VIDEO: job, AVATAR_SOURCE: job, AVATAR: job, AVATAR_VIDEO: job },
  },
};
const none: ProvidersConfig = {
  openai: null,
  gemini: null,
  ark: null,
  hedra: null,
  higgsfield: null,
  volcengine: null,
  fal: null,
  replicate: null,
  midjourney: null,
  minimax: null,
  kling: null,
  comfyui: null,
  aggregator: null,
};
const sandboxUrls = sandboxAddresses('http://127.0.0.1:1');
const catalog = createCatalog({ date: '2026-09-01' });

const registry = (settings: Partial<ProvidersConfig> = {}, urls: SandboxAddresses | null = sandboxUrls) =>
  createGeneratorRegistry(
    bundledBindings({ sandboxUrls: urls, settings: { ...none, ...settings }, providers, catalog }),
  );

describe('the bundled generators', () => {
  it('all point to the sandbox without settings', () => {
    const made = registry();
    expect(made.generators()).toEqual(
      'imga agg/imga vidb agg/vidb vidc agg/vidc speech_router agg/speech_router comfy union custom/frame cloud/humanvid cloud/digital llm llm/altllm'.split(
        ' ',
      ),
    );
    expect(made.all().every((binding) => binding.sandbox)).toBe(true);
    expect(made.generators('DESCRIPTION')).toEqual(['imga', 'agg/imga']);
    expect(made.generators('CHAT')).toEqual(['llm', 'llm/altllm']);
    expect(made.generators('ANALYSIS')).toEqual(['llm/altllm']);
    expect(made.generators('SPEECH')).toEqual(['speech_router', 'agg/speech_router']);
    expect(made.bindingsFor('comfy', 'COMFY_WORKFLOW')[0]?.connection).toMatchObject({
      baseUrl: 'http://127.0.0.1:1/comfyui-a',
      nodes: ['http://127.0.0.1:1/comfyui-a', 'http://127.0.0.1:1/comfyui-b'],
    });
  });

  it('have names of their own, others than in the sandbox once they have settings', () => {
    const names = registry()
      .all()
      .map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('imga:midjourney-sandbox');
    expect(names).toContain('union:openai-video-sandbox');
    const made = registry({ midjourney: { baseUrl: 'https://mj.example', secret: 's3cret' } });
    expect(made.bindingsFor('imga', 'IMAGE')[0]?.name).toMatch(/^imga:midjourney-[0-9a-f]{8}$/);
  });

  it('are replaced one by one by their own settings', () => {
    const made = registry({
      midjourney: { baseUrl: 'https://mj.example', secret: 's3cret' },
      kling: { login: { accessKey: 'ak', secretKey: 's3cret' }, baseUrl: 'https://kling.example' },
      aggregator: { baseUrl: 'https://agg.example', apiKey: 's3cret' },
    });
    expect(made.bindingsFor('imga', 'IMAGE')).toMatchObject([
      {
        sandbox: false,
        settings: 'MIDJOURNEY_BASE_URL',
        retryUnknownStart: false,
        connection: { baseUrl: 'https://mj.example', headers: { 'mj-api-secret': 's3cret' }, model: null },
      },
    ]);
    expect(made.bindingsFor('vidc', 'VIDEO')[0]?.connection.credentials).toEqual({
      accessKey: 'ak',
      secretKey: 's3cret',
    });
    expect(made.bindingsFor('agg/vidc', 'VIDEO')[0]).toMatchObject({
      sandbox: false,
      connection: {
        baseUrl: 'https://agg.example',
        pathPrefix: '/kling',
        headers: { authorization: 'Bearer s3cret' },
        credentials: {},
      },
    });
    expect(made.bindingsFor('vidb', 'VIDEO')[0]?.sandbox).toBe(true);
    expect(JSON.stringify(made.models({}))).not.toContain('s3cret');
    expect(made.models({ generator: 'imga' })).toMatchObject([
      { id: 'midjourney', sandbox: false, provider: 'midjourney' },
      { id: 'midjourney-video' },
    ]);
  });

  it('of Hedra take the key, and have the models, of the API that is configured', () => {
    const provider: Provider = { name: 'hedra', jobs: { LIP_SYNC: job } };
    const made = (isOlderApi: boolean) => {
      const vendor = { apiKey: 's3cret', baseUrl: 'https://hedra.example', isOlderApi };
      const options = {
        sandboxUrls,
        settings: { ...none, hedra: vendor },
        providers: { hedra: provider },
        catalog,
      };
      return createGeneratorRegistry(bundledBindings(options)).bindingsFor('agg/lipsync', 'LIP_SYNC')[0];
    };
    const [current, older] = [made(false), made(true)];
    expect(current?.connection.headers).toEqual({ authorization: 'Bearer s3cret' });
    expect(current?.models?.map(({ id }) => id)).toEqual(['hedra-avatar', 'hedra-character-3']);
    expect(older?.connection.headers).toEqual({ 'x-api-key': 's3cret' });
    expect(older?.models?.map(({ id }) => id)).toEqual(['hedra-avatar', 'hedra-omnia']);
  });

  it('keep to what an account of the upstream may have open at once', () => {
    const keys = { accessKey: 'ak', secretKey: 'sk', vodSpace: null };
    const volcengine = { ...keys, baseUrl: 'https://cv.example.com', vodBaseUrl: 'https://vod.example.com' };
    const limits = (from: ReturnType<typeof registry>) =>
      from
        .all()
        .filter(({ generator }) => generator.startsWith('cloud/'))
        .map(({ generator, concurrency, attemptTimeoutSeconds }) => [
          generator,
          concurrency,
          attemptTimeoutSeconds,
        ]);
    expect(limits(registry({ volcengine }))).toEqual([
      ['cloud/humanvid', 1, 1_800],
      // An avatar is trained for hours.
      ['cloud/digital', 1, 28_800],
    ]);
    expect(limits(registry()).map(([, concurrency]) => concurrency)).toEqual([64, 64]);
  });

  it('are absent without settings and sandbox, and say which setting is missing', () => {
    const made = registry({ openai: { apiKey: 'k', baseUrl: 'https://api.openai.com/v1' } }, null);
    expect(made.generators()).toEqual(['union', 'llm']);
    expect(() => made.bindingsFor('agg/imga', 'IMAGE')).toThrow(
      expect.objectContaining({
        code: 'NOT_CONFIGURED',
        message: 'generator "agg/imga" is not available here',
      }),
    );
    expect(made.missing()).toMatchObject({ 'agg/imga': 'AGG_BASE_URL and AGG_API_KEY' });
    expect(made.missing()).not.toHaveProperty('union');
    expect(new Set(made.models({ category: 'image' }).map(({ generator }) => generator))).toEqual(
      new Set(['union']),
    );
  });

  it('are told apart from names that do not exist and kinds they do not make', () => {
    expect(() => registry().bindingsFor('toString', 'IMAGE')).toThrow('there is no such generator');
    expect(() => registry().bindingsFor('union', 'DESCRIPTION')).toThrow('does not make descriptions');
    expect(registry().byId('agg/imga#0')?.generator).toBe('agg/imga');
    expect(registry().byId('agg/imga#9')).toBeNull();
  });

  it('are chosen by model where there are several', () => {
    const wires = (kind: string, model?: string) =>
      registry()
        .bindingsFor('union', kind, model)
        .map(({ provider }) => provider.name);
    expect(wires('VIDEO')).toEqual(['openai', 'gemini', 'kling', 'minimax']);
    expect(wires('VIDEO', 'kling-v1-6')).toEqual(['kling']);
    expect(() => wires('IMAGE', 'kling-v1-6')).toThrow(
      "not one of this generator's models (gpt-image-2, gpt-image-2.5-flare",
    );
    expect(
      new Set(
        registry()
          .models({ generator: 'union' })
          .map(({ id }) => id),
      ).size,
    ).toBe(registry().models({ generator: 'union' }).length);
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
    expect(check({ model: 'dall-e' })).toThrow("is not one of this generator's models (midjourney)");
    expect(check({ aspectRatio: '100:1' })).toThrow('aspectRatio: must be W:H');
  });
});

describe('a request outside the limits of its model', () => {
  const video: StepInput = { kind: 'VIDEO', generator: 'vidb', prompt: 'a fox runs' };
  const findProblems = (work: StepInput) => {
    try {
      checkWork(work, registry());
      return {};
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return Object.fromEntries(error.problems.map(({ field, message }) => [field, message]));
    }
  };

  it('names every field and the models that would take it', () => {
    const problems = findProblems({ ...video, duration: 5, resolution: '1080P', aspectRatio: '9:16' });
    expect(Object.keys(problems)).toEqual(['aspectRatio', 'duration']);
    expect(problems['duration']).toMatch(
      /^must be one of 6, 10; models that take this request: kling-v2-5-turbo \(vidc, agg\/vidc, union\), /,
    );
    expect(problems['duration']).not.toContain('MiniMax');
    expect(findProblems({ ...video, duration: 16 })['duration']).toBe('must be one of 6, 10');
  });

  it.each<[string, Partial<Record<string, unknown>>, string]>([
    ['a prompt when there is no image', { prompt: ' ' }, 'prompt'],
    ['a first frame with a last one', { lastFrame: { fileId: 'f' } }, 'lastFrame'],
    [
      'a last frame where the model has none',
      { image: { fileId: 'f' }, lastFrame: { fileId: 'g' }, model: 'MiniMax-Hailuo-2.3' },
      'lastFrame',
    ],
    ['a resolution of the list', { resolution: '8K' }, 'resolution'],
    ['a prompt that is not too long', { prompt: 'x'.repeat(2_001) }, 'prompt'],
    ['a duration that is a time', { duration: -1 }, 'duration'],
    ['no option that the model lacks', { seed: 7 }, 'seed'],
  ])('of a video needs %s', (_, change, field) => {
    expect(Object.keys(findProblems({ ...video, ...change }))[0]).toBe(field);
  });

  it('of a video takes what the limits allow, the image deciding about its shape', () => {
    const { prompt: _, ...silent } = video;
    expect(
      findProblems({ ...silent, image: { fileId: 'f' }, aspectRatio: '9:16', resolution: '1080p' }),
    ).toEqual({});
    expect(findProblems({ ...video, image: { fileId: 'f' }, lastFrame: { fileId: 'g' } })).toEqual({});
  });

  it('of speech and analysis names the field too', () => {
    const speech: StepInput = { kind: 'SPEECH', generator: 'speech_router', text: 'hello', voiceId: 'v' };
    expect(findProblems(speech)).toEqual({});
    expect(Object.keys(findProblems({ ...speech, text: '', voiceId: ' ', format: 'ogg', speed: 9 }))).toEqual(
      ['text', 'voiceId', 'format', 'speed'],
    );
    const analysis: StepInput = {
      kind: 'ANALYSIS',
      generator: 'llm/altllm',
      media: { fileId: 'f' },
      prompt: '',
    };
    expect(findProblems(analysis)).toEqual({ prompt: 'must not be empty' });
  });

  it('of an image is refused for every option that its model would drop', () => {
    const checkImage = (generator: string, change: object) =>
      findProblems({ kind: 'IMAGE', generator, prompt: 'a fox', ...change });
    for (const resolution of ['8k', '9x9', '1080p']) {
      expect(checkImage('union', { resolution })['resolution']).toBe(
        'must be one of 1024x1024, 1536x1024, 1024x1536, 2048x2048, 2048x1152, 1152x2048, ' +
          '2560x1440, 1440x2560, 3840x2160, 2160x3840 (gpt-image-2); must be one of 1K, 2K, 4K (gemini-3.1-flash-image)',
      );
    }
    expect(checkImage('union', { resolution: '1024x1024' })).toEqual({});
    expect(checkImage('imga', { resolution: '1024x1024' })['resolution']).toBe(
      'is not taken by this model; models that take this request: gpt-image-2 (union), gpt-image-2.5-flare (union), ' +
        'gpt-image-2.5-sunburst (union), gpt-image-2.6-flare (union), gpt-image-2.6-sunburst (union), gpt-image-1.5 (union), gpt-image-1-mini (union), gpt-image-1 (union)',
    );
    expect(checkImage('union', { model: 'gpt-image-1', seed: 7 })['seed']).toMatch(
      /^is not taken by this model; models that take this request: .*gemini-2\.5-flash-image \(union\)/,
    );
    expect(checkImage('imga', { count: 2 })['count']).toMatch(/^must be 1; /);
    expect(checkImage('imga', { count: 1, speedMode: 'turbo' })).toEqual({});
    expect(checkImage('imga', { speedMode: 'warp' })['speedMode']).toBe('must be one of fast, turbo, relax');
    expect(checkImage('union', { speedMode: 'fast' })).toEqual({});
    expect(checkImage('union', { speedMode: 'turbo' })['speedMode']).toMatch(/^is not taken by this model; /);
  });

  it('without a model is refused with the limits of all models that come nearest', () => {
    expect(findProblems({ ...video, generator: 'union', duration: 16 })['duration']).toBe(
      'must be one of 4, 8, 12 (sora-2); must be one of 4, 6, 8 (veo-3.1-generate-001); ' +
        'must be one of 5, 10 (kling-v2-5-turbo); must be one of 6, 10 (MiniMax-Hailuo-02)',
    );
    const both = findProblems({ ...video, generator: 'union', duration: 10, resolution: '1080p', seed: 7 });
    expect(Object.keys(both)).toEqual(['duration', 'seed']);
    const takes = '; models that take this request: gemini-omni-1.2-flash (union)';
    expect(both['duration']).toBe(`must be one of 4, 6, 8 (veo-3.1-generate-001)${takes}`);
    expect(both['seed']).toBe(`is not taken by this model (kling-v2-5-turbo, MiniMax-Hailuo-02)${takes}`);
  });

  it.each([
    ['gpt-image-1', { aspectRatio: '16:9' }, /^aspect ratio 16:9 was met by 3:2, the nearest/],
    ['gpt-image-1', { aspectRatio: '2:3' }, null],
    ['gpt-image-1', { aspectRatio: '16:9', resolution: '1024x1024' }, /the size 1024x1024 decides$/],
    ['gpt-image-1', { aspectRatio: '1:1', resolution: '1024x1024' }, null],
    ['gemini-2.5-flash-image', { aspectRatio: '16:9' }, null],
    ['kling-v1-6', { aspectRatio: '9:16', image: {} }, /the video has the shape of its picture$/],
    ['kling-v1-6', { aspectRatio: '9:16' }, null],
    ['sora-2', { aspectRatio: '9:16', image: {} }, null],
    ['hedra-avatar', { aspectRatio: '16:9', image: {} }, null],
  ])('by %s of %j is told what is met only approximately', (id, work, words) => {
    const model = registry()
      .models({})
      .find((one) => one.id === id);
    const notes = approximations(work, model);
    expect(notes.join()).toMatch(words ?? /^$/);
  });

  it('falls back only to bindings that take it', () => {
    const union: StepInput = { ...video, generator: 'union' };
    const wires = (change: object) =>
      bindingsTaking(registry(), { ...union, ...change }).map(({ provider }) => provider.name);
    expect(wires({})).toEqual(['openai', 'gemini', 'kling', 'minimax']);
    expect(wires({ duration: 8 })).toEqual(['openai', 'gemini']);
    expect(wires({ duration: 10 })).toEqual(['kling', 'minimax']);
    expect(wires({ duration: 7 })).toEqual([]);
    expect(wires({ generator: 'gone' })).toEqual([]);
  });
});
