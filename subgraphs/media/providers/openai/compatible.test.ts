import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createOutboundRule } from '../../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import { createSandbox, type Sandbox } from '../../../../sandbox/sandbox.ts';
import { imageRequest, videoRequest } from '../../../../test/providers/contract/row.ts';
import {
  makeContext,
  catchFailure,
  isPng,
  must,
  createImage,
} from '../../../../test/providers/environment/environment.ts';
import {
  startRecordingProxy,
  type RecordingProxy,
} from '../../../../test/providers/environment/recording-proxy.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { Binding } from '../../generators/bindings/binding.ts';
import { createGeneratorRegistry } from '../../generators/bindings/registry.ts';
import { createCatalog } from '../../generators/catalog/catalog.ts';
import { withGeneratorsFile } from '../../generators/configuration/generators-file.ts';
import type { ChatPiece } from '../contract/provider.ts';
import { createProviders } from '../registry.ts';

/** Two servers with OpenAI's API at once, bound by GENERATORS_FILE: each has its own address, key and models. */

const KEYS = { FIRST_KEY: 'key-of-the-first', SECOND_KEY: 'key-of-the-second' } as const;
const CHAT = {
  messages: [{ role: 'user', content: 'what is 2 + 3?' }],
  system: null,
  temperature: null,
  maxTokens: 100,
};

/** A server and what was sent to it. */
interface Server {
  readonly sandbox: Sandbox;
  readonly proxy: RecordingProxy;
  close(): Promise<void>;
}

async function openServer(key: string): Promise<Server> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'kiln-compatible-'));
  const sandbox = await createSandbox({
    dataDir,
    logger: silentLogger(),
    instantImages: true,
    secrets: { openai: key },
  });
  const proxy = await startRecordingProxy(sandbox.url);
  return {
    sandbox,
    proxy,
    async close() {
      await proxy.close();
      await sandbox.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const outbound = createOutboundRule({ allow: [] });
const http = createHttpClient({ outbound, logger: silentLogger(), firstRetryMs: 20 });
const providers = createProviders({ http });

function readBindings(text: string, variables: Readonly<Record<string, string>> = KEYS) {
  const file = { path: '/etc/kiln/generators.json', text, variables };
  return createGeneratorRegistry(
    withGeneratorsFile({ bindings: [] }, { file, providers, catalog: createCatalog() }),
  );
}

describe('two servers with OpenAI’s API', () => {
  let first: Server;
  let second: Server;
  let registry: ReturnType<typeof readBindings>;
  beforeAll(async () => {
    [first, second] = await Promise.all([openServer(KEYS.FIRST_KEY), openServer(KEYS.SECOND_KEY)]);
    const entry = (server: Server, key: string, model: string, kind: string) => ({
      provider: 'openai-compatible',
      baseUrl: `${server.proxy.origin}/openai/v1`,
      headers: { authorization: `Bearer \${${key}}` },
      model,
      kinds: [kind],
      resultOrigins: [server.sandbox.url],
    });
    registry = readBindings(
      JSON.stringify({
        local: [
          entry(first, 'FIRST_KEY', 'local-studio', 'IMAGE'),
          entry(second, 'SECOND_KEY', 'local-rules', 'CHAT'),
          entry(second, 'SECOND_KEY', 'gpt-image-1', 'IMAGE'),
        ],
        other: [entry(second, 'SECOND_KEY', 'tts-1', 'SPEECH'), entry(first, 'FIRST_KEY', 'sora-2', 'VIDEO')],
      }),
    );
  });
  beforeEach(() => {
    first.proxy.reset();
    second.proxy.reset();
  });
  afterAll(async () => {
    await Promise.all([first.close(), second.close(), http.close()]);
  });

  let starts = 0;
  const contextFor = ({ connection }: Binding) => {
    starts += 1;
    return { ...makeContext(connection), reference: `task/${starts}/1` };
  };
  const bound = (generator: string, kind: string, model?: string) =>
    must(registry.bindingsFor(generator, kind, model)[0], 'binding');
  const sentTo = ({ proxy }: Server) =>
    proxy.sent.map(({ path: sent, headers }) => [sent, headers['authorization']]);
  const lastBody = ({ proxy }: Server) =>
    JSON.parse(must(proxy.sent.at(-1), 'request').body.toString('utf8')) as Record<string, unknown>;

  it('make images, each with its own key, by the model that is named', async () => {
    for (const [server, key, model] of [
      [first, KEYS.FIRST_KEY, 'local-studio'],
      [second, KEYS.SECOND_KEY, 'gpt-image-1'],
    ] as const) {
      const binding = bound('local', 'IMAGE', model);
      const request = imageRequest({ aspectRatio: '16:9', negativePrompt: 'people', count: 2, seed: 7 });
      const outcome = await binding.provider.calls?.IMAGE?.call(request, contextFor(binding));
      const [file] = must(outcome, 'outcome').files;
      expect(isPng(must(file !== undefined && 'content' in file ? file.content : null, 'image'))).toBe(true);
      expect(sentTo(server)).toEqual([['/openai/v1/images/generations', `Bearer ${key}`]]);
      expect(lastBody(server)).toEqual({
        model,
        prompt: 'a lighthouse\n\nAvoid: people',
        n: 2,
        seed: 7,
        size: '1344x768',
      });
    }
  });

  it('change images in the size that the server chooses', async () => {
    const binding = bound('local', 'IMAGE');
    const request = imageRequest({ images: [createImage()] });
    const outcome = await binding.provider.calls?.IMAGE?.call(request, contextFor(binding));
    expect(outcome?.files).toHaveLength(1);
    const sent = must(first.proxy.sent[0], 'request');
    expect(sent.path).toBe('/openai/v1/images/edits');
    expect(sent.body.toString('latin1')).not.toContain('name="size"');
  });

  it('answer chats, whole and word by word, with the older name of the longest reply', async () => {
    const binding = bound('local', 'CHAT');
    const whole = await binding.provider.chat?.(CHAT, contextFor(binding));
    expect(whole).toMatchObject({ text: expect.stringContaining('5'), model: 'local-rules' });
    expect(lastBody(second)).toEqual({ model: 'local-rules', messages: CHAT.messages, max_tokens: 100 });
    const pieces: ChatPiece[] = [];
    for await (const piece of binding.provider.chatStream?.(CHAT, contextFor(binding)) ?? []) {
      pieces.push(piece);
    }
    expect(pieces.at(-1)).toMatchObject({ outcome: { text: must(whole, 'reply').text } });
    expect(lastBody(second)).toMatchObject({ stream: true, max_tokens: 100 });
    expect(first.proxy.sent).toEqual([]);
  });

  it('speak, and make videos', async () => {
    const speaking = bound('other', 'SPEECH');
    const spoken = await speaking.provider.calls?.SPEECH?.call(
      { kind: 'SPEECH', text: 'hello', voiceId: 'alloy' },
      contextFor(speaking),
    );
    expect(spoken?.files).toMatchObject([{ contentType: 'audio/mpeg' }]);
    const filming = bound('other', 'VIDEO');
    const video = must(filming.provider.jobs?.VIDEO, 'job');
    const handle = await video.start(videoRequest(), contextFor(filming));
    const start = must(first.proxy.sent[0], 'request');
    expect(start.body.toString('latin1')).not.toContain('name="size"');
    await expect.poll(async () => (await video.status(handle, contextFor(filming))).state).toBe('finished');
    expect(new Set(sentTo(first).map(([, key]) => key))).toEqual(new Set([`Bearer ${KEYS.FIRST_KEY}`]));
    expect(sentTo(second)).toEqual([['/openai/v1/audio/speech', `Bearer ${KEYS.SECOND_KEY}`]]);
  });

  it('refuse the key of the other', async () => {
    const binding = bound('local', 'CHAT');
    const headers = { authorization: `Bearer ${KEYS.FIRST_KEY}` };
    const connection = { ...binding.connection, headers };
    expect(
      await catchFailure(must(binding.provider.chat?.(CHAT, makeContext(connection)), 'chat')),
    ).toMatchObject({ code: 'UNAVAILABLE', refusedCredentials: true });
  });

  it('are listed by model, and none is bound without one, or without its key', () => {
    expect(registry.models({ generator: 'local' }).map(({ id, provider }) => [id, provider])).toEqual([
      ['local-studio', 'openai-compatible'],
      ['local-rules', 'openai-compatible'],
      ['gpt-image-1', 'openai-compatible'],
    ]);
    expect(JSON.stringify(registry.models({}))).not.toContain('key-of');
    const server = '"provider": "openai-compatible", "baseUrl": "https://example.org/v1"';
    expect(() => readBindings(`{ "local": [{ ${server}, "kinds": ["IMAGE"] }] }`)).toThrow(
      /local\[0\]\.model is missing: Kiln knows no models of openai-compatible/,
    );
    const key = '"headers": { "authorization": "Bearer ${THIRD_KEY}" }';
    expect(() =>
      readBindings(`{ "local": [{ ${server}, ${key}, "model": "m", "kinds": ["CHAT"] }] }`),
    ).toThrow(/refers to \$\{THIRD_KEY\}, which is not set/);
  });
});

it('the examples of the page about the file are sound', () => {
  const page = readFileSync(new URL('../../../../docs/generators-file.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => text);
  expect(examples.length).toBeGreaterThan(2);
  for (const text of examples) {
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'a-key'] as const);
    expect(readBindings(text, Object.fromEntries(names)).generators()).toEqual(
      Object.keys(JSON.parse(text) as object),
    );
  }
});

describe('an error of a server with OpenAI’s API', () => {
  const stage = useScriptedProvider('openai-compatible');

  it.each([
    [{ error: { message: 'too long', type: 'invalid_request_error', code: 400 } }, 'too long'],
    [{ error: 'no such size' }, 'no such size'],
    [{ object: 'error', message: 'not now', code: 400 }, 'not now'],
    [{ whatever: true }, 'HTTP 400'],
  ])('is read from %o', async (body, message) => {
    stage.proxy.respondNext('/chat/completions', { status: 400, body });
    const chat = must(stage.provider.chat?.(CHAT, stage.context), 'chat');
    expect(await catchFailure(chat)).toMatchObject({ code: 'INVALID_INPUT', message: `openai: ${message}` });
  });
});
