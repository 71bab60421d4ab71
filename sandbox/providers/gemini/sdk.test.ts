import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type } from '@google/genai';
import { expect, it, onTestFinished } from 'vitest';

import { onePixel, useSandbox } from '../../use-sandbox.fixture.ts';

/** Google's SDK against the stand-in of the Gemini API. */

const sandbox = useSandbox();
/** Long enough on a machine that does much else; nothing waits for it. */
const SOON = { timeout: 100_000 };
const model = 'gemini-2.5-flash';
const contents = 'What is 6 * 7?';
const client = () => new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: sandbox.url('gemini') } });

it('answers, whole and streamed, as its instruction says', async () => {
  const config = { systemInstruction: 'Be short.', thinkingConfig: { thinkingBudget: 0 } };
  const whole = await client().models.generateContent({ model, contents, config });
  expect(whole.text).toBe('42');
  const pieces: string[] = [];
  for await (const { text } of await client().models.generateContentStream({ model, contents, config })) {
    pieces.push(text ?? '');
  }
  expect(pieces.join('')).toBe('42');
});

it('takes the names of fields in either writing, as the SDK for Python sends them', async () => {
  const answer = await fetch(`${sandbox.url('gemini')}/v1beta/models/${model}:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'test', 'content-type': 'application/json' },
    body: JSON.stringify({
      contents: [
        {
          role: 'user',
          parts: [
            {
              inline_data: {
                mime_type: 'image/png',
                data: onePixel.toString('base64'),
                display_name: 'a',
              },
            },
          ],
        },
      ],
      system_instruction: { parts: [{ text: 'Be short.' }] },
      generation_config: {
        thinking_config: { thinking_budget: 0 },
        max_output_tokens: 100,
        response_schema: { snake_case: 1 },
      },
    }),
  });
  expect(answer.status).toBe(200);
});

it('answers JSON by a schema, and ends at a stop sequence', async () => {
  const responseSchema = { type: Type.OBJECT, properties: { number: { type: Type.INTEGER } } };
  const config = { responseMimeType: 'application/json', responseSchema };
  const { text } = await client().models.generateContent({ model, contents, config });
  expect(JSON.parse(text ?? '')).toEqual({ number: 6 });
  const cut = await client().models.generateContent({ model, contents, config: { stopSequences: ['2'] } });
  expect(cut.text).toBe('4');
});

it('calls a function and goes on with its answer', async () => {
  const parameters = {
    type: Type.OBJECT,
    properties: { city: { type: Type.STRING, enum: ['Oslo', 'Rome'] } },
  };
  const tools = [{ functionDeclarations: [{ name: 'get_weather', parameters }] }];
  const toolConfig = { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } };
  const ask = { role: 'user', parts: [{ text: 'How is it in Rome?' }] };
  const called = await client().models.generateContent({
    model,
    contents: [ask],
    config: { tools, toolConfig },
  });
  expect(called.functionCalls).toMatchObject([{ name: 'get_weather', args: { city: 'Rome' } }]);
  const call = { role: 'model', parts: [{ functionCall: { name: 'get_weather', args: { city: 'Rome' } } }] };
  const result = {
    role: 'user',
    parts: [{ functionResponse: { name: 'get_weather', response: { sky: 'blue' } } }],
  };
  const end = await client().models.generateContent({
    model,
    contents: [ask, call, result],
    config: { tools },
  });
  expect(end.text).toContain('blue');
});

it.each([
  ['search', { tools: [{ googleSearch: {} }] }],
  ['several candidates', { candidateCount: 2 }],
])('refuses %s', async (_, config) => {
  const error: unknown = await client()
    .models.generateContent({ model, contents, config })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 400, message: expect.stringContaining('INVALID_ARGUMENT') });
});

it('keeps files: uploaded in chunks, listed, read and removed', async () => {
  const bytes = new Uint8Array(9 << 20);
  bytes.set(onePixel);
  const { name = '' } = await client().files.upload({ file: new Blob([bytes], { type: 'image/png' }) });
  expect(name).toMatch(/^files\/[a-z0-9]+$/);
  await expect.poll(async () => (await client().files.get({ name })).state, SOON).toBe('ACTIVE');
  const listed: (string | undefined)[] = [];
  for await (const file of await client().files.list({ config: { pageSize: 1 } })) listed.push(file.name);
  expect(listed).toContain(name);
  await client().files.delete({ name });
  await expect(client().files.get({ name })).rejects.toThrow('PERMISSION_DENIED');
});

it('counts tokens, lists models and shows one', async () => {
  expect((await client().models.countTokens({ model, contents })).totalTokens).toBeGreaterThan(0);
  const names: (string | undefined)[] = [];
  for await (const { name } of await client().models.list()) names.push(name);
  expect(names).toContain(`models/${model}`);
  expect((await client().models.get({ model })).name).toBe(`models/${model}`);
  await expect(client().models.get({ model: 'gemini-99' })).rejects.toThrow('NOT_FOUND');
});

it('reads the files of videos', async () => {
  // This SDK starts and follows videos at Vertex only: the Gemini API's own requests are sent without it.
  const send = async (method: string, where: string, body?: object) => {
    const headers = { 'x-goog-api-key': 'test', 'content-type': 'application/json' };
    const answer = await fetch(`${sandbox.url('gemini')}/v1beta/${where}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as { name: string; done?: boolean };
  };
  const start = { instances: [{ prompt: 'a boat' }] };
  const { name } = await send('POST', 'models/veo-3.1-generate-preview:predictLongRunning', start);
  await expect.poll(async () => (await send('GET', name)).done, SOON).toBe(true);
  const [, file = ''] = /files\/([a-z0-9]+):download/.exec(JSON.stringify(await send('GET', name))) ?? [];
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-vendors-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const downloadPath = path.join(folder, 'video.mp4');
  await client().files.download({ file: `files/${file}`, downloadPath });
  await expect
    .poll(() => readFile(downloadPath).catch(() => Buffer.alloc(0)), SOON)
    .toSatisfy((bytes: Buffer) => bytes.subarray(4, 8).toString('latin1') === 'ftyp');
});

it('makes images', async () => {
  const { data } = await client().models.generateContent({
    model: 'gemini-2.5-flash-image',
    contents: 'a lighthouse',
    config: { responseModalities: ['IMAGE'] },
  });
  expect(
    Buffer.from(data ?? '', 'base64')
      .subarray(1, 4)
      .toString('latin1'),
  ).toBe('PNG');
});
