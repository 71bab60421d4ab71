import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { postForm, rest, until } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** `options` over REST: JSON text of a form, in the names of the model's vendor. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
});
afterAll(() => kiln?.close());

const post = (path: string, fields: Readonly<Record<string, string>>, key?: string) =>
  postForm(kiln.url, path, fields, key === undefined ? {} : { 'idempotency-key': key });

/** The first body that the stand-ins were sent with this text. */
async function sent(text: string): Promise<object> {
  const all = await until(
    async () => {
      const answer = await fetch(`${kiln.sandboxUrl}/_control/requests`);
      const requests = (await answer.json()) as readonly { readonly body: object }[];
      return requests.filter(({ body }) => JSON.stringify(body).includes(text));
    },
    (found) => found.length > 0,
  );
  return all[0]?.body ?? {};
}

const union = '/api/union/img/sync/generate/image';

describe('options of a form', () => {
  it('arrive at the vendor, from images, videos and chats', async () => {
    const options = JSON.stringify({ quality: 'low', moderation: 'low' });
    expect((await post(union, { prompt: 'a fox by REST', options })).body.status).toBe(true);
    expect(await sent('a fox by REST')).toMatchObject({ quality: 'low', moderation: 'low' });

    const video = {
      prompt: 'a video by REST',
      model: 'fal-ai/kling-video/v2.5-turbo/pro',
      options: '{"cfg_scale":0.9}',
    };
    expect((await post('/api/custom/video/submit/task', video)).body.status).toBe(true);
    expect(await sent('a video by REST')).toMatchObject({ cfg_scale: 0.9 });

    const chat = new URLSearchParams({ prompt: 'a chat by REST', model: 'gpt-4o', options: '{"top_p":0.3}' });
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await rest(kiln.url, 'POST', '/api/llm/chat', chat.toString(), type);
    expect(answer.body.status).toBe(true);
    expect(await sent('a chat by REST')).toMatchObject({ top_p: 0.3 });
  });

  it('arrive from a recipe too, by what its steps make', async () => {
    const recipe = { task_type: 'tea', prompt: 'a recipe by REST' };
    const start = async (image: object) =>
      (await rest(kiln.url, 'POST', '/api/task/create/task', { ...recipe, options: { image } })).body;
    expect((await start({ botType: 'NIJI_JOURNEY' })).status).toBe(true);
    expect(await sent('a recipe by REST')).toMatchObject({ botType: 'NIJI_JOURNEY' });
    expect(await start({ botType: 'SOMEBODY' })).toMatchObject({
      status: false,
      msg: expect.stringContaining('options.image.botType'),
    });
  });

  it('are refused by the path of the option, in the words of the vendor', async () => {
    const refused = async (options: string) =>
      (await post(union, { prompt: 'a fox', model: 'gpt-image-2', options })).body;
    expect(await refused('{"quality":"best"}')).toMatchObject({
      status: false,
      msg: expect.stringMatching(/^options\.quality: must be one of auto, low, medium, high/),
    });
    expect(await refused('[]')).toMatchObject({
      status: false,
      msg: expect.stringContaining('options must be an object'),
    });
    expect((await post(union, { prompt: 'a fox', options: '{' })).status).toBe(422);
    const veo = {
      prompt: 'x',
      model: 'veo-3.1-generate-001',
      negative_prompt: 'rain',
      options: '{"negativePrompt":"snow"}',
    };
    expect((await post('/api/union/video/async/generate/video', veo)).body.msg).toMatch(
      /^options\.negativePrompt: says what negative_prompt says too: send one of them/,
    );
  });

  it('make another request of the same key', async () => {
    const start = (options: string) =>
      post('/api/custom/image/submit/task', { prompt: 'a fox', options }, 'one-key');
    const first = await start('{"num_inference_steps":2}');
    expect((await start('{"num_inference_steps":2}')).body).toEqual(first.body);
    expect((await start('{"num_inference_steps":3}')).status).toBe(409);
  });
});

describe('the sound of a video', () => {
  it('has a field of its own', async () => {
    const video = { prompt: 'a silent video', model: 'veo-3.1-generate-001', generate_audio: 'no' };
    expect((await post('/api/union/video/async/generate/video', video)).body.status).toBe(true);
    expect(await sent('a silent video')).toMatchObject({ parameters: { generateAudio: false } });
  });
});
