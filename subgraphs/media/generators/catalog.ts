import type { ModelLimits } from './binding.ts';

/** What is not said is not limited. */
const NO_LIMITS = {
  needs: [],
  sizes: null,
  aspectRatios: null,
  durations: null,
  formats: null,
  ranges: {},
  maxPrompt: null,
  maxCount: null,
  maxImages: null,
} as const satisfies Partial<ModelLimits>;

/** What nearly every model of videos takes; `image` and `firstFrame` are the same to most wires. */
const VIDEO_INPUTS = ['prompt', 'image', 'firstFrame', 'aspectRatio', 'resolution', 'duration'];

/**
 * The models that Kiln knows, by the wire that speaks for them, with the limits their vendors publish. The first of a
 * kind is what runs when nobody names one. A model of a bindings file that is not here has only the limits of the file.
 *
 * A combination that only some values allow (MiniMax: 1080P in 6 s alone) is left to the vendor, who refuses it free of
 * charge; an input that merely guides (seed, negativePrompt) is taken by every model and used by those that name it.
 */
const catalog: Readonly<Record<string, readonly ModelLimits[]>> = {
  midjourney: [
    model('midjourney', 'Midjourney', {
      category: 'image',
      kinds: ['IMAGE', 'DESCRIPTION'],
      inputs: ['prompt', 'negativePrompt', 'images', 'image', 'aspectRatio', 'seed', 'speedMode'],
      maxPrompt: 4_000,
    }),
    model('midjourney-video', 'Midjourney Video', {
      category: 'video',
      kinds: ['VIDEO'],
      inputs: ['prompt', 'image', 'firstFrame', 'lastFrame', 'resolution'],
      needs: ['prompt'],
      sizes: ['480p', '720p'],
      durations: [5],
      maxPrompt: 4_000,
    }),
  ],
  minimax: [
    ...minimaxVideos(),
    ...['speech-2.8-hd', 'speech-2.8-turbo', 'speech-02-hd'].map((id) =>
      model(id, `MiniMax ${id}`, {
        category: 'speech',
        kinds: ['SPEECH', 'VOICE_CLONE'],
        inputs: ['text', 'voiceId', 'speed', 'pitch', 'volume', 'emotion', 'format', 'sample', 'name'],
        formats: ['mp3', 'wav', 'flac', 'pcm'],
        ranges: { speed: [0.5, 2], pitch: [-12, 12], volume: [0.01, 10] },
        maxPrompt: 10_000,
      }),
    ),
  ],
  kling: ['kling-v2-5-turbo', 'kling-v1-6', 'kling-v2-1-master'].map((id) =>
    model(id, `Kling ${id.slice('kling-'.length)}`, {
      category: 'video',
      kinds: ['VIDEO'],
      inputs: [...VIDEO_INPUTS, 'negativePrompt', ...(id === 'kling-v2-1-master' ? [] : ['lastFrame'])],
      sizes: ['720p', '1080p'],
      aspectRatios: ['16:9', '9:16', '1:1'],
      durations: [5, 10],
      maxPrompt: 2_500,
    }),
  ),
  openai: [
    model('gpt-image-1', 'GPT Image 1', {
      category: 'image',
      kinds: ['IMAGE'],
      inputs: ['prompt', 'negativePrompt', 'images', 'aspectRatio', 'resolution', 'count'],
      sizes: ['1024x1024', '1536x1024', '1024x1536'],
      maxPrompt: 32_000,
      maxImages: 10,
      maxCount: 10,
    }),
    ...openaiVideos(),
    ...['gpt-4o-mini', 'gpt-4o'].map((id) =>
      model(id, `GPT-${id.slice('gpt-'.length)}`, {
        category: 'language',
        kinds: ['CHAT'],
        inputs: ['messages', 'system', 'temperature', 'maxTokens'],
      }),
    ),
  ],
  gemini: [
    model('gemini-2.5-flash-image', 'Gemini 2.5 Flash Image', {
      category: 'image',
      kinds: ['IMAGE'],
      inputs: ['prompt', 'negativePrompt', 'images', 'aspectRatio'],
      aspectRatios: ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
      maxPrompt: 20_000,
      maxImages: 3,
      maxCount: 1,
    }),
    model('veo-3.1-generate-preview', 'Veo 3.1', {
      category: 'video',
      kinds: ['VIDEO'],
      inputs: [...VIDEO_INPUTS, 'negativePrompt', 'lastFrame', 'seed'],
      needs: ['prompt'],
      sizes: ['720p', '1080p'],
      aspectRatios: ['16:9', '9:16'],
      durations: [4, 6, 8],
      maxPrompt: 4_000,
    }),
    ...['gemini-2.5-flash', 'gemini-2.5-pro'].map((id) =>
      model(id, `Gemini ${id.slice('gemini-'.length).replaceAll('-', ' ')}`, {
        category: 'language',
        kinds: ['CHAT', 'ANALYSIS'],
        inputs: ['messages', 'system', 'temperature', 'maxTokens', 'media', 'prompt'],
        maxPrompt: 100_000,
      }),
    ),
  ],
  comfyui: [
    model('comfyui', 'ComfyUI', {
      category: 'workflow',
      kinds: ['COMFY_WORKFLOW'],
      inputs: ['workflow', 'workflowName', 'inputs', 'node'],
    }),
  ],
};

function minimaxVideos(): readonly ModelLimits[] {
  const common = {
    category: 'video',
    kinds: ['VIDEO'],
    // Without a first frame the wire makes 16:9; with one, the shape of the frame.
    aspectRatios: ['16:9'],
    durations: [6, 10],
    maxPrompt: 2_000,
  };
  return [
    model('MiniMax-Hailuo-02', 'Hailuo 02', {
      ...common,
      inputs: [...VIDEO_INPUTS, 'lastFrame'],
      sizes: ['512P', '768P', '1080P'],
    }),
    model('MiniMax-Hailuo-2.3', 'Hailuo 2.3', { ...common, inputs: VIDEO_INPUTS, sizes: ['768P', '1080P'] }),
  ];
}

function openaiVideos(): readonly ModelLimits[] {
  const small = ['720p', '1280x720', '720x1280'];
  const sizes = { 'sora-2': small, 'sora-2-pro': [...small, '1792x1024', '1024x1792'] };
  return Object.entries(sizes).map(([id, own]) =>
    model(id, id === 'sora-2' ? 'Sora 2' : 'Sora 2 Pro', {
      category: 'video',
      kinds: ['VIDEO'],
      inputs: VIDEO_INPUTS,
      needs: ['prompt'],
      sizes: own,
      aspectRatios: ['16:9', '9:16'],
      durations: [4, 8, 12],
      maxPrompt: 32_000,
    }),
  );
}

type Told = Partial<ModelLimits> & Pick<ModelLimits, 'category' | 'kinds' | 'inputs'>;

function model(id: string, name: string, told: Told): ModelLimits {
  return { ...NO_LIMITS, id, name, ...told };
}

/** The known models of a wire. */
export function modelsOf(provider: string): readonly ModelLimits[] {
  return Object.hasOwn(catalog, provider) ? (catalog[provider] ?? []) : [];
}

/** Whether this wire carries a model's name; the others have but one model, or graphs that name theirs. */
export function namesModel(provider: string): boolean {
  return provider !== 'midjourney' && provider !== 'comfyui';
}

const CATEGORIES: Readonly<Record<string, string>> = {
  IMAGE: 'image',
  DESCRIPTION: 'image',
  VIDEO: 'video',
  SPEECH: 'speech',
  VOICE_CLONE: 'speech',
  COMFY_WORKFLOW: 'workflow',
  ANALYSIS: 'language',
  CHAT: 'language',
};

/** A model that Kiln does not know: it takes every input, within no limits but those that all have. */
export function unknownModel(id: string, kinds: readonly string[]): ModelLimits {
  const category = CATEGORIES[kinds[0] ?? ''] ?? 'other';
  const inputs = ['prompt', 'negativePrompt', 'images', 'image', 'firstFrame', 'lastFrame', 'aspectRatio'];
  return model(id, id, { category, kinds, inputs: [...inputs, 'resolution', 'duration', 'count', 'seed'] });
}
