import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphqlClient, GENERATE } from './graphql-client.ts';

/** Options in the vendors' own names: checked against the model's schema, kept, and sent as they are. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

const imageInput = { generator: 'union', model: 'gpt-image-2', prompt: 'a fox' };
const refusal = (options: unknown, input: object = {}) =>
  asking.refusal(GENERATE, { input: { ...imageInput, ...input, options } });

/** The bodies that the stand-in of a vendor was sent with this prompt. */
async function sent(wire: string, prompt: string): Promise<readonly object[]> {
  const answer = await fetch(`${kiln.sandboxUrl}/_control/requests`);
  const all = (await answer.json()) as readonly { readonly wire: string; readonly body: object }[];
  return all
    .filter((one) => one.wire === wire && JSON.stringify(one.body).includes(prompt))
    .map(({ body }) => body);
}

describe('options', () => {
  it('arrive at the vendor as they were sent, and are kept with the task', async () => {
    const options = {
      quality: 'low',
      background: 'transparent',
      output_format: 'webp',
      output_compression: 40,
    };
    const prompt = 'a fox with four options';
    const { generateImage } = await asking.ok(GENERATE, { input: { ...imageInput, prompt, options } });
    expect(await asking.ended(generateImage.id)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await sent('openai', prompt)).toEqual([
      { model: 'gpt-image-2', prompt, n: 1, size: '1024x1024', stream: true, ...options },
    ]);
    const { task } = await asking.ok(
      'query ($id: ID!) { task(id: $id) { input { options } } }',
      generateImage,
    );
    expect(task.input.options).toEqual({ options });
  });

  it('that a model does not have are refused with what it has, and who has them', async () => {
    expect(await refusal({ style: 'vivid' })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'options.style',
      message: expect.stringMatching(
        /^options\.style: is not taken by this model; it takes quality, background, output_format, /,
      ),
    });
    expect(await refusal({ quality: 'max' })).toMatchObject({
      field: 'options.quality',
      message: expect.stringMatching(
        /^options\.quality: must be one of auto, low, medium, high; models that take this request: .*gpt-image-2\.5-flare \(union\)/,
      ),
    });
    expect(await refusal({ output_compression: 101 })).toMatchObject({
      field: 'options.output_compression',
      message: expect.stringContaining('must be a whole number from 0 to 100'),
    });
  });

  it('are part of an estimate, and refused there too', async () => {
    const ESTIMATE = 'query ($input: EstimateInput!) { estimateCost(input: $input) { amount } }';
    const work = { kind: 'IMAGE', generator: 'union', model: 'gpt-image-1.5' };
    const amount = async (more: object) =>
      (await asking.ok(ESTIMATE, { input: { ...work, ...more } })).estimateCost.amount;
    expect([await amount({ quality: 'low' }), await amount({ quality: 'high' })]).toEqual([0.009, 0.133]);
    expect(await amount({ quality: 'low', options: { moderation: 'low' } })).toBe(0.009);
    expect(await amount({ quality: 'low', batch: true })).toBe(0.0045);
    expect(await asking.refusal(ESTIMATE, { input: { ...work, options: { style: 'vivid' } } })).toMatchObject(
      {
        code: 'BAD_USER_INPUT',
        field: 'options.style',
      },
    );
  });

  it('that are no object, or too large, are refused', async () => {
    expect(await refusal([1])).toMatchObject({ code: 'BAD_USER_INPUT', field: 'options' });
    expect(await refusal({ user: 'x'.repeat(32_001) })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'options',
    });
  });

  it('belong to what an idempotency key stands for, whatever their order', async () => {
    const start = (options: object) =>
      asking.run(GENERATE, { input: { ...imageInput, options }, key: 'options-of-a-key' });
    const first = await start({ quality: 'low', background: 'opaque' });
    const again = await start({ background: 'opaque', quality: 'low' });
    expect(again.data.generateImage.id).toBe(first.data.generateImage.id);
    const other = await start({ quality: 'medium', background: 'opaque' });
    expect(other.errors?.[0]?.extensions).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });
});

const IMAGE = 'mutation ($input: ImageInput!) { start: generateImage(input: $input) { id } }';
const VIDEO = 'mutation ($input: VideoInput!) { start: generateVideo(input: $input) { id } }';
const SPEECH = 'mutation ($input: SpeechInput!) { start: synthesizeSpeech(input: $input) { id } }';

describe('options of many models', () => {
  it.each([
    [
      IMAGE,
      'openai',
      'union',
      'gpt-image-2.5-flare',
      { quality: 'max', complexity: 'high', moderation: 'low' },
      '',
    ],
    [IMAGE, 'openai', 'union', 'gpt-image-2', { safety_identifier: 'a1', output_format: 'jpeg' }, ''],
    [
      IMAGE,
      'gemini',
      'union',
      'gemini-3.1-flash-image',
      { generationConfig: { temperature: 0.5, topP: 0.9 } },
      '',
    ],
    [
      IMAGE,
      'fal',
      'custom',
      'fal-ai/flux/dev',
      { guidance_scale: 4, num_inference_steps: 20, acceleration: 'high' },
      '',
    ],
    [
      IMAGE,
      'replicate',
      'custom',
      'black-forest-labs/flux-schnell',
      { output_quality: 90, go_fast: false },
      'input',
    ],
    [
      VIDEO,
      'gemini',
      'union',
      'veo-3.1-generate-001',
      { enhancePrompt: false, personGeneration: 'allow_adult', resizeMode: 'PAD' },
      'parameters',
    ],
    [VIDEO, 'fal', 'custom', 'fal-ai/kling-video/v2.5-turbo/pro', { cfg_scale: 0.7 }, ''],
    [VIDEO, 'replicate', 'custom', 'bytedance/seedance-1-lite', { camera_fixed: true }, 'input'],
    [VIDEO, 'kling', 'union', 'kling-v1-6', { cfg_scale: 0.4 }, ''],
    [
      VIDEO,
      'minimax',
      'union',
      'MiniMax-Hailuo-02',
      { prompt_optimizer: false, fast_pretreatment: true },
      '',
    ],
    [
      SPEECH,
      'minimax',
      'agg/speech_router',
      'speech-2.8-hd',
      { language_boost: 'English', voice_modify: { pitch: 10 } },
      '',
    ],
  ])('arrive: %s at %s', async (mutation, wire, generator, model, options, at) => {
    const prompt = `for ${model}: ${JSON.stringify(Object.keys(options)).replaceAll('"', '')}`;
    const said = mutation === SPEECH ? { text: prompt, voiceId: 'English_Graceful_Lady' } : { prompt };
    await asking.ok(mutation, { input: { generator, model, ...said, options } });
    const [body] = await until(
      () => sent(wire, `for ${model}:`),
      (bodies) => bodies.length > 0,
    );
    expect(at === '' ? body : (body as Record<string, unknown>)[at]).toMatchObject(options);
  });

  it('arrive with a chat, and are refused with one', async () => {
    const chat = 'mutation ($input: ChatInput!) { chat(input: $input) { text } }';
    const ask = (options: object, more: object = {}) => ({
      input: {
        generator: 'llm',
        model: 'gpt-4o-mini',
        conversation: [{ role: 'USER', text: 'ten options?' }],
        options,
        ...more,
      },
    });
    await asking.ok(chat, ask({ top_p: 0.5, stop: ['END'], seed: 3 }));
    expect(await sent('openai', 'ten options?')).toEqual([
      expect.objectContaining({ top_p: 0.5, stop: ['END'], seed: 3 }),
    ]);
    expect(await asking.refusal(chat, ask({ verbosity: 'low' }))).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'options.verbosity',
      message: expect.stringMatching(/it takes top_p, .*; models that take this request: gpt-6-luna \(llm/),
    });
  });
});

describe('typed inputs that models have under names of their own', () => {
  it.each([
    [
      IMAGE,
      'openai',
      'gpt-image-2',
      { quality: 'LOW', background: 'opaque', outputFormat: 'jpg' },
      { quality: 'low', background: 'opaque', output_format: 'jpeg' },
    ],
    [
      IMAGE,
      'replicate',
      'black-forest-labs/flux-schnell',
      { outputFormat: 'jpeg' },
      { input: { output_format: 'jpg' } },
    ],
    [
      VIDEO,
      'gemini',
      'veo-3.1-fast-generate-001',
      { generateAudio: false, negativePrompt: 'rain' },
      { parameters: { generateAudio: false, negativePrompt: 'rain' } },
    ],
  ])('are sent so: %s at %s', async (mutation, wire, model, typed, sentAs) => {
    const prompt = `typed for ${model}`;
    const generator = wire === 'replicate' ? 'custom' : 'union';
    await asking.ok(mutation, { input: { generator, model, prompt, ...typed } });
    const [body] = await until(
      () => sent(wire, prompt),
      (bodies) => bodies.length > 0,
    );
    expect(body).toMatchObject(sentAs);
  });

  it('are refused by name where the model has none, and beside an option that says the same', async () => {
    const input = { generator: 'union', model: 'gemini-3.1-flash-image', prompt: 'a fox', quality: 'low' };
    expect(await asking.refusal(IMAGE, { input })).toMatchObject({
      field: 'quality',
      message: expect.stringMatching(
        /^quality: is not taken by this model; models that take this request: .*gpt-image-2 \(union\)/,
      ),
    });
    const twice = { ...imageInput, quality: 'low', options: { quality: 'high' } };
    expect(await asking.refusal(IMAGE, { input: twice })).toMatchObject({
      field: 'options.quality',
      message: expect.stringContaining('says what quality says too'),
    });
  });
});

describe('references of a video', () => {
  const upload = async () => {
    const plain = sharp({ create: { width: 64, height: 64, channels: 3, background: '#888' } });
    const query = 'mutation ($file: Upload!) { uploadFile(file: $file) { id } }';
    const { data } = await asking.upload(new Uint8Array(await plain.png().toBuffer()), 'a.png', query);
    return { fileId: data.uploadFile.id as string };
  };

  it.each([
    ['gemini', 'union', 'veo-3.1-generate-001', 'referenceImages'],
    ['replicate', 'custom', 'bytedance/seedance-1-lite', 'reference_images'],
  ])(
    'are sent to %s, and refused beside a first frame or where a model takes none',
    async (wire, generator, model, name) => {
      const [one, other] = [await upload(), await upload()];
      const prompt = `a video with references at ${wire}`;
      const input = { generator, model, prompt, references: [one, other] };
      await asking.ok(VIDEO, { input });
      const [body] = await until(
        () => sent(wire, prompt),
        (bodies) => bodies.length > 0,
      );
      expect(JSON.stringify(body)).toContain(`"${name}":[`);
      expect(await asking.refusal(VIDEO, { input: { ...input, firstFrame: one } })).toMatchObject({
        field: 'references',
        message: expect.stringContaining('can not be sent with a first or last frame'),
      });
      const none = { ...input, generator: 'union', model: 'kling-v1-6' };
      expect(await asking.refusal(VIDEO, { input: none })).toMatchObject({
        field: 'references',
        message: expect.stringMatching(
          /is not taken by this model; models that take this request: .*veo-3\.1-generate-001/,
        ),
      });
    },
  );
});

describe('a recipe', () => {
  const START = `mutation ($type: String!, $prompt: String!, $options: JSON) {
    createTask(taskType: $type, prompt: $prompt, options: $options) { id }
  }`;

  it('takes options by what its steps make, and keeps them', async () => {
    const options = { image: { botType: 'NIJI_JOURNEY' } };
    const { createTask } = await asking.ok(START, { type: 'tea', prompt: 'a cup with options', options });
    expect(await asking.ended(createTask.id)).toMatchObject({ state: 'SUCCEEDED' });
    const bodies = await sent('midjourney', 'a cup with options');
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(body).toMatchObject(options.image);
    const { task } = await asking.ok('query ($id: ID!) { task(id: $id) { input { options } } }', createTask);
    expect(task.input.options).toMatchObject({ options });
  });

  it.each([
    ['tea', { image: { botType: 'SOMEBODY' } }, /^options\.image\.botType$/],
    ['vlog', { video: { steps: 3 } }, /^options\.video/],
    ['tea', { video: { steps: 3 } }, /^options\.video$/],
    ['tea', { botType: 'NIJI_JOURNEY' }, /^options\.botType$/],
    ['tea', { image: 7 }, /^options\.image$/],
  ])('of the type %s refuses %j, by its path', async (type, options, field) => {
    const expected = { code: 'BAD_USER_INPUT', field: expect.stringMatching(field) };
    expect(await asking.refusal(START, { type, prompt: 'a cup', options })).toMatchObject(expected);
    const estimate = 'query ($input: EstimateInput!) { estimateCost(input: $input) { amount } }';
    const input = { kind: 'RECIPE', taskType: type, options };
    expect(await asking.refusal(estimate, { input })).toMatchObject(expected);
  });
});

it('prices graphs by the time that their machine takes, whatever their name', async () => {
  const input = { kind: 'COMFY_WORKFLOW', model: 'workflow/any' };
  const query = 'query ($input: EstimateInput!) { estimateCost(input: $input) { units { runs } estimated } }';
  const estimateCost = { units: { runs: 1 }, estimated: true };
  expect(await asking.ok(query, { input })).toEqual({ estimateCost });
});

it('knows no price of a recipe that is none', async () => {
  const input = { kind: 'RECIPE', taskType: 'none' };
  const query = 'query ($input: EstimateInput!) { estimateCost(input: $input) { amount } }';
  expect(await asking.refusal(query, { input })).toMatchObject({ code: 'BAD_USER_INPUT', field: 'taskType' });
});

describe('models', () => {
  it('tell the schema of their options and their prices', async () => {
    const { models } = await asking.ok(
      '{ models(generator: "union") { model inputs optionsSchema prices { currency chargesFailures prices { unit amount per when } } } }',
    );
    const named = (name: string) => models.find(({ model }: { model: string }) => model === name);
    expect(named('gpt-image-2').optionsSchema.properties.quality).toMatchObject({
      enum: ['auto', 'low', 'medium', 'high'],
      'x-input': 'quality',
    });
    expect(named('veo-3.1-generate-001').prices).toEqual({
      currency: 'USD',
      chargesFailures: false,
      prices: [
        { unit: 'second', amount: 0.6, per: 1, when: { resolution: '4k' } },
        { unit: 'second', amount: 0.4, per: 1, when: null },
      ],
    });
    expect(named('kling-v2-5-turbo').optionsSchema.properties).toHaveProperty('negative_prompt');
  });
});
