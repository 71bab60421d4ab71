import { describe, expect, it } from 'vitest';

import { useSandbox } from '../use-sandbox.fixture.ts';

/** What the stand-ins do not do (docs/sandbox.md) is refused in the form of each vendor's errors, never ignored. */

const sandbox = useSandbox();

async function call(
  mount: string,
  path: string,
  { body, headers = {} }: { body?: object; headers?: Record<string, string> },
) {
  const response = await fetch(`${sandbox.url(mount)}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}

const bearer = { authorization: 'Bearer test' };
const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };
const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];

describe.each([
  [
    'openai',
    bearer,
    [
      ['/v1/responses', {}, 404, { error: { type: 'invalid_request_error', code: 'unknown_url' } }],
      ['/v1/embeddings', {}, 404, { error: { code: 'unknown_url' } }],
      ['/v1/chat/completions', { ...chat, logprobs: true }, 400, { error: { param: 'logprobs' } }],
      ['/v1/chat/completions', { ...chat, n: 9 }, 400, { error: { param: 'n' } }],
      ['/v1/chat/completions', { ...chat, modalities: ['audio'] }, 400, { error: { param: 'modalities.0' } }],
      ['/v1/chat/completions', { ...chat, model: 'nothing' }, 404, { error: { code: 'model_not_found' } }],
      [
        '/v1/images/generations',
        { model: 'gpt-image-1', prompt: 'x', output_format: 'gif' },
        400,
        { error: { param: 'output_format' } },
      ],
    ],
  ],
  [
    'gemini',
    { 'x-goog-api-key': 'test' },
    [
      ['/v1beta/cachedContents', {}, 404, { error: { code: 404, status: 'NOT_FOUND' } }],
      [
        '/v1beta/models/gemini-2.5-flash:generateContent',
        { contents, tools: [{ googleSearch: {} }] },
        400,
        { error: { status: 'INVALID_ARGUMENT' } },
      ],
      [
        '/v1beta/models/gemini-2.5-flash:generateContent',
        { contents, generationConfig: { candidateCount: 2 } },
        400,
        { error: { status: 'INVALID_ARGUMENT' } },
      ],
      [
        '/v1beta/models/gemini-2.5-flash-preview-tts:generateContent',
        { contents: [{ parts: [{ text: '?!' }] }], generationConfig: { responseModalities: ['AUDIO'] } },
        400,
        { error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining('spoken') } },
      ],
    ],
  ],
  ['minimax', bearer, [['/v1/music_generation', {}, 404, { type: 'error' }]]],
  ['kling', bearer, [['/v1/videos/lip-sync', {}, 404, { code: 1203 }]]],
  ['fal', { authorization: 'Key test' }, [['/fal-ai/nothing', {}, 404, { detail: expect.any(String) }]]],
  [
    'replicate',
    bearer,
    [
      ['/v1/trainings', null, 404, { title: 'Not Found', status: 404 }],
      ['/v1/deployments', null, 404, { title: 'Not Found', status: 404 }],
    ],
  ],
  [
    'hedra',
    bearer,
    [
      ['/v3/models/veo-3.1', { input: { prompt: 'x' } }, 404, { error: { code: 'NOT_FOUND' } }],
      ['/v3/chat/completions', chat, 404, { error: { code: 'NOT_FOUND' }, trace_id: expect.any(String) }],
      ['/v3/jobs', null, 404, { error: { code: 'NOT_FOUND', type: 'invalid_request_error' } }],
      ['/v3/models/hedra-avatar', { input: {} }, 400, { error: { code: 'INVALID_ARGUMENT' } }],
    ],
  ],
  [
    'stable-diffusion-webui',
    {},
    [
      ['/sdapi/v1/interrogate', { image: 'x' }, 404, { detail: 'Not Found' }],
      ['/sdapi/v1/txt2img', { prompt: 'x', script_name: 'X/Y/Z plot' }, 422, { error: 'HTTPException' }],
      [
        '/sdapi/v1/txt2img',
        { prompt: 'x', alwayson_scripts: { controlnet: {} } },
        422,
        { error: 'HTTPException' },
      ],
      ['/sdapi/v1/txt2img', { prompt: 'x', sampler_name: 'none' }, 404, { detail: 'Sampler not found' }],
      ['/sdapi/v1/txt2img', { prompt: 'x', enable_hr: true }, 500, { error: 'NotImplementedError' }],
    ],
  ],
  [
    'higgsfield',
    { authorization: 'Key a:b' },
    [['/v1/text2image/soul', {}, 404, { detail: expect.any(String) }]],
  ],
  ['midjourney', {}, [['/mj/submit/blend', {}, 404, { code: 3 }]]],
  [
    'comfyui-a',
    {},
    [
      ['/models', null, 404, { error: expect.any(String) }],
      [
        '/prompt',
        { prompt: { 1: { class_type: 'LoadLatent', inputs: {} } } },
        400,
        { error: { type: 'missing_node_type', extra_info: { class_type: 'LoadLatent' } } },
      ],
    ],
  ],
] as const)('%s', (mount, headers, calls) => {
  it.each([...calls])('refuses %s %j', async (path, body, status, answer) => {
    const refused = await call(mount, path, { headers, ...(body && { body }) });
    expect(refused).toMatchObject({ status, body: answer });
  });
});
