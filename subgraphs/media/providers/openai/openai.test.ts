import { describe, expect, it } from 'vitest';

import { imageRequest } from '../../../../test/providers/contract/row.ts';
import { documented, expectDocumented, readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { catchFailure, must, createImage } from '../../../../test/providers/environment/environment.ts';
import type { ScriptedResponse } from '../../../../test/providers/environment/recording-proxy.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { ChatPiece, ChatRequest } from '../contract/provider.ts';

/** What OpenAI and its compatibles answer, as the published document has it (fixtures/openai.json). */

const fixture = readFixture(new URL('wire.fixture.json', import.meta.url));
const { answers } = fixture;
const stage = useScriptedProvider('openai');

const make = (answer: ScriptedResponse, change: Parameters<typeof imageRequest>[0] = {}) => {
  stage.proxy.respondNext('/images/', answer);
  return must(stage.provider.calls?.IMAGE, 'call for images').call(imageRequest(change), stage.context);
};
const plain: ChatRequest = {
  messages: [{ role: 'user', content: 'hello' }],
  system: null,
  temperature: null,
  maxTokens: null,
};
const chat = (answer: ScriptedResponse, change: Partial<ChatRequest> = {}) => {
  stage.proxy.respondNext('/chat/', answer);
  const request = { ...plain, ...change };
  return must(stage.provider.chat, 'chat')(request, stage.context);
};
const sentJson = () => JSON.parse(stage.proxy.sent[0]?.body.toString() ?? '') as Record<string, unknown>;

describe('images', () => {
  it('come inline in the format that the answer names', async () => {
    const content = Buffer.from('iVBORw0KGgo=', 'base64');
    expect((await make({ body: answers['images'] })).files).toEqual([{ content, contentType: 'image/webp' }]);
  });

  it('may lie at the vendor, and are then fetched without the connection’s credentials', async () => {
    const url = 'https://files.example/a.png';
    expect((await make({ body: { created: 1, data: [{ url }] } })).files).toEqual([{ url }]);
  });

  it.each([null, {}, { error: { code: 'moderation_blocked' } }])(
    'come and count without one of them that is %j',
    async (missing) => {
      const [one] = must(answers['images'], 'answer')['data'] as readonly object[];
      const outcome = await make({ body: { data: [one, missing] } });
      expect(outcome).toMatchObject({ files: [{ contentType: 'image/png' }], units: { pictures: 1 } });
      expect(outcome.files).toHaveLength(1);
    },
  );

  it.each([{ created: 1, data: [] }, { created: 1, data: [{}] }, { created: 1 }, []])(
    'that are missing from an answer (%j) may have been made',
    async (body) => {
      expect(await catchFailure(make({ body }))).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
    },
  );

  it.each([
    [undefined, undefined, '1024x1024'],
    ['16:9', undefined, '1536x1024'],
    ['9:16', undefined, '1024x1536'],
    ['6:5', undefined, '1024x1024'],
    ['64:1', undefined, '1536x1024'],
    ['16:9', '1536x864', '1536x864'],
    [undefined, '2K', '1024x1024'],
  ])('of the ratio %s and the resolution %s are asked for as %s', async (aspectRatio, resolution, size) => {
    await make({ body: answers['images'] }, { aspectRatio, resolution });
    expect(sentJson()).toMatchObject({ size });
  });

  it.each([
    [
      { quality: { enum: ['low', 'medium'] }, output_format: {} },
      { quality: 'medium', output_format: 'png' },
    ],
    [{ quality: { enum: ['low', 'high'] } }, {}],
  ])('get a quality and a format of ours where their model has them: %j', async (properties, sent) => {
    const options = { type: 'object' as const, properties };
    const connection = { ...stage.context.connection, options };
    stage.proxy.respondNext('/images/', { body: answers['images'] });
    const images = must(stage.provider.calls?.IMAGE, 'call for images');
    await images.call(imageRequest(), { ...stage.context, connection });
    const { quality, output_format } = sentJson();
    expect({ quality, output_format }).toEqual({ quality: undefined, output_format: undefined, ...sent });
  });

  it('are made from every input in its order', async () => {
    const images = [createImage({ name: 'one.png' }), createImage({ name: 'two.png' })];
    await make({ body: answers['images'] }, { images });
    const [sent] = stage.proxy.sent;
    const headers = { 'content-type': sent?.headers['content-type'] ?? '' };
    const form = await new Response(new Uint8Array(sent?.body ?? []), { headers }).formData();
    expect(form.getAll('image[]').map((file) => (file as File).name)).toEqual(['one.png', 'two.png']);
  });

  it('say of a mask that can not be sent why, and send nothing', async () => {
    const mask = createImage({ bytes: 2 ** 25 });
    const edit = make({ body: answers['images'] }, { images: [createImage()], mask });
    expect((await catchFailure(edit)).message).toContain('mask is larger than');
    expect(stage.proxy.sent).toEqual([]);
  });

  it('are refused with the field in our words', async () => {
    const error = {
      message: 'Invalid size',
      type: 'invalid_request_error',
      param: 'size',
      code: 'invalid_value',
    };
    expect(await catchFailure(make({ status: 400, body: { error } }))).toMatchObject({
      code: 'INVALID_INPUT',
      retryable: false,
      field: 'resolution',
      startUnknown: false,
    });
  });
});

describe('refusals', () => {
  it.each([
    ['out of credit', 429, 'noCredit', { code: 'OUT_OF_CREDIT', retryable: true }],
    ['overloaded', 503, 'overloaded', { code: 'UNAVAILABLE', retryable: true }],
  ] as const)('that say %s mean that nothing was started', async (_what, status, name, expected) => {
    expect(await catchFailure(make({ status, body: answers[name] }))).toMatchObject({
      ...expected,
      startUnknown: false,
    });
  });

  it.each(['moderation_blocked', 'content_policy_violation'])('called %s are moderation', async (code) => {
    const error = { message: 'no', type: 'image_generation_user_error', param: null, code };
    expect(await catchFailure(make({ status: 400, body: { error } }))).toMatchObject({
      code: 'MODERATION_REFUSED',
      retryable: false,
    });
  });

  it('by something on the way (502, 503, 504 with a page) leave open what happened', async () => {
    for (const status of [502, 503, 504]) {
      const answer = { status, headers: { 'content-type': 'text/html' }, body: '<html>' };
      expect(await catchFailure(make(answer))).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
    }
  });
});

describe('chat', () => {
  it('answers the reply, its model and what it used', async () => {
    expect(await chat({ body: answers['chat'] })).toEqual({
      text: 'Hello! How can I assist you today?',
      model: 'gpt-5.4',
      usage: { inputTokens: 19, outputTokens: 10 },
    });
  });

  const choice = (message: object, finish_reason: string) => ({
    body: { ...answers['chat'], choices: [{ index: 0, message, finish_reason }] },
  });

  it('answers the model’s own refusal as its reply', async () => {
    const refused = choice({ role: 'assistant', content: null, refusal: 'I can’t help with that.' }, 'stop');
    expect(await chat(refused)).toMatchObject({ text: 'I can’t help with that.' });
  });

  const images = [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    { type: 'image_url', image_url: { url: 'https://files.example/a.png' } },
  ];
  const files = [
    { content: Buffer.from('iVBORw0KGgo=', 'base64'), contentType: 'image/png' },
    { url: 'https://files.example/a.png' },
  ];

  it('answers images beside the text, as gateways of many models send them', async () => {
    const drawn = choice({ role: 'assistant', content: '', images }, 'stop');
    expect(await chat(drawn)).toMatchObject({ text: '', files });
    const events = [{ content: 'here' }, { images: [images[0]] }, { images: [images[1]] }].map(
      (delta) => `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta }] })}\n\n`,
    );
    stage.proxy.respondNext('/chat/', {
      headers: { 'content-type': 'text/event-stream' },
      body: `${events.join('')}data: [DONE]\n\n`,
    });
    const pieces = await Array.fromAsync(must(stage.provider.chatStream, 'stream')(plain, stage.context));
    expect(pieces.at(-1)).toMatchObject({ outcome: { text: 'here', files } });
  });

  it('says that a reply was withheld', async () => {
    const withheld = choice({ role: 'assistant', content: null }, 'content_filter');
    expect(await catchFailure(chat(withheld))).toMatchObject({
      code: 'MODERATION_REFUSED',
      retryable: false,
    });
  });

  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const tools = [{ name: 'weather', description: 'of a city', parameters, strict: true }];
  const called = (id: string, city: string) => ({
    id,
    type: 'function',
    function: { name: 'weather', arguments: JSON.stringify({ city }) },
  });

  it('asks for tools, JSON and thought in documented words', async () => {
    const schema = { type: 'object' };
    await chat(
      { body: answers['chat'] },
      {
        tools,
        toolChoice: 'weather',
        responseFormat: { type: 'JSON_SCHEMA', name: 'answer', schema, strict: true },
        reasoningEffort: 'LOW',
      },
    );
    const shape = documented(fixture, 'chat');
    const choice = { ...shape, fields: { ...shape.fields, tool_choice: 'object' } };
    const sent = must(stage.proxy.sent[0] ?? null, 'request');
    expect(await expectDocumented(sent, choice, '')).toMatchObject({
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: 'of a city', parameters, strict: true },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      reasoning_effort: 'low',
    });
    await chat(
      { body: answers['chat'] },
      { tools, toolChoice: 'required', responseFormat: { type: 'JSON_OBJECT' } },
    );
    expect(JSON.parse(stage.proxy.sent[1]?.body.toString() ?? '')).toMatchObject({
      tool_choice: 'required',
      response_format: { type: 'json_object' },
    });
  });

  it('answers calls of tools with their arguments, those that are no JSON as they are', async () => {
    const broken = {
      id: 'call_2',
      type: 'function',
      function: { name: 'weather', arguments: '{"city": "Ro' },
    };
    const message = { role: 'assistant', content: null, tool_calls: [called('call_1', 'Oslo'), broken] };
    expect(await chat(choice(message, 'tool_calls'), { tools })).toMatchObject({
      text: '',
      toolCalls: [
        { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } },
        { id: 'call_2', name: 'weather', arguments: '{"city": "Ro' },
      ],
    });
  });

  it('answers calls whose arguments are an object, and one that is odd hides no other', async () => {
    const whole = { id: 7, function: { name: 'weather', arguments: { city: 'Oslo' } } };
    const message = { role: 'assistant', content: '', tool_calls: ['odd', whole] };
    expect(await chat(choice(message, 'tool_calls'), { tools })).toMatchObject({
      toolCalls: [{ id: '7', name: 'weather', arguments: { city: 'Oslo' } }],
    });
  });

  it('is answered whatever the type of what is told besides', async () => {
    const drawn = { role: 'assistant', content: 'here', images: ['odd', images[1]], tool_calls: '' };
    const told = { ...choice(drawn, 'stop').body, usage: { prompt_tokens: '5', completion_tokens: 7 } };
    expect(await chat({ body: told })).toMatchObject({
      text: 'here',
      files: [files[1]],
      usage: { inputTokens: 0, outputTokens: 7 },
    });
  });

  it('says that a streamed reply was withheld, unless something of it was said', async () => {
    const answered = async (...choices: readonly object[]) => {
      const events = choices.map(
        (one) => `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, ...one }] })}\n\n`,
      );
      stage.proxy.respondNext('/chat/', {
        headers: { 'content-type': 'text/event-stream' },
        body: `${events.join('')}data: [DONE]\n\n`,
      });
      return Array.fromAsync(must(stage.provider.chatStream, 'stream')(plain, stage.context));
    };
    const filtered = { delta: {}, finish_reason: 'content_filter' };
    expect(await catchFailure(answered(filtered))).toMatchObject({
      code: 'MODERATION_REFUSED',
      retryable: false,
    });
    expect(await answered({ delta: { content: 'half' } }, filtered)).toMatchObject([
      { delta: 'half' },
      { outcome: { text: 'half' } },
    ]);
  });

  it('puts together calls that are streamed in pieces', async () => {
    const piece = (index: number, more: object) => ({ delta: { tool_calls: [{ index, ...more }] } });
    const pieces = [
      piece(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }),
      piece(0, { function: { arguments: '{"city":' } }),
      piece(1, called('call_2', 'Rome')),
      piece(0, { function: { arguments: '"Oslo"}' } }),
      { delta: {}, finish_reason: 'tool_calls' },
    ];
    const events = pieces.map(
      (one) => `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, ...one }] })}\n\n`,
    );
    stage.proxy.respondNext('/chat/', {
      headers: { 'content-type': 'text/event-stream' },
      body: `${events.join('')}data: [DONE]\n\n`,
    });
    const heard: ChatPiece[] = [];
    const stream = must(stage.provider.chatStream, 'stream')({ ...plain, tools }, stage.context);
    for await (const one of stream) heard.push(one);
    const calls = ['Oslo', 'Rome'].map((city, index) => ({
      id: `call_${index + 1}`,
      name: 'weather',
      arguments: { city },
    }));
    expect(heard).toMatchObject([{ outcome: { text: '', toolCalls: calls, model: 'm' } }]);
  });

  it.each([
    ['reasoning_effort', 'reasoningEffort'],
    ['response_format.json_schema.schema', 'responseFormat'],
    ['tools[0].function.parameters', 'tools'],
    ['messages.1.content', 'messages'],
  ])('names what was wrong about %s', async (param, field) => {
    const error = { message: 'Unsupported value.', type: 'invalid_request_error', param, code: null };
    expect(await catchFailure(chat({ status: 400, body: { error } }))).toMatchObject({
      code: 'INVALID_INPUT',
      field,
      retryable: false,
    });
  });
});

describe('a chat on the wire', () => {
  const stream = (...events: readonly unknown[]) => {
    const lines = events.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`);
    const headers = { 'content-type': 'text/event-stream' };
    stage.proxy.respondNext('/chat/', { headers, body: lines.join('') });
    return Array.fromAsync(must(stage.provider.chatStream, 'stream')(plain, stage.context));
  };
  const piece = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const hello = { role: 'user', content: 'hello' };

  it('is its messages and what was asked for besides, and no more', async () => {
    await chat({ body: answers['chat'] });
    expect(sentJson()).toEqual({ model: 'gpt-4o-mini', messages: [hello] });
    stage.proxy.reset();
    const tools = [{ name: 'look', description: null, parameters: null, strict: null }];
    const vendorOptions = { logprobs: true };
    await chat(
      { body: answers['chat'] },
      {
        system: 'be brief',
        temperature: 0,
        maxTokens: 9,
        tools,
        toolChoice: 'none',
        vendorOptions,
      },
    );
    expect(sentJson()).toEqual({
      model: 'gpt-4o-mini',
      messages: [{ role: 'system', content: 'be brief' }, hello],
      temperature: 0,
      max_completion_tokens: 9,
      tools: [{ type: 'function', function: { name: 'look' } }],
      tool_choice: 'none',
      logprobs: true,
    });
  });

  it('is streamed with what it used, of which any event tells a part', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 2 } };
    expect(
      await stream(
        { model: 'm', ...piece({ content: 'a' }) },
        piece({ refusal: 'b' }),
        { choices: [], usage },
        { choices: null, usage: 'none' },
        {},
        '[DONE]',
      ),
    ).toEqual([
      { delta: 'a' },
      { delta: 'b' },
      { outcome: { text: 'ab', model: 'm', usage: { inputTokens: 5, outputTokens: 7, cachedTokens: 2 } } },
    ]);
    expect(sentJson()).toEqual({
      model: 'gpt-4o-mini',
      messages: [hello],
      stream: true,
      stream_options: { include_usage: true },
    });
    // A finish reason is an end as well; nothing is told of the rest.
    expect(await stream(piece({ content: 'a' }, 'stop'), {})).toEqual([
      { delta: 'a' },
      { outcome: { text: 'a', model: 'unknown', usage: { inputTokens: 0, outputTokens: 0 } } },
    ]);
  });

  it('has calls that are not numbered, each as a whole, and with names of ours where they have none', async () => {
    const call = (name: string) => ({ function: { name, arguments: '{}' } });
    const told = await stream(
      piece({ tool_calls: [call('one'), { index: 5, ...call('two') }] }, 'tool_calls'),
    );
    expect(told).toMatchObject([
      {
        outcome: {
          toolCalls: [
            { id: 'call_0', name: 'one', arguments: {} },
            { id: 'call_1', name: 'two', arguments: {} },
          ],
        },
      },
    ]);
    expect(await stream(piece({ tool_calls: [{ index: 256, ...call('last') }] }, 'tool_calls'))).toHaveLength(
      1,
    );
  });

  const broken = { code: 'UNAVAILABLE', startUnknown: true };
  it.each([
    [[piece({ content: 'a' })], { ...broken, message: 'openai: the reply broke off' }],
    [['{'], broken],
    [[piece({ tool_calls: [{ index: 257, function: { name: 'x' } }] })], broken],
    [[piece({ tool_calls: [{ index: 0 }] }, 'tool_calls')], broken],
    [[{ error: { message: 'no', code: 'content_filter' } }], { code: 'MODERATION_REFUSED' }],
    [[{ error: { message: 'no' } }], { code: 'UNAVAILABLE', message: 'openai: no' }],
  ])('that is streamed as %j is %j', async (events, error) => {
    expect(await catchFailure(stream(...events))).toMatchObject(error);
  });

  it.each([
    [
      404,
      { error: { message: 'no', code: 'model_not_found' } },
      { code: 'MODEL_GONE', message: 'openai: no' },
    ],
    [400, { error: { message: 'no', param: 'model' } }, { code: 'MODEL_GONE' }],
    [400, { error: 'The model has been retired.' }, { code: 'MODEL_GONE' }],
    [429, { error: { message: 'The model has been retired.' } }, { code: 'RATE_LIMITED' }],
    [400, { error: { message: 'x', type: 'no_db_connection' } }, { refusedCredentials: true }],
    [400, { message: 'No connected db.' }, { refusedCredentials: true }],
    [410, {}, { code: 'UNAVAILABLE', message: 'openai: HTTP 410' }],
    [400, {}, { code: 'INVALID_INPUT', message: 'openai: HTTP 400', field: undefined }],
    [422, { error: { message: 'no', param: 'n' } }, { code: 'INVALID_INPUT', field: undefined }],
    [400, { error: { message: 'no', param: 'max_completion_tokens' } }, { field: 'maxTokens' }],
    [429, { error: { message: 'no', type: 'insufficient_quota' } }, { code: 'OUT_OF_CREDIT' }],
    [
      503,
      { error: { message: 'no', code: 'server_is_overloaded' } },
      { startUnknown: false, retryable: true },
    ],
  ])('that is refused by HTTP %i with %j is %j', async (status, body, error) => {
    expect(await catchFailure(chat({ status, body }))).toMatchObject(error);
  });
});

describe('speech', () => {
  const speak = (answer: ScriptedResponse, change: object = {}, model: string | null = null) => {
    stage.proxy.respondNext('/audio/speech', answer);
    const request = { kind: 'SPEECH', text: 'hello', voiceId: 'nova', ...change } as const;
    const connection = { ...stage.context.connection, model };
    return must(stage.provider.calls?.SPEECH, 'speech').call(request, { ...stage.context, connection });
  };
  const sound = { headers: { 'content-type': 'audio/mpeg; x=1' }, body: 'sound' };

  it('is asked for in the words of the wire, and is what the answer says that it is', async () => {
    const { files } = await speak(sound);
    expect(files).toMatchObject([{ contentType: 'audio/mpeg' }]);
    expect(sentJson()).toMatchObject({ input: 'hello', voice: 'nova', response_format: 'mp3' });
    expect(sentJson()).not.toHaveProperty('instructions');
    const wav = await speak(
      { headers: { 'content-type': 'application/octet-stream' }, body: 'x' },
      { format: 'wav' },
    );
    expect(wav.files).toMatchObject([{ contentType: 'audio/wav' }]);
    const sent = () => JSON.parse(String(stage.proxy.sent.at(-1)?.body)) as Record<string, unknown>;
    await speak(sound, { emotion: 'happy' });
    expect(sent()['instructions']).toContain('happy');
    await speak(sound, { emotion: 'happy', pitch: 0, volume: 1 }, 'tts-1-hd');
    expect(sent()).not.toHaveProperty('instructions');
  });

  it.each([
    [{ text: 'x'.repeat(4_097) }, 'text'],
    [{ pitch: 1 }, 'pitch'],
    [{ volume: 2 }, 'volume'],
    [{ format: 'toString' }, 'format'],
  ])('is refused by name before anything is sent: %#', async (change, field) => {
    expect(await catchFailure(speak(sound, change))).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(stage.proxy.sent).toEqual([]);
    await speak(sound, { text: 'x'.repeat(4_096) });
  });

  it.each([
    [
      { headers: { 'content-type': 'audio/mpeg' }, body: '' },
      { code: 'UNAVAILABLE', startUnknown: true },
    ],
    [
      { headers: { 'content-type': 'text/html' }, body: 'x' },
      { code: 'UNAVAILABLE', startUnknown: true },
    ],
    [{ headers: { 'content-type': 'application/json' }, body: '{}' }, { code: 'UNAVAILABLE' }],
    [{ status: 400, body: { error: { message: 'no', param: 'voice' } } }, { field: 'voiceId' }],
  ])('that is answered by %j is none', async (answer, error) => {
    expect(await catchFailure(speak(answer))).toMatchObject(error);
  });
});

describe('moderation of images', () => {
  it('is not taken where images are edited, before anything is sent', () => {
    const { provider, context } = stage;
    const work = {
      kind: 'IMAGE',
      generator: 'union',
      prompt: 'a fox',
      options: { moderation: 'low' },
    } as const;
    const problems = (more: object) => provider.inputProblems?.({ ...work, ...more }, context.connection);
    expect(problems({})).toEqual([]);
    expect(problems({ images: [{ fileId: 'a' }] })).toMatchObject([{ field: 'options.moderation' }]);
  });
});

describe('videos', () => {
  const status = (body: object) => {
    stage.proxy.respondNext('/videos/', { body: { id: 'video_1', ...body } });
    return must(stage.provider.jobs?.VIDEO, 'job for videos').status({ id: 'video_1' }, stage.context);
  };
  it.each([
    [{ status: 'queued' }, { state: 'queued' }],
    [
      { status: 'in_progress', progress: 140 },
      { state: 'running', progress: 100 },
    ],
    [{ status: 'in_progress' }, { state: 'running', progress: null }],
    [{ status: 'succeeded' }, { state: 'finished' }],
    [
      { status: 'failed', error: { code: 'server_error', message: 'broken' } },
      { state: 'failed', error: { code: 'UNAVAILABLE', message: 'openai: broken' } },
    ],
    [
      { status: 'in_progress', progress: '40', error: [] },
      { state: 'running', progress: null },
    ],
    [{ status: null }, { state: 'running' }],
    [{ status: 'canceled' }, { state: 'failed', error: { code: 'LOST', retryable: false } }],
    [{ status: 'cancelled' }, { state: 'failed', error: { code: 'LOST', retryable: false } }],
    [{ status: 'expired' }, { state: 'failed', error: { code: 'LOST', retryable: true } }],
    [
      { status: 'failed', error: { code: 400, message: 'broken' } },
      { state: 'failed', error: { message: 'openai: broken' } },
    ],
    [
      { status: 'failed', error: 'broken' },
      { state: 'failed', error: { message: 'openai: broken' } },
    ],
    [
      { status: 'failed', error: null },
      { state: 'failed', error: { code: 'UNAVAILABLE', message: 'openai: the video failed' } },
    ],
    [
      { status: 'failed', error: { code: 'moderation_blocked' } },
      { state: 'failed', error: { code: 'MODERATION_REFUSED', field: 'prompt' } },
    ],
  ])('of %j are %j', async (body, expected) => {
    expect(await status(body)).toMatchObject(expected);
  });

  const start = async (change: object) => {
    stage.proxy.respondNext('/videos', { body: { id: 'video_1', status: 'queued' } });
    const job = must(stage.provider.jobs?.VIDEO, 'job for videos');
    const handle = await job.start({ kind: 'VIDEO', prompt: 'a lighthouse', ...change }, stage.context);
    const { body, headers } = must(stage.proxy.sent.at(-1), 'start');
    const form = await new Response(new Uint8Array(body), { headers }).formData();
    return [handle, Object.fromEntries(form.entries())];
  };

  it.each([
    [{}, { size: '1280x720' }],
    [{ aspectRatio: '9:16' }, { size: '720x1280' }],
    [{ aspectRatio: '1:1', resolution: '720p' }, { size: '1280x720' }],
    [
      { resolution: '1792x1024', duration: 8 },
      { size: '1792x1024', seconds: '8' },
    ],
    [{ negativePrompt: 'people' }, { size: '1280x720', prompt: 'a lighthouse\r\n\r\nAvoid: people' }],
  ])('of %j are asked for by %j', async (change, fields) => {
    const [handle, sent] = await start(change);
    expect(handle).toEqual({ id: 'video_1' });
    expect(sent).toEqual({ model: 'sora-2', prompt: 'a lighthouse', ...fields });
  });

  it('are made from words and a first frame alone, and are lost without their name', async () => {
    const [, sent] = await start({ firstFrame: createImage({ name: 'a.png' }) });
    const { input_reference: file } = sent as { readonly input_reference: File };
    expect([file.name, file.type]).toEqual(['a.png', 'image/png']);
    stage.proxy.reset();
    for (const [change, field] of [
      [{ prompt: undefined }, 'prompt'],
      [{ lastFrame: createImage() }, 'lastFrame'],
    ] as const)
      expect(await catchFailure(start(change))).toMatchObject({ code: 'INVALID_INPUT', field });
    const job = must(stage.provider.jobs?.VIDEO, 'job for videos');
    expect(await catchFailure(job.status({}, stage.context))).toMatchObject({ code: 'LOST' });
    expect(stage.proxy.sent).toEqual([]);
  });
});
