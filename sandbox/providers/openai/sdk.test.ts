import OpenAI, { type APIError, toFile } from 'openai';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';

import { useSandbox } from '../../use-sandbox.fixture.ts';

/** The vendor's SDK against the stand-in of the OpenAI wire. */

const sandbox = useSandbox();
/** Long enough on a machine that does much else; nothing waits for it. */
const SOON = { timeout: 100_000 };
const client = (apiKey = 'sk-test') =>
  new OpenAI({ apiKey, baseURL: `${sandbox.url('openai')}/v1`, maxRetries: 0 });
const ask = 'What is 6 * 7?';
const messages = [{ role: 'user' as const, content: ask }];

const refused = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => error as APIError,
  );

describe('chat', () => {
  it('answers, as often as asked, with tokens and the id of the request', async () => {
    const { data, request_id: id } = await client()
      .chat.completions.create({ model: 'gpt-4o-mini', messages, n: 2, reasoning_effort: 'low' })
      .withResponse();
    expect(data.choices.map(({ message }) => message.content)).toEqual(['42', '42']);
    expect(data.usage?.completion_tokens_details?.reasoning_tokens).toBe(0);
    expect(id).toMatch(/^req_/);
  });

  it('streams', async () => {
    const stream = client().chat.completions.stream({ model: 'gpt-4o', messages });
    expect(await stream.finalContent()).toBe('42');
    expect((await stream.finalChatCompletion()).choices[0]?.finish_reason).toBe('stop');
  });

  it('ends at a stop sequence', async () => {
    const content = 'Summarise: One fox. Two foxes.';
    const reply = await client().chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content }],
      stop: ' fox',
    });
    expect(reply.choices[0]?.message.content).not.toContain(' fox');
  });

  const tools = [
    {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string', enum: ['Oslo', 'Rome'] }, days: { type: 'integer' } },
        },
      },
    },
  ];

  it.each([false, true])('calls a tool, and goes on with its answer (streamed: %s)', async (isStreamed) => {
    const question = { role: 'user' as const, content: 'get weather of Rome for 3 days' };
    const body = { model: 'gpt-4o', messages: [question], tools };
    const reply = isStreamed
      ? await client().chat.completions.stream(body).finalChatCompletion()
      : await client().chat.completions.create(body);
    const [choice] = reply.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    const call = choice?.message.tool_calls?.[0] as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(call.function.name).toBe('get_weather');
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Rome', days: 3 });
    const assistant = { role: 'assistant' as const, content: null, tool_calls: [call] };
    const result = { role: 'tool' as const, tool_call_id: call.id, content: 'sunny' };
    const end = await client().chat.completions.create({ ...body, messages: [question, assistant, result] });
    expect(end.choices[0]?.message.content).toBe('sunny');
  });

  it('refuses a choice of a tool that is not there', async () => {
    const choice = { type: 'function' as const, function: { name: 'other' } };
    const body = { model: 'gpt-4o', messages, tools, tool_choice: choice };
    expect(await refused(client().chat.completions.create(body))).toMatchObject({
      status: 400,
      param: 'tool_choice',
    });
  });

  it('calls one of the tools that are allowed, and takes documents', async () => {
    const file = { file: { file_data: 'data:application/pdf;base64,JVBERi0=' }, type: 'file' as const };
    const content = [{ type: 'text' as const, text: 'Rome' }, file];
    const allowed = { type: 'function', function: { name: 'get_weather' } };
    const reply = await client().chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content }],
      tools,
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [allowed] } },
    });
    expect(reply.choices[0]?.message.tool_calls).toHaveLength(1);
  });

  it('answers JSON, free or by a schema', async () => {
    const create = async (response_format: OpenAI.ChatCompletionCreateParams['response_format']) => {
      const body = { model: 'gpt-4o', messages, ...(response_format && { response_format }) };
      const reply = await client().chat.completions.create(body);
      return JSON.parse(reply.choices[0]?.message.content ?? '') as unknown;
    };
    expect(await create({ type: 'json_object' })).toEqual({ reply: '42' });
    const schema = { type: 'object', properties: { number: { type: 'integer' } } };
    expect(await create({ type: 'json_schema', json_schema: { name: 'x', schema } })).toEqual({ number: 6 });
  });

  it.each([
    ['an unknown model', { model: 'gpt-99', messages }, 404, 'model'],
    ['log probabilities', { model: 'gpt-4o', messages, logprobs: true }, 400, 'logprobs'],
    ['sound', { model: 'gpt-4o', messages, modalities: ['audio' as const] }, 400, 'modalities.0'],
  ])('refuses %s', async (_, body, status, param) => {
    const error = await refused(client().chat.completions.create(body));
    expect(error).toMatchObject({ status, param });
    expect(error.requestID).toMatch(/^req_/);
  });
});

describe('images', () => {
  const prompt = 'a lighthouse';
  const createImage = async (colour = 'red') => {
    const { data } = await sharp({ create: { width: 64, height: 64, channels: 3, background: colour } })
      .png()
      .toBuffer({ resolveWithObject: true });
    return data;
  };

  it('are made, with what they used', async () => {
    const made = await client().images.generate({ model: 'gpt-image-1', prompt, n: 2, size: '1024x1024' });
    expect(made.data).toHaveLength(2);
    expect(made.usage?.input_tokens_details).toEqual({ text_tokens: expect.any(Number), image_tokens: 0 });
  });

  it('are streamed', async () => {
    const stream = await client().images.generate({
      model: 'gpt-image-1',
      prompt,
      stream: true,
      partial_images: 2,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
  });

  it('are edited where the mask is transparent only', async () => {
    const [image, mask] = [await createImage(), Buffer.alloc(64 * 64 * 4)];
    for (let pixel = 0; pixel < 64 * 32; pixel += 1) mask[pixel * 4 + 3] = 255;
    const png = await sharp(mask, { raw: { width: 64, height: 64, channels: 4 } })
      .png()
      .toBuffer();
    const edited = await client().images.edit({
      model: 'gpt-image-1',
      image: await toFile(image, 'a.png', { type: 'image/png' }),
      mask: await toFile(png, 'mask.png', { type: 'image/png' }),
      prompt,
    });
    const pixels = await sharp(Buffer.from(edited.data?.[0]?.b64_json ?? '', 'base64'))
      .removeAlpha()
      .raw()
      .toBuffer();
    expect([...pixels.subarray(0, 3)]).toEqual([255, 0, 0]);
    expect([...pixels.subarray(64 * 63 * 3, 64 * 63 * 3 + 3)]).not.toEqual([255, 0, 0]);
    const wrong = client().images.edit({
      model: 'gpt-image-1',
      image: await toFile(image, 'a.png', { type: 'image/png' }),
      mask: await toFile(await createImage(), 'mask.png', { type: 'image/png' }),
      prompt,
    });
    expect(await refused(wrong)).toMatchObject({ status: 400, param: 'mask' });
  });

  it('are not made by a model that makes none', async () => {
    expect(await refused(client().images.generate({ model: 'gpt-4o', prompt }))).toMatchObject({
      status: 404,
    });
  });
});

describe('speech', () => {
  const speak = (response_format: 'mp3' | 'wav' | 'flac' | 'opus') =>
    client().audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'hello', response_format });

  it.each(['mp3', 'wav', 'flac'] as const)('is made as %s', async (format) => {
    expect((await (await speak(format)).arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  it('is made as bare samples, and as events', async () => {
    const body = { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'hello' } as const;
    const pcm = await client().audio.speech.create({ ...body, response_format: 'pcm' });
    expect((await pcm.arrayBuffer()).byteLength).toBeGreaterThan(4_000);
    const events = await client().audio.speech.create({ ...body, stream_format: 'sse' });
    const text = await events.text();
    expect(text).toMatch(/^data: \{"type":"speech\.audio\.delta"/);
    expect(text).toContain('"speech.audio.done"');
  });

  it('is refused in another format', async () => {
    expect(await refused(speak('opus'))).toMatchObject({ status: 400, param: 'response_format' });
  });
});

it('makes videos and gives their content', async () => {
  const video = await client().videos.create({ model: 'sora-2', prompt: 'a boat', seconds: '4' });
  await expect.poll(async () => (await client().videos.retrieve(video.id)).status, SOON).toBe('completed');
  const content = await client().videos.downloadContent(video.id);
  expect((await content.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  expect(await refused(client().videos.retrieve('video_0'))).toMatchObject({ status: 404 });
});

it('lists videos and deletes one', async () => {
  const { id } = await client().videos.create({ model: 'sora-2', prompt: 'a boat', seconds: '4' });
  await expect.poll(async () => (await client().videos.retrieve(id)).status, SOON).toBe('completed');
  const listed = async () => {
    const ids: string[] = [];
    for await (const video of client().videos.list({ limit: 1 })) ids.push(video.id);
    return ids;
  };
  expect(await listed()).toContain(id);
  expect(await client().videos.delete(id)).toMatchObject({ id, deleted: true });
  expect(await listed()).not.toContain(id);
  expect(await refused(client().videos.delete(id))).toMatchObject({ status: 404 });
});

it('lists models and shows one', async () => {
  const ids = [];
  for await (const { id } of client().models.list()) ids.push(id);
  expect(ids).toContain('gpt-image-1');
  expect((await client().models.retrieve('gpt-4o')).id).toBe('gpt-4o');
  expect(await refused(client().models.retrieve('gpt-99'))).toMatchObject({ code: 'model_not_found' });
});
