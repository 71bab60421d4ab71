import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { imageRequest } from '../../../../test/providers/contract/row.ts';
import { catchFailure, must, createImage } from '../../../../test/providers/environment/environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';

/** Images that OpenAI streams: what keeps the call alive, and what ends it. */

const stage = useScriptedProvider('openai');
const IMAGE = 'iVBORw0KGgo=';

let bodies: string[];
let answer: (response: ServerResponse, count: number) => void;
let url: string;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(response, bodies.push(Buffer.concat(chunks).toString('latin1'))));
});
beforeEach(async () => {
  bodies = [];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function make(callTimeoutMs = 60_000, change: Parameters<typeof imageRequest>[0] = {}) {
  const connection = { ...stage.context.connection, baseUrl: url, callTimeoutMs };
  const shown: number[] = [];
  const report = ({ progress }: { progress: number }) => void shown.push(progress);
  const call = must(stage.provider.calls?.IMAGE, 'call for images');
  const made = call.call(imageRequest(change), { ...stage.context, connection, report });
  return { made, shown };
}

const begin = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': begun\n\n');
};
const send = (response: ServerResponse, event: object) =>
  response.write(`data: ${JSON.stringify(event)}\n\n`);
const COMPLETED = {
  type: 'image_generation.completed',
  b64_json: IMAGE,
  output_format: 'webp',
  usage: { input_tokens: 5, output_tokens: 7 },
};
const part = (partial_image_index: number) => ({
  type: 'image_generation.partial_image',
  b64_json: IMAGE,
  partial_image_index,
});

describe('an image as a stream', () => {
  it('may take longer than the limit of a silent call while something comes', async () => {
    answer = (response) => {
      begin(response);
      let parts = 0;
      const timer = setInterval(() => {
        if (parts < 6) send(response, part(parts++));
        else {
          clearInterval(timer);
          response.end(`data: ${JSON.stringify(COMPLETED)}\n\n`);
        }
      }, 1_000);
    };
    const { made, shown } = make(4_000);
    expect(await made).toEqual({
      files: [{ content: Buffer.from(IMAGE, 'base64'), contentType: 'image/webp' }],
      texts: [],
      units: { pictures: 1, inputTokens: 5, outputTokens: 7 },
    });
    expect(shown).toEqual([25, 50, 75, 90, 90, 90]);
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ stream: true, n: 1 });
  });

  it("goes on after events that are of another shape, or can't be read", async () => {
    answer = (response) => {
      begin(response);
      response.write('data: keep-alive\n\n');
      send(response, { type: 7, b64_json: {} });
      response.end(`data: ${JSON.stringify(COMPLETED)}\n\n`);
    };
    expect((await make().made).files).toHaveLength(1);
  });

  it('that falls silent is given up at the limit', async () => {
    answer = begin;
    expect(await catchFailure(make(300).made)).toMatchObject({ code: 'TIMED_OUT', startUnknown: true });
  });

  it.each([
    ['breaks', (response: ServerResponse) => response.socket?.resetAndDestroy()],
    ['ends without an image', (response: ServerResponse) => response.end()],
    [
      'ends within an image',
      (response: ServerResponse) => response.end(`data: ${JSON.stringify(COMPLETED).slice(0, 40)}\n\n`),
    ],
  ] as const)('that %s is known at once, and may have been made', async (_what, end) => {
    answer = (response) => {
      begin(response);
      setTimeout(() => end(response), 50);
    };
    expect(await catchFailure(make().made)).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
    expect(bodies).toHaveLength(1);
  });

  it.each([
    ['moderation_blocked', 'image_generation_user_error', 'MODERATION_REFUSED', false],
    ['rate_limit_exceeded', 'requests', 'RATE_LIMITED', false],
    [null, 'server_error', 'UNAVAILABLE', true],
    [undefined, 'image_generation_user_error', 'INVALID_INPUT', false],
  ])('that ends in the error %s is refused as ever', async (code, type, expected, startUnknown) => {
    answer = (response) => {
      begin(response);
      send(response, { type: 'error', error: { code, type, message: 'no', param: null } });
      response.end();
    };
    expect(await catchFailure(make().made)).toMatchObject({ code: expected, startUnknown });
  });
});

describe('an image whole', () => {
  const whole = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ created: 1, data: [{ b64_json: IMAGE }] }));
  };

  it('is taken from a server that does not stream', async () => {
    answer = whole;
    expect((await make().made).files).toHaveLength(1);
    expect(bodies).toHaveLength(1);
  });

  it.each([
    ['by the field', { message: 'Your organization must be verified.', param: 'stream' }],
    ['by the words', { message: 'Your organization must be verified to stream this model.', param: null }],
    ['by other words', { message: 'Streaming is not available.', param: null }],
    ['by words alone', { message: 'Streaming is not available.' }],
  ])('is asked for where streams are refused %s, which has made nothing', async (_how, error) => {
    answer = (response, count) => {
      if (count > 1) return whole(response);
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { ...error, type: 'invalid_request_error', code: 'unsupported_value' } }),
      );
    };
    expect((await make(60_000, { images: [createImage()] }).made).files).toHaveLength(1);
    expect(bodies.map((body) => body.includes('name="stream"'))).toEqual([true, false]);
  });

  it('is asked for when there are several', async () => {
    answer = whole;
    await make(60_000, { count: 2 }).made;
    expect(JSON.parse(bodies[0] ?? '')).not.toHaveProperty('stream');
  });
});
