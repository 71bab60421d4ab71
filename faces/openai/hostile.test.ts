import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../../test/kit/kiln.ts';

/** Bodies that no client sends: each is answered or refused in OpenAI's words, never with a failure of ours. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true, settings: { OPENAI_FACE_PREFIX: '/openai/v1' } });
});
afterAll(() => kiln.close());

const pixel = 'data:image/png;base64,iVBORw0KGgo=';

/** Sound bodies, whose fields are replaced. */
const sound: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/images/generations': {
    model: 'gpt-image-2',
    prompt: 'x',
    n: 1,
    size: '1024x1024',
    quality: 'low',
    async: true,
    response_format: 'url',
    options: {},
  },
  '/images/edits': {
    model: 'gpt-image-2',
    prompt: 'x',
    images: [{ image_url: pixel }],
    mask: null,
    async: true,
  },
  '/videos': { model: 'MiniMax-Hailuo-02', prompt: 'x', seconds: '6', size: '1280x720', options: {} },
  '/audio/speech': { model: 'speech-2.8-turbo', voice: 'alloy', input: '', speed: 1, response_format: 'mp3' },
  '/chat/completions': {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'x' }],
    tools: [],
    tool_choice: 'auto',
    response_format: { type: 'text' },
    temperature: 1,
    stream: false,
    stop: null,
  },
};

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    pixel,
    'data:;',
    'ftp://example.org/x',
    '0x0',
    '99999x1',
    '\u0000',
    '\ud800',
    [{ role: 'assistant', tool_calls: [{}] }],
    [{ role: 'tool', content: 'x' }],
    [{ role: 'user', content: [{ type: 'image_url', image_url: { url: pixel } }] }],
    { type: 'json_schema', json_schema: { schema: { $ref: '#/a' } } },
    [{ type: 'function', function: { name: 'a b' } }],
  ),
);

const call = fc.constantFrom(...Object.keys(sound)).chain((path) =>
  fc.record({
    path: fc.constant(path),
    changes: fc.dictionary(fc.constantFrom(...Object.keys(sound[path] ?? {})), odd, {
      minKeys: 1,
      maxKeys: 2,
    }),
  }),
);

describe('hostile bodies', () => {
  it('are refused in the words of OpenAI, or answered', async () => {
    await fc.assert(
      fc.asyncProperty(call, async ({ path, changes }) => {
        const answer = await fetch(`${kiln.url}/openai/v1${path}`, {
          method: 'POST',
          headers: { 'x-kiln-join': 'never' },
          body: JSON.stringify({ ...sound[path], ...changes }),
        });
        const text = await answer.text();
        expect([answer.status < 500, text]).toEqual([true, text]);
        if (answer.status < 400) return;
        const { error } = JSON.parse(text) as { error: Record<string, unknown> };
        expect(Object.keys(error).toSorted()).toEqual(['code', 'message', 'param', 'type']);
      }),
      { numRuns: 150, seed: 7, endOnFailure: true },
    );
  });

  it.each([
    ['model', ['model[a]', 'model[]', 'model[0]', 'model[][]']],
    ['options', ['options', 'options[]', 'options[7]', 'options[][a]']],
    ['options.a', ['options[a]', 'options[a][b][c]', 'options[a][]']],
    ['options.__proto__', ['options[__proto__]', 'options[__proto__][a]']],
    ['prompt', ['__proto__[prompt]', 'prompt[', '[prompt]', 'prompt]', 'prompt[a]b', '']],
  ])('that are forms are refused for %s where their names are %j', async (param, names) => {
    for (const name of names) {
      const form = new FormData();
      form.set('model', 'MiniMax-Hailuo-02');
      if (!name.includes('prompt') && name !== '') form.set('prompt', 'x');
      if (name.startsWith('model')) form.delete('model');
      form.append(name, '{');
      const answer = await fetch(`${kiln.url}/openai/v1/videos`, { method: 'POST', body: form });
      expect([name, answer.status, await answer.json()]).toMatchObject([name, 400, { error: { param } }]);
    }
  });

  it.each([
    ['no JSON', '{', {}],
    ['a list', '[]', {}],
    ['a compressed body', '{}', { 'content-encoding': 'gzip' }],
    ['a form without an end', '--a\r\nx', { 'content-type': 'multipart/form-data; boundary=a' }],
    ['more than there may be', `"${'x'.repeat(33 << 20)}"`, {}],
  ])('that are %s are refused', async (_, body, headers) => {
    const answer = await fetch(`${kiln.url}/openai/v1/images/edits`, { method: 'POST', headers, body });
    expect([400, 413]).toContain(answer.status);
    expect(await answer.json()).toHaveProperty('error.message');
  });
});
