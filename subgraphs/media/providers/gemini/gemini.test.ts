import { Readable } from 'node:stream';

import { describe, expect, it, onTestFinished } from 'vitest';

import { videoRequest } from '../../../../test/providers/contract/row.ts';
import { documented, expectDocumented, readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  catchFailure,
  must,
  openEnvironment,
  createImage,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import type { ScriptedResponse } from '../../../../test/providers/environment/recording-proxy.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import type { CallContext, ChatRequest, StartContext } from '../contract/provider.ts';

/** What the contract leaves out: files in Google's own storage, pauses it asks for, who gets the key, parts of a chat. */

const fixture = readFixture(new URL('wire.fixture.json', import.meta.url));
const { answers } = fixture;
const BASE = '/v1beta';
const KEY = { 'x-goog-api-key': SECRET };
const URI = 'https://generativelanguage.googleapis.com/v1beta/files/abc-1';
const FILE = { name: 'files/abc-1', uri: URI, mimeType: 'video/mp4', expirationTime: '2030-01-02T03:04:05Z' };

const stage = useScriptedProvider('gemini');

const createContext = (headers: Readonly<Record<string, string>> = KEY): StartContext => {
  const { connection } = stage.context;
  return { ...stage.context, connection: { ...connection, baseUrl: stage.proxy.origin + BASE, headers } };
};
const clip = (bytes = 5) =>
  createImage({
    name: 'clip.mp4',
    contentType: 'video/mp4',
    bytes,
    open: async () => Readable.from([Buffer.alloc(bytes, 'x')]),
  });
const place = (path = '/resumable/1'): ScriptedResponse => ({
  headers: { 'x-goog-upload-url': `${stage.proxy.origin}${path}` },
});
const state = (word: string, change: object = {}) => ({ body: { ...FILE, state: word, ...change } });
const uploaded = (word: string) => ({ body: { file: { ...FILE, state: word } } });
const upload = (context: CallContext = createContext()) =>
  must(stage.provider.upload, 'upload')({ file: clip(), purpose: 'analysis' }, context);
const analyse = (change: Partial<Extract<WorkRequest, { kind: 'ANALYSIS' }>> = {}) =>
  must(stage.provider.calls?.ANALYSIS, 'analysis').call(
    { kind: 'ANALYSIS', media: clip(), prompt: 'what is this?', system: undefined, ...change },
    createContext(),
  );
const sentPaths = () => stage.proxy.sent.map(({ method, path }) => `${method} ${path}`);
const sentBody = (index: number) => JSON.parse(String(stage.proxy.sent[index]?.body)) as object;

describe('a file for the Files API', () => {
  it('is announced, sent in one piece, and waited for until it is ACTIVE', async () => {
    stage.proxy.respondNext('/upload/v1beta/files', place());
    stage.proxy.respondNext('/resumable/1', uploaded('PROCESSING'));
    stage.proxy.respondNext('/v1beta/files/abc-1', state('PROCESSING'));
    stage.proxy.respondNext('/v1beta/files/abc-1', state('ACTIVE'));
    expect(await upload()).toEqual({
      id: 'files/abc-1',
      uri: URI,
      expiresAt: new Date('2030-01-02T03:04:05Z'),
      answer: { ...FILE, state: 'ACTIVE' },
    });
    const asked = 'GET /v1beta/files/abc-1';
    expect(sentPaths()).toEqual(['POST /upload/v1beta/files', 'POST /resumable/1', asked, asked]);
    expect(stage.proxy.sent[0]?.headers).toMatchObject({
      ...KEY,
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': '5',
      'x-goog-upload-header-content-type': 'video/mp4',
    });
    expect(sentBody(0)).toEqual({ file: { display_name: 'clip.mp4' } });
    expect(stage.proxy.sent[1]).toMatchObject({
      headers: {
        'content-length': '5',
        'x-goog-upload-offset': '0',
        'x-goog-upload-command': 'upload, finalize',
      },
      body: Buffer.from('xxxxx'),
    });
  });

  it('goes to the address it was given without our key', async () => {
    stage.proxy.respondNext('/upload/v1beta/files', place());
    stage.proxy.respondNext('/resumable/1', uploaded('ACTIVE'));
    await upload();
    expect(stage.proxy.sent[1]?.headers).not.toHaveProperty('x-goog-api-key');
  });

  it.each([
    ['no address', {}],
    ['an address that is none', { headers: { 'x-goog-upload-url': 'somewhere' } }],
  ])('that is given %s is not sent', async (_what, answer) => {
    stage.proxy.respondNext('/upload/v1beta/files', answer);
    expect(await catchFailure(upload())).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    expect(sentPaths()).toEqual(['POST /upload/v1beta/files']);
  });

  it('that is to go to a private address is not sent', async () => {
    const headers = { 'x-goog-upload-url': 'http://127.0.0.2:9/steal' };
    stage.proxy.respondNext('/upload/v1beta/files', { headers });
    expect(await catchFailure(upload())).toMatchObject({ startUnknown: false });
  });

  it('that Google can’t process names the field and the reason', async () => {
    stage.proxy.respondNext('/upload/v1beta/files', place());
    stage.proxy.respondNext('/resumable/1', uploaded('PROCESSING'));
    stage.proxy.respondNext('/v1beta/files/abc-1', state('FAILED', { error: { message: 'no video in it' } }));
    const error = await catchFailure(upload());
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'media', retryable: false });
    expect(error.message).toContain('no video in it');
  });

  it('is waited for no longer than anybody waits', async () => {
    stage.proxy.respondNext('/upload/v1beta/files', place());
    stage.proxy.respondNext('/resumable/1', uploaded('PROCESSING'));
    const waiting = new AbortController();
    const failure = catchFailure(upload({ ...createContext(), signal: waiting.signal }));
    // Only when both answers were asked for: the next test would get them.
    await expect.poll(() => stage.proxy.sent.length).toBeGreaterThan(1);
    waiting.abort(new DOMException('the time is over', 'TimeoutError'));
    // The second answer may still be on its way, or a pause before the next question has begun.
    const code = expect.stringMatching(/^(?:TIMED_OUT|UNAVAILABLE)$/);
    expect(await failure).toMatchObject({ code, retryable: true });
  });
});

describe('an analysis', () => {
  it('of a file beyond 14 MiB uploads it first and names it', async () => {
    stage.proxy.respondNext('/upload/v1beta/files', place());
    stage.proxy.respondNext('/resumable/1', uploaded('ACTIVE'));
    stage.proxy.respondNext(':generateContent', { body: answers['text'] });
    await analyse({ media: clip((14 << 20) + 1) });
    expect(stage.proxy.sent[1]?.body.length).toBe((14 << 20) + 1);
    expect(sentBody(2)).toMatchObject({
      contents: [
        { parts: [{ fileData: { mimeType: 'video/mp4', fileUri: URI } }, { text: 'what is this?' }] },
      ],
    });
  });

  it('whose upload fails has begun nothing', async () => {
    stage.proxy.respondNext('/upload/v1beta/files', place());
    stage.proxy.respondNext('/resumable/1', { status: 502 });
    const error = await catchFailure(analyse({ media: clip((14 << 20) + 1) }));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true, startUnknown: false });
  });

  it('of a file that Google has already sends no byte of it', async () => {
    stage.proxy.respondNext(':generateContent', { body: answers['text'] });
    await analyse({ media: { ...clip(), uploaded: { id: 'files/abc-1', uri: URI } } });
    expect(sentPaths()).toEqual(['POST /v1beta/models/gemini-3.5-flash-lite:generateContent']);
    expect(sentBody(0)).toMatchObject({ contents: [{ parts: [{ fileData: { fileUri: URI } }, {}] }] });
  });

  it('of a file that is gone from there sends it again', async () => {
    const message = 'You do not have permission to access the File abc-1 or it may not exist.';
    const body = { error: { code: 403, message, status: 'PERMISSION_DENIED' } };
    stage.proxy.respondNext(':generateContent', { status: 403, body });
    stage.proxy.respondNext(':generateContent', { body: answers['text'] });
    await analyse({ media: { ...clip(), uploaded: { id: 'files/abc-1', uri: URI } } });
    expect(sentBody(1)).toMatchObject({
      contents: [{ parts: [{ inlineData: { mimeType: 'video/mp4' } }, {}] }],
    });
  });

  it('can be made of what the stand-in was handed, and only with the key', async () => {
    const world = await openEnvironment();
    onTestFinished(() => world.close());
    const provider = must(world.providers['gemini'], 'provider');
    const connection = world.connection('/gemini/v1beta', KEY);
    const context = { connection, signal: AbortSignal.timeout(100_000), reference: 'task/1/1' };
    const kept = await must(provider.upload, 'upload')({ file: createImage(), purpose: 'analysis' }, context);
    expect(world.proxy.sent.filter(({ method }) => method === 'GET').length).toBeGreaterThan(0);
    const call = must(provider.calls?.ANALYSIS, 'analysis');
    const media = { ...createImage(), uploaded: { id: kept.id, uri: kept.uri } };
    const { texts } = await call.call(
      { kind: 'ANALYSIS', media, prompt: 'what is it?', system: undefined },
      context,
    );
    expect(texts[0]).toContain('image/png');
    const stranger = { ...context, connection: { ...connection, headers: {} } };
    const error = await catchFailure(
      must(provider.upload, 'upload')({ file: createImage(), purpose: 'analysis' }, stranger),
    );
    expect(error).toMatchObject({ code: 'UNAVAILABLE', message: 'the provider refused our credentials' });
  });
});

describe('a pause that Google asks for', () => {
  const RETRY = 'type.googleapis.com/google.rpc.RetryInfo';
  const limited = (details: readonly object[], headers: Readonly<Record<string, string>> = {}) => {
    const body = { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED', details } };
    stage.proxy.respondNext(':generateContent', { status: 429, headers, body });
    return catchFailure(analyse());
  };

  it.each([
    ['34.4s', 35],
    ['7s', 7],
    ['0.2s', 1],
    ['86400s', 3_600],
  ])('is kept, rounded up and bounded: %s', async (retryDelay, retryAfter) => {
    const error = await limited([{ '@type': RETRY, retryDelay }]);
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryable: true, retryAfter });
  });

  it('is Retry-After where the body names none', async () => {
    const error = await limited([{ '@type': RETRY, retryDelay: 'soon' }], { 'retry-after': '9' });
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 9 });
  });

  it('does not help against the quota of the day', async () => {
    const quota = { '@type': 'QuotaFailure', violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] };
    expect(await limited([quota, { '@type': RETRY, retryDelay: '3s' }])).toMatchObject({
      code: 'OUT_OF_CREDIT',
    });
  });
});

describe('a finished video', () => {
  const finished = (uri: string) => {
    const generateVideoResponse = { generatedSamples: [{ video: { uri } }] };
    stage.proxy.respondNext('/operations/1', {
      body: { name: 'operations/1', done: true, response: { generateVideoResponse } },
    });
    return must(stage.provider.jobs?.VIDEO, 'job').status(
      { operation: 'models/veo/operations/1' },
      createContext(),
    );
  };

  it('at our own upstream is fetched with the key', async () => {
    const url = `${stage.proxy.origin}/v1beta/files/1:download?alt=media`;
    expect(await finished(url)).toMatchObject({ outcome: { files: [{ url, headers: KEY }] } });
  });

  it.each(['https://storage.googleapis.com/a.mp4', 'https://evil.example.org/a.mp4'])(
    'at %s is fetched without it',
    async (url) => {
      expect(await finished(url)).toEqual({ state: 'finished', outcome: { files: [{ url }], texts: [] } });
    },
  );

  it.each([
    ['a real person', { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['a real person'] }],
    ['no reason given', { raiMediaFilteredCount: 1 }],
    ['a face', { raiMediaFilteredReasons: ['a face'] }],
  ])('that was withheld says why: %s', async (why, generateVideoResponse) => {
    stage.proxy.respondNext('/operations/1', { body: { done: true, response: { generateVideoResponse } } });
    const status = await must(stage.provider.jobs?.VIDEO, 'job').status(
      { operation: 'models/veo/operations/1' },
      createContext(),
    );
    expect(status).toMatchObject({
      state: 'failed',
      error: { code: 'MODERATION_REFUSED', message: expect.stringContaining(why) },
    });
  });

  it('of a handle that names something else is never asked for', async () => {
    const job = must(stage.provider.jobs?.VIDEO, 'job');
    expect(
      await catchFailure(
        job.start(videoRequest({ prompt: undefined, firstFrame: createImage() }), createContext()),
      ),
    ).toMatchObject({ code: 'INVALID_INPUT', field: 'prompt' });
    expect(await catchFailure(job.status({ operation: '../../files' }, createContext()))).toMatchObject({
      code: 'LOST',
    });
    expect(stage.proxy.sent).toEqual([]);
  });
});

describe('a chat', () => {
  const say = (
    messages: readonly object[],
    change: Partial<ChatRequest> = {},
    model: string | null = null,
  ) => {
    stage.proxy.respondNext(':generateContent', { body: answers['text'] });
    const request = { messages: messages as never, system: null, temperature: null, maxTokens: null };
    const { connection, ...context } = createContext();
    const asked = { ...context, connection: { ...connection, model } };
    return must(stage.provider.chat, 'chat')({ ...request, ...change }, asked);
  };

  it('takes words, images, sounds, files of Google’s own, and the words of both sides', async () => {
    const data = 'iVBORw0KGgo=';
    await say([
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
          { type: 'input_audio', input_audio: { data, format: 'mp3' } },
          { type: 'file', file: { file_data: `data:application/pdf;base64,${data}` } },
          { type: 'video_url', video_url: { url: URI } },
        ],
      },
      { role: 'assistant', content: 'I see' },
      { role: 'user', content: 'go on' },
    ]);
    expect(sentBody(0)).toEqual({
      systemInstruction: { parts: [{ text: 'be brief' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'look' },
            { inlineData: { mimeType: 'image/png', data } },
            { inlineData: { mimeType: 'audio/mpeg', data } },
            { inlineData: { mimeType: 'application/pdf', data } },
            { fileData: { fileUri: URI } },
          ],
        },
        { role: 'model', parts: [{ text: 'I see' }] },
        { role: 'user', parts: [{ text: 'go on' }] },
      ],
    });
  });

  it('sends no instruction of the system when there is none', async () => {
    await say([{ role: 'user', content: 'hello' }]);
    expect(sentBody(0)).toEqual({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] });
  });

  it.each([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    ['look', { mode: 'ANY', allowedFunctionNames: ['look'] }],
    ['constructor', { mode: 'ANY', allowedFunctionNames: ['constructor'] }],
  ])('asked to use its functions as %s says so', async (toolChoice, functionCallingConfig) => {
    const tools = [{ name: 'look', description: null, parameters: null, strict: false }];
    await say([{ role: 'user', content: 'hello' }], { tools, toolChoice });
    expect(sentBody(0)).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
      toolConfig: { functionCallingConfig },
    });
  });

  it.each([
    ['a foreign address', { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }],
    ['a part it does not know', { type: 'telepathy' }],
  ])('with %s is refused before anything is sent', async (_what, part) => {
    const error = await catchFailure(say([{ role: 'user', content: [part] }]));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'messages' });
    expect(stage.proxy.sent).toEqual([]);
  });

  const hello = [{ role: 'user', content: 'hello' }];
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const tools = [{ name: 'weather', description: 'of a city', parameters, strict: null }];

  it('asks for tools, JSON and thought in documented words', async () => {
    await say(hello, { tools, toolChoice: 'weather', reasoningEffort: 'MEDIUM' });
    const sent = must(stage.proxy.sent[0] ?? null, 'request');
    expect(await expectDocumented(sent, documented(fixture, 'generate'), BASE)).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            { name: 'weather', description: 'of a city', parametersJsonSchema: parameters },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
      generationConfig: { thinkingConfig: { thinkingLevel: 'MEDIUM' } },
    });
    const schema = { type: 'object' };
    await say(hello, { responseFormat: { type: 'JSON_SCHEMA', name: 'answer', schema, strict: null } });
    expect(sentBody(1)).toMatchObject({
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    });
    await say(hello, { reasoningEffort: 'LOW' }, 'gemini-3-pro-preview');
    expect(sentBody(2)).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } });
  });

  it.each([
    [{ reasoningEffort: 'NONE' }, 'gemini-2.5-pro', 'reasoningEffort'],
    [{ reasoningEffort: 'XHIGH' }, 'gemini-2.5-flash', 'reasoningEffort'],
    [{ tools, responseFormat: { type: 'JSON_OBJECT' } }, 'gemini-2.5-flash', 'responseFormat'],
  ] as const)('with %j is refused by name at %s, before anything is sent', async (change, model, field) => {
    expect(await catchFailure(say(hello, change, model))).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(stage.proxy.sent).toEqual([]);
  });

  it('sends calls and their results back: by name, as objects, those of one turn together', async () => {
    const call = (id: string, name: string) => ({
      id,
      type: 'function',
      function: { name, arguments: '{"city":"Oslo"}' },
    });
    const talk = [
      ...hello,
      { role: 'assistant', content: '', tool_calls: [call('a', 'weather'), call('b', 'time')] },
      { role: 'tool', tool_call_id: 'a', content: '{"sky":"grey"}' },
      { role: 'tool', tool_call_id: 'b', content: 'noon' },
    ];
    await say(talk, { reasoningEffort: 'MEDIUM' }, 'gemini-2.5-flash');
    expect(sentBody(0)).toMatchObject({ generationConfig: { thinkingConfig: { thinkingBudget: 8_192 } } });
    const args = { city: 'Oslo' };
    const results = {
      role: 'user',
      parts: [
        { functionResponse: { name: 'weather', response: { sky: 'grey' } } },
        { functionResponse: { name: 'time', response: { output: 'noon' } } },
      ],
    };
    expect((sentBody(0) as { contents: unknown }).contents).toEqual([
      { role: 'user', parts: [{ text: 'hello' }] },
      {
        role: 'model',
        parts: [{ functionCall: { name: 'weather', args } }, { functionCall: { name: 'time', args } }],
      },
      results,
    ]);
    await say(talk, {}, 'gemini-3-pro-preview');
    expect((sentBody(1) as { contents: unknown }).contents).toMatchObject([
      {},
      {
        parts: [{ thoughtSignature: 'skip_thought_signature_validator' }, { functionCall: { name: 'time' } }],
      },
      results,
    ]);
  });

  it('with a model that makes images asks for them, and sends those of before with a signature', async () => {
    const data = 'iVBORw0KGgo=';
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } };
    const turns = [
      { role: 'user', content: 'a fox' },
      { role: 'assistant', content: [{ type: 'text', text: 'here' }, image] },
      { role: 'user', content: [{ type: 'text', text: 'redder' }, image] },
    ];
    await say(turns, { maxTokens: 9 }, 'gemini-3.1-flash-image');
    const inlineData = { mimeType: 'image/png', data };
    expect(sentBody(0)).toEqual({
      contents: [
        { role: 'user', parts: [{ text: 'a fox' }] },
        {
          role: 'model',
          parts: [{ text: 'here' }, { inlineData, thoughtSignature: 'skip_thought_signature_validator' }],
        },
        { role: 'user', parts: [{ text: 'redder' }, { inlineData }] },
      ],
      generationConfig: { maxOutputTokens: 9, responseModalities: ['TEXT', 'IMAGE'] },
    });
    await say(turns, {}, 'gemini-nano-banana-2.1');
    expect(sentBody(1)).toMatchObject({ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } });
    await say(turns, {}, 'gemini-2.5-flash');
    expect(sentBody(2)).not.toHaveProperty('generationConfig');
    expect(sentBody(2)).toMatchObject({ contents: [{}, { parts: [{}, { inlineData }] }, {}] });
    expect(JSON.stringify(sentBody(2))).not.toContain('thoughtSignature');
  });

  it.each(['chat', 'chatStream'] as const)('answers calls of functions (%s)', async (way) => {
    const part = { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'abc' };
    const body = { candidates: [{ content: { parts: [part], role: 'model' }, finishReason: 'STOP' }] };
    const isStreamed = way === 'chatStream';
    stage.proxy.respondNext(isStreamed ? ':stream' : ':generate', {
      body: isStreamed ? `data: ${JSON.stringify(body)}\n\n` : body,
      ...(isStreamed && { headers: { 'content-type': 'text/event-stream' } }),
    });
    const request = { messages: hello, system: null, temperature: null, maxTokens: null, tools };
    const { provider } = stage;
    let outcome: unknown;
    if (isStreamed) {
      for await (const piece of provider.chatStream?.(request, createContext()) ?? []) {
        outcome = 'outcome' in piece ? piece.outcome : outcome;
      }
    } else outcome = await provider.chat?.(request, createContext());
    const id = expect.stringMatching(/^call_[0-9a-f-]{36}$/) as string;
    expect(outcome).toMatchObject({
      text: '',
      toolCalls: [{ id, name: 'weather', arguments: { city: 'Oslo' } }],
    });
  });

  it('that ends in a call that can not be read is tried again', async () => {
    const body = { candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL' }] };
    stage.proxy.respondNext(':generateContent', { body });
    const request = { messages: hello, system: null, temperature: null, maxTokens: null };
    const failed = catchFailure(must(stage.provider.chat, 'chat')(request, createContext()));
    expect(await failed).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });
});

describe('speech', () => {
  const speak = async (mimeType: string, data: Buffer) => {
    const part = { inlineData: { mimeType, data: data.toString('base64') } };
    stage.proxy.respondNext(':generateContent', { body: { candidates: [{ content: { parts: [part] } }] } });
    const request = { kind: 'SPEECH', text: 'hello', voiceId: 'Kore' } as const;
    const { files } = await must(stage.provider.calls?.SPEECH, 'speech').call(request, createContext());
    const [file] = files;
    if (file === undefined || !('content' in file)) throw new Error('no sound');
    return Buffer.from(file.content);
  };

  it('of bare samples gets the header of their rate, a whole file is left as it is', async () => {
    const samples = Buffer.alloc(8, 1);
    const rates = async (type: string) => {
      const file = await speak(type, samples);
      return [file.readUInt32LE(24), file.readUInt32LE(28), file.length];
    };
    expect(await rates('audio/L16;codec=pcm;rate=16000')).toEqual([16_000, 32_000, 52]);
    expect(await rates('audio/pcm')).toEqual([24_000, 48_000, 52]);
    // PCM, one channel, two bytes of sixteen bits each.
    const header = await speak('audio/pcm', samples);
    expect([20, 22, 32, 34].map((at) => header.readUInt16LE(at))).toEqual([1, 1, 2, 16]);
    const whole = Buffer.concat([Buffer.from('RIFF'), samples]);
    expect(await speak('audio/wav', whole)).toEqual(whole);
  });
});

describe('what Google refuses', () => {
  const credentials = { code: 'UNAVAILABLE', refusedCredentials: true, retryable: false };

  it.each([
    [400, { message: 'wrong', details: [{ reason: 'API_KEY_INVALID' }] }, credentials],
    [400, { message: 'API key not valid. Please pass a valid one.' }, credentials],
    [400, { message: 'It violates our policies.' }, { code: 'MODERATION_REFUSED', field: 'prompt' }],
    [
      400,
      { message: 'The File abc is not in an ACTIVE state.', details: [{ retryDelay: '3s' }] },
      { code: 'UNAVAILABLE', retryAfter: 3, startUnknown: false },
    ],
    [400, { message: 'not in your region', status: 'FAILED_PRECONDITION' }, { code: 'OUT_OF_CREDIT' }],
    [400, { message: 'no such field' }, { code: 'INVALID_INPUT', message: 'gemini: no such field' }],
    [400, { message: 'The model x has been retired.' }, { code: 'MODEL_GONE' }],
    [404, { message: 'models/x is not found for v1beta' }, { code: 'MODEL_GONE' }],
    [404, null, { code: 'UNAVAILABLE', message: 'gemini: HTTP 404' }],
    [
      503,
      { message: 'overloaded', status: 'UNAVAILABLE', details: [{ retryDelay: '2s' }] },
      { code: 'UNAVAILABLE', retryAfter: 2, startUnknown: false },
    ],
    [503, { message: 'a proxy' }, { code: 'UNAVAILABLE', startUnknown: true }],
  ])('by HTTP %i with %j is %j', async (status, error, expected) => {
    stage.proxy.respondNext(':generateContent', { status, body: error === null ? '' : { error } });
    expect(await catchFailure(analyse())).toMatchObject(expected);
  });
});

describe('an answer of a model', () => {
  const ask = (body: object, headers: Readonly<Record<string, string>> = {}) => {
    stage.proxy.respondNext('Content', { headers, body });
    const messages = [{ role: 'user', content: 'hello' }];
    return { messages, system: null, temperature: null, maxTokens: null };
  };
  const chat = (body: object) => must(stage.provider.chat, 'chat')(ask(body), createContext());
  const candidate = (finishReason: string | null, ...parts: object[]) => ({
    candidates: [{ content: { parts }, finishReason }],
  });

  it('is its words without its thoughts, and the tokens of both', async () => {
    const usageMetadata = {
      promptTokenCount: 7,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 4,
    };
    const parts = [{ text: 'hm', thought: true }, { text: 'a' }, {}, { text: 'b', thought: false }];
    expect(await chat({ ...candidate('STOP', ...parts), usageMetadata, modelVersion: 'gemini-x' })).toEqual({
      text: 'ab',
      model: 'gemini-x',
      usage: { inputTokens: 7, outputTokens: 7, cachedTokens: 2 },
    });
    const call = { functionCall: { id: 'c1', name: 'look' } };
    expect(await chat({ ...candidate('STOP', call), usageMetadata: {} })).toEqual({
      text: '',
      toolCalls: [{ id: 'c1', name: 'look', arguments: {} }],
      model: 'gemini-3.5-flash-lite',
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  it('has all of its parts but one that is none, and counts images though one count is odd', async () => {
    const candidatesTokensDetails = ['odd', { modality: 'IMAGE', tokenCount: 9 }];
    const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 9, candidatesTokensDetails };
    const body = { candidates: [{ content: { parts: [{ text: 'a' }, null] }, finishReason: 'STOP' }] };
    expect(await chat({ ...body, usageMetadata })).toMatchObject({
      text: 'a',
      usage: { inputTokens: 7, outputTokens: 9, imageTokens: 9 },
    });
  });

  const drawn = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });
  const file = (data: string) => ({ content: Buffer.from(data, 'base64'), contentType: 'image/png' });
  const counted = {
    promptTokenCount: 7,
    candidatesTokenCount: 1_295,
    candidatesTokensDetails: [
      { modality: 'TEXT', tokenCount: 5 },
      { modality: 'IMAGE', tokenCount: 1_290 },
    ],
  };
  const drawing = { inputTokens: 7, outputTokens: 1_295, imageTokens: 1_290 };

  it('has its images in order, without those of its thoughts, whole and streamed', async () => {
    const parts = [{ ...drawn('aaaa'), thought: true }, { text: 'see' }, drawn('bbbb'), drawn('cccc')];
    const whole = { text: 'see', files: [file('bbbb'), file('cccc')], usage: drawing };
    expect(await chat({ ...candidate('STOP', ...parts), usageMetadata: counted })).toMatchObject(whole);
    const pieces = parts.map((part) => candidate(null, part));
    const last = { ...candidate('STOP'), usageMetadata: counted };
    expect(await stream(...pieces, last)).toMatchObject([{ delta: 'see' }, { outcome: whole }]);
  });

  it('that is an image without a word is no empty one', async () => {
    expect(await chat(candidate('STOP', drawn('bbbb')))).toMatchObject({ text: '', files: [file('bbbb')] });
    expect(await stream(candidate('IMAGE_SAFETY', drawn('bbbb')))).toMatchObject([
      { outcome: { files: [file('bbbb')] } },
    ]);
    expect(await catchFailure(chat(candidate('IMAGE_SAFETY')))).toMatchObject({
      code: 'MODERATION_REFUSED',
    });
  });

  it.each([
    [{ promptFeedback: { blockReason: 'OTHER' } }, { code: 'MODERATION_REFUSED', field: 'messages' }],
    [candidate('SAFETY'), { code: 'MODERATION_REFUSED', field: 'messages' }],
    [candidate(null, { text: 'half' }), { code: 'UNAVAILABLE', startUnknown: true }],
    [{}, { code: 'UNAVAILABLE', startUnknown: true }],
  ])('that is %j is %j', async (body, expected) => {
    expect(await catchFailure(chat(body))).toMatchObject(expected);
  });

  it('is spoken by the voices that it lists, as wav alone', async () => {
    const { voices } = await must(stage.provider.voices, 'voices')(createContext());
    expect(voices).toContainEqual(expect.objectContaining({ id: 'Kore' }));
    const speak = (change: object) =>
      must(stage.provider.calls?.SPEECH, 'speech').call(
        { kind: 'SPEECH', text: 'hello', voiceId: 'Kore', ...change } as never,
        createContext(),
      );
    expect(await catchFailure(speak({ format: 'mp3' }))).toMatchObject({ field: 'format' });
    const mp3 = { inlineData: { mimeType: 'audio/mpeg', data: 'aGk=' } };
    stage.proxy.respondNext(':generateContent', { body: candidate('STOP', mp3) });
    expect(await catchFailure(speak({}))).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
  });

  it('that says nothing about a file is no analysis', async () => {
    stage.proxy.respondNext(':generateContent', { body: candidate('STOP') });
    expect(await catchFailure(analyse())).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'gemini had nothing to say about it',
    });
  });

  const stream = async (...events: readonly unknown[]) => {
    const lines = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}`);
    const request = ask(`${lines.join('\n\n')}\n\n` as never, { 'content-type': 'text/event-stream' });
    const pieces: unknown[] = [];
    for await (const piece of stage.provider.chatStream?.(request, createContext()) ?? []) pieces.push(piece);
    return pieces;
  };

  it('comes in pieces, of which any tells its model, its tokens and its end', async () => {
    const first = { ...candidate('STOP', { text: 'a' }), modelVersion: 'gemini-x' };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 2 };
    const last = { ...candidate(null, { text: '' }, { text: 'b' }), usageMetadata };
    expect(await stream(first, last, candidate(null))).toEqual([
      { delta: 'a' },
      { delta: 'b' },
      { outcome: { text: 'ab', model: 'gemini-x', usage: { inputTokens: 1, outputTokens: 2 } } },
    ]);
    expect(stage.proxy.sent[0]?.path).toBe(
      '/v1beta/models/gemini-3.5-flash-lite:streamGenerateContent?alt=sse',
    );
  });

  it.each([
    [[candidate(null, { text: 'a' })], { code: 'UNAVAILABLE', message: 'gemini: the reply broke off' }],
    [['{'], { code: 'UNAVAILABLE', startUnknown: true }],
    [[candidate('SAFETY')], { code: 'MODERATION_REFUSED', field: 'messages' }],
    [[{ error: { code: 429, message: 'slow down' } }], { code: 'RATE_LIMITED' }],
    [[{ error: { code: 400, message: 'no such field' } }], { code: 'INVALID_INPUT' }],
    [[{ error: { code: 600, message: 'odd' } }], { code: 'UNAVAILABLE', startUnknown: true }],
    [[{ error: null }], { code: 'UNAVAILABLE', startUnknown: true }],
  ])('that comes as %j is %j', async (events, expected) => {
    expect(await catchFailure(stream(...events))).toMatchObject(expected);
  });

  const draw = (change: object, body: object) => {
    stage.proxy.respondNext(':generateContent', { body });
    const request = { kind: 'IMAGE', prompt: 'a lighthouse', images: [], ...change } as const;
    return must(stage.provider.calls?.IMAGE, 'images').call(request, createContext());
  };

  it.each([
    [{}, candidate('STOP', { text: 'I can not' }), 'UNAVAILABLE', 'gemini made no image: I can not'],
    [{}, candidate('NO_IMAGE'), 'UNAVAILABLE', 'gemini made no image: NO_IMAGE'],
    [{}, candidate('IMAGE_SAFETY'), 'MODERATION_REFUSED', 'gemini: the answer was withheld (IMAGE_SAFETY)'],
    [{}, {}, 'UNAVAILABLE', "gemini answered something that can't be read"],
    [{ count: 2 }, {}, 'INVALID_INPUT', 'gemini makes one image at a time'],
  ])('to an image of %j is no image when it is %j', async (change, body, code, message) => {
    expect(await catchFailure(draw(change, body))).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('with an image is asked for in the sizes that there are', async () => {
    const png = candidate('STOP', { inlineData: { mimeType: 'image/png', data: 'aGk=' } });
    expect(await draw({ count: 1, resolution: '2K' }, png)).toEqual({
      files: [{ content: Buffer.from('hi'), contentType: 'image/png' }],
      texts: [],
    });
    await draw({ resolution: '1024x1024' }, png);
    const contents = [{ role: 'user', parts: [{ text: 'a lighthouse' }] }];
    expect(sentBody(0)).toEqual({
      contents,
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { imageSize: '2K' } },
    });
    expect(sentBody(1)).toEqual({ contents, generationConfig: { responseModalities: ['IMAGE'] } });
    expect(sentPaths()[0]).toBe('POST /v1beta/models/gemini-3.1-flash-image:generateContent');
  });
});

describe('a video of Veo', () => {
  const job = () => must(stage.provider.jobs?.VIDEO, 'job');
  const NAME = 'models/veo/operations/1';
  const readStatus = (body: object) => {
    stage.proxy.respondNext('/operations/1', { body });
    return job().status({ operation: NAME }, createContext());
  };

  it('is asked for with the images that its subjects are in, in the words of its sizes', async () => {
    stage.proxy.respondNext(':predictLongRunning', { body: { name: NAME } });
    const request = videoRequest({ references: [createImage(), createImage()], resolution: '3840x2160' });
    expect(await job().start(request, createContext())).toEqual({ operation: NAME });
    const image = { bytesBase64Encoded: expect.stringMatching(/^iVBOR/), mimeType: 'image/png' };
    const reference = { image, referenceType: 'asset' };
    expect(sentBody(0)).toEqual({
      instances: [{ prompt: 'a lighthouse', referenceImages: [reference, reference] }],
      parameters: { sampleCount: 1, resolution: '4k' },
    });
    expect(sentPaths()).toEqual(['POST /v1beta/models/veo-3.1-generate-001:predictLongRunning']);
    for (const [resolution, word] of [
      ['1280x720', '720p'],
      ['1920x1080', '1080p'],
    ]) {
      stage.proxy.reset();
      stage.proxy.respondNext(':predictLongRunning', { body: { name: NAME } });
      await job().start(videoRequest({ resolution }), createContext());
      expect(sentBody(0)).toMatchObject({ parameters: { resolution: word } });
    }
  });

  it('has no last frame without a first, and has not started where its operation has no name', async () => {
    const frame = videoRequest({ lastFrame: createImage() });
    expect(await catchFailure(job().start(frame, createContext()))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'lastFrame',
    });
    expect(stage.proxy.sent).toEqual([]);
    stage.proxy.respondNext(':predictLongRunning', { body: {} });
    expect(await catchFailure(job().start(videoRequest({}), createContext()))).toMatchObject({
      code: 'UNAVAILABLE',
      startUnknown: true,
    });
  });

  it.each([
    [{ done: null }, { state: 'running', progress: null }],
    [{ error: { code: 3, message: 'bad' } }, { error: { code: 'INVALID_INPUT', message: 'gemini: bad' } }],
    [{ error: { code: 8 } }, { error: { code: 'RATE_LIMITED', message: 'gemini: the video failed' } }],
    [{ error: { code: 13 } }, { error: { code: 'UNAVAILABLE' } }],
    [{ error: { code: 'INTERNAL', message: 'bad' } }, { error: { message: 'gemini: bad' } }],
    [{ error: 'bad' }, { error: { message: 'gemini: bad' } }],
    [
      {
        done: true,
        response: {
          generateVideoResponse: { generatedSamples: ['odd', { video: { uri: 'https://g.example/1.mp4' } }] },
        },
      },
      { state: 'finished', outcome: { files: [{ url: 'https://g.example/1.mp4' }] } },
    ],
    [
      { error: { code: 3, message: 'against our usage guidelines' } },
      { error: { code: 'MODERATION_REFUSED' } },
    ],
    [{ done: true }, { error: { code: 'UNAVAILABLE', message: 'gemini finished without a video' } }],
    [
      { done: true, response: { generateVideoResponse: { raiMediaFilteredCount: 0 } } },
      { error: { code: 'UNAVAILABLE' } },
    ],
    [
      {
        done: true,
        response: { generateVideoResponse: { generatedSamples: [{ video: { uri: 'none' } }, {}] } },
      },
      { error: { code: 'UNAVAILABLE' } },
    ],
  ])('that is told as %j is %j', async (body, expected) => {
    expect(await readStatus(body)).toMatchObject(expected);
  });

  it('is not asked to be erased', async () => {
    await job().erase?.({ operation: NAME }, createContext());
    expect(stage.proxy.sent).toEqual([]);
  });
});
