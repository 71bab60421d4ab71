import {
  experimental_generateVideo as generateVideo,
  experimental_getVideoStatus as getVideoStatus,
  experimental_startVideo as startVideo,
  generateImage,
  generateSpeech,
  generateText,
  streamText,
  tool,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { createKilnProvider, type KilnProvider } from '../../clients/ai-sdk/src/index.ts';
import type { KilnSocket } from '../../clients/typescript/src/index.ts';
import { startReceiver, type Receiver } from '../../subgraphs/media/webhooks/receiver.fixture.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** @kiln/ai-sdk in the AI SDK itself, over a whole Kiln. */

let server: KilnUnderTest;
let receiver: Receiver;
let kiln: KilnProvider;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startKiln({ settings: { OUTBOUND_ALLOW: receiver.host } });
  kiln = createKilnProvider({ url: server.url });
});
afterAll(async () => {
  await server?.close();
  await receiver?.close();
});

/** The first webhook, when it comes. */
async function notified() {
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  return { headers: {}, body: JSON.parse(receiver.received[0]?.body ?? '') };
}

describe('generateImage', () => {
  it('makes images, with options of the vendor', async () => {
    const { images, providerMetadata } = await generateImage({
      model: kiln.image('union:gpt-image-2'),
      prompt: 'a lighthouse at dawn',
      n: 2,
      providerOptions: { kiln: { quality: 'low', options: { moderation: 'low' } } },
    });
    expect(images.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/png']);
    expect(providerMetadata['kiln']).toMatchObject({
      images: [{ taskId: expect.any(String), url: expect.any(String) }, {}],
    });
  });

  it('changes an image that is sent along', async () => {
    const model = kiln.image('union:gpt-image-2');
    const { image } = await generateImage({ model, prompt: 'a lighthouse' });
    const changed = await generateImage({ model, prompt: { text: 'at night', images: [image.uint8Array] } });
    expect(changed.image.uint8Array.length).toBeGreaterThan(0);
  });

  it('throws what Kiln says of an option that is not there', async () => {
    const work = generateImage({
      model: kiln.image('union:gpt-image-2'),
      prompt: 'a lighthouse',
      providerOptions: { kiln: { options: { no_such: 1 } } },
    });
    await expect(work).rejects.toMatchObject({
      name: 'KilnError',
      code: 'BAD_USER_INPUT',
      field: 'options.no_such',
    });
  });
});

describe('a video', () => {
  it('is started, and found by its operation later', async () => {
    const model = kiln.video('vidc');
    const { operation } = await startVideo({ model, prompt: 'waves', fps: 24 });
    const later = createKilnProvider({ url: server.url }).video('vidc');
    const stored: typeof operation = JSON.parse(JSON.stringify(operation));
    const status = () => getVideoStatus(later, { operation: stored });
    await expect.poll(status).toMatchObject({
      status: 'completed',
      videos: [{ type: 'url', mediaType: 'video/mp4' }],
    });
  });

  it('is made in one call, from a first and a last frame', async () => {
    const { image } = await generateImage({ model: kiln.image('union'), prompt: 'a lighthouse' });
    const { video, responses } = await generateVideo({
      model: kiln.video('custom/frame'),
      prompt: 'the day goes by',
      frameImages: [
        { image: image.uint8Array, frameType: 'first_frame' },
        { image: image.uint8Array, frameType: 'last_frame' },
      ],
    });
    expect(video.mediaType).toBe('video/mp4');
    expect(responses).toHaveLength(1);
  });

  it('is waited for by its webhook', async () => {
    const { video, warnings } = await generateVideo({
      model: kiln.video('vidc'),
      prompt: 'waves',
      fps: 24,
      // The SDK's own download takes public addresses only.
      download: async ({ url }) => ({
        data: new Uint8Array(await (await fetch(url)).arrayBuffer()),
        mediaType: 'video/mp4',
      }),
      webhook: async () => ({ url: receiver.url, received: notified() }),
    });
    expect(video.mediaType).toBe('video/mp4');
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'fps' }]);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'task.succeeded' });
  });
});

it('generateSpeech speaks, by a voice that is named or the first', async () => {
  const { audio } = await generateSpeech({ model: kiln.speech('speech_router'), text: 'Good morning.' });
  expect(audio.mediaType).toMatch(/^audio\//);
  expect(audio.uint8Array.length).toBeGreaterThan(0);
});

describe('a language model', () => {
  it('streams its answer', async () => {
    const answer = streamText({ model: kiln.chat('llm'), prompt: 'Name a colour.' });
    const pieces: string[] = [];
    for await (const piece of answer.textStream) pieces.push(piece);
    // How many pieces they are depends on how busy the machine is.
    expect(pieces.join('')).toBe(await answer.text);
    expect(pieces.length).toBeGreaterThan(0);
    expect((await answer.usage).outputTokens).toBeGreaterThan(0);
  });

  it('calls a tool, and goes on with what it gave', async () => {
    const { text, steps } = await generateText({
      model: kiln.chat('llm'),
      prompt: 'get weather of Oslo',
      tools: {
        get_weather: tool({
          description: 'Weather of a city.',
          inputSchema: z.object({ city: z.string() }),
          execute: async () => 'grey, 4 degrees',
        }),
      },
      stopWhen: ({ steps }) => steps.length === 2,
    });
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(text).not.toBe('');
  });

  it('answers the images that it makes as files, and takes them back', async () => {
    const model = kiln.chat('llm/altllm:gemini-3.1-flash-image');
    const { files, response } = await generateText({ model, prompt: 'a fox' });
    expect(files).toMatchObject([{ mediaType: expect.stringMatching(/^image\//) }]);
    expect(files[0]?.uint8Array.length).toBeGreaterThan(0);
    const messages = [{ role: 'user' as const, content: 'a fox' }, ...response.messages];
    const answer = streamText({ model, messages: [...messages, { role: 'user', content: 'redder' }] });
    expect(await answer.files).toHaveLength(1);
  });

  it('tells onError why there is no answer, refused or broken off', async () => {
    const errors: unknown[] = [];
    const answered = async (model: string, options: { readonly no_such?: number }) => {
      const answer = streamText({
        model: kiln.chat(model),
        prompt: 'x',
        providerOptions: { kiln: { options } },
        onError: ({ error }) => void errors.push(error),
      });
      await answer.consumeStream();
      return answer.text;
    };
    await expect(answered('llm', { no_such: 1 })).rejects.toThrow('No output generated');
    await server.control('faults', { wire: 'openai', operation: 'chat', fault: 'server-error' });
    await expect(answered('llm:gpt-4o-mini', {})).rejects.toThrow('No output generated');
    await server.control('faults', { wire: 'openai', operation: 'chat', fault: 'malformed' });
    expect(await answered('llm:gpt-4o-mini', {})).not.toBe('');
    expect(errors).toMatchObject([
      { name: 'KilnError', code: 'BAD_USER_INPUT', field: 'options.no_such' },
      { name: 'KilnError', code: 'UNAVAILABLE' },
      { name: 'KilnError', code: 'UNAVAILABLE' },
    ]);
  });

  it.each([0, 1])('leaves the answer of a stream that is cancelled after %i of its parts', async (parts) => {
    let isOpen = false;
    const socket: KilnSocket = {
      retries: 0,
      async *open() {
        isOpen = true;
        try {
          yield { data: { chatStream: { delta: 'red', reply: null, error: null } } };
        } finally {
          isOpen = false;
        }
      },
      restart: () => undefined,
      close: async () => undefined,
    };
    const { stream } = await createKilnProvider({ url: server.url, socket })
      .chat('llm')
      .doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Name a colour.' }] }] });
    const reader = stream.getReader();
    for (let read = 0; read < parts; read++) await reader.read();
    expect(isOpen).toBe(true);
    await reader.cancel();
    expect(isOpen).toBe(false);
  });

  it('goes on after an answer that said nothing', async () => {
    const { text } = await generateText({
      model: kiln.chat('llm'),
      messages: [
        { role: 'user', content: 'Name a colour.' },
        { role: 'assistant', content: [{ type: 'text', text: '' }] },
        { role: 'user', content: 'Another.' },
      ],
    });
    expect(text).not.toBe('');
  });

  it('names the provider and the codes of what it has not', () => {
    expect(() => kiln.embeddingModel('llm')).toThrow('embeddingModel');
  });
});
