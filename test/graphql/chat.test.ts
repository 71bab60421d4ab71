import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { EventSource } from 'eventsource';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphqlClient } from './graphql-client.ts';

/** Chat over a live server, at the stand-in of a language model: whole, and in pieces over every kind of stream. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln();
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

const CHAT = `mutation ($input: ChatInput!, $key: String) {
  chat(input: $input, idempotencyKey: $key) { text model provider usage { inputTokens outputTokens } }
}`;
const STREAM = `subscription ($input: ChatInput!, $key: String!, $afterSeq: Int) {
  chatStream(input: $input, idempotencyKey: $key, afterSeq: $afterSeq) {
    index delta reply { text model provider usage { inputTokens outputTokens } } error { code message }
  }
}`;
const makeInput = (content: unknown) => ({ generator: 'llm', messages: [{ role: 'user', content }] });

interface Piece {
  readonly index: number;
  readonly delta: string;
  readonly reply: { readonly text: string } | null;
  readonly error: { readonly code: string } | null;
}

/** Everything that comes over graphql-ws until the end. */
async function overWebSocket(
  variables: Record<string, unknown>,
  {
    url,
    pieces = [],
    query = STREAM,
  }: { readonly url: string; readonly pieces?: Piece[]; readonly query?: string } = kiln,
): Promise<Piece[]> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  for await (const { data, errors } of client.iterate<{ chatStream: Piece }>({ query, variables })) {
    expect(errors).toBeUndefined();
    if (data) pieces.push(data.chatStream);
  }
  await client.dispose();
  return pieces;
}

/** The same as an EventSource. */
async function overEvents(variables: Record<string, unknown>): Promise<Piece[]> {
  const search = new URLSearchParams({ query: STREAM, variables: JSON.stringify(variables) });
  const source = new EventSource(`${kiln.url}/graphql?${search.toString()}`);
  const pieces: Piece[] = [];
  source.addEventListener('next', ({ data }) => {
    const result = JSON.parse(String(data)) as { data: { chatStream: Piece } };
    pieces.push(result.data.chatStream);
  });
  await new Promise((resolve) => source.addEventListener('complete', resolve));
  source.close();
  return pieces;
}

const joinText = (pieces: readonly Piece[]) => pieces.map(({ delta }) => delta).join('');

describe('chat', () => {
  it('answers, and the same key streams the same words without asking again', async () => {
    const input = makeInput('Tell me about lighthouses.');
    const { chat } = await asking.ok(CHAT, { input, key: 'lighthouse' });
    expect(chat).toMatchObject({ provider: 'openai', usage: { inputTokens: expect.any(Number) as number } });
    expect(chat.text.length).toBeGreaterThan(10);
    const pieces = await overWebSocket({ input, key: 'lighthouse' });
    expect(joinText(pieces)).toBe(chat.text);
    expect(pieces.at(-1)?.reply).toEqual(chat);
    expect(await overEvents({ input, key: 'lighthouse' })).toEqual(pieces);
    const later = await overEvents({ input, key: 'lighthouse', afterSeq: pieces.length - 1 });
    expect(later).toEqual(pieces.slice(-1));
    expect((await asking.ok(CHAT, { input, key: 'lighthouse' })).chat).toEqual(chat);
  });

  it('streams over two kinds of sockets at once, as one reply', async () => {
    const variables = { input: makeInput('Tell me about lighthouses, and then about the sea.'), key: 'both' };
    const [one, other] = await Promise.all([overWebSocket(variables), overEvents(variables)]);
    expect(one).toEqual(other);
    expect(one.at(-1)?.reply?.text).toBe(joinText(one));
  });

  it('sees an image that was made here', async () => {
    const { generateImage } = await asking.ok(
      'mutation { generateImage(input: { generator: "union", prompt: "a red fox" }) { id } }',
    );
    const { outputs } = await asking.ended(generateImage.id as string);
    const image = { type: 'image_url', image_url: { url: outputs[0].url as string } };
    const { chat } = await asking.ok(CHAT, {
      input: makeInput([{ type: 'text', text: 'What is this?' }, image]),
    });
    expect(chat.text).not.toBe('');
  });

  const weather = {
    name: 'get_weather',
    description: 'Weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string', enum: ['Oslo', 'Rome'] } } },
  };
  const REPLY = 'reply { text toolCalls { id name arguments } }';

  it.each(['llm', 'llm/altllm'])(
    'calls a tool at %s, whole and streamed, and goes on with its result',
    async (generator) => {
      const question = { role: 'USER', text: 'get weather of Rome' };
      const input = { generator, conversation: [question], tools: [weather] };
      const query = `mutation ($input: ChatInput!, $key: String) {
      chat(input: $input, idempotencyKey: $key) { text toolCalls { id name arguments } }
    }`;
      const key = `tool ${generator}`;
      const { chat } = await asking.ok(query, { input, key });
      expect(chat).toMatchObject({
        text: '',
        toolCalls: [{ name: 'get_weather', arguments: { city: 'Rome' } }],
      });
      const stream = `subscription ($input: ChatInput!, $key: String!) {
      chatStream(input: $input, idempotencyKey: $key) { index delta ${REPLY} error { code message } }
    }`;
      const pieces = await overWebSocket({ input, key: `${key} streamed` }, { url: kiln.url, query: stream });
      expect(pieces.at(-1)?.reply).toMatchObject({ text: '', toolCalls: [{ arguments: { city: 'Rome' } }] });
      const toolCalls = chat.toolCalls as readonly { readonly id: string }[];
      const conversation = [
        question,
        { role: 'ASSISTANT', toolCalls },
        { role: 'TOOL', toolCallId: toolCalls[0]?.id, text: 'sunny' },
      ];
      expect((await asking.ok(CHAT, { input: { ...input, conversation } })).chat.text).toContain('sunny');
    },
  );

  it.each([
    ['llm', 'gpt-5-mini'],
    ['llm/altllm', 'gemini-2.5-flash'],
  ])('answers JSON by a schema, after little thought, at %s', async (generator, model) => {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const input = {
      generator,
      model,
      conversation: [{ role: 'USER', parts: [{ text: 'Name a lighthouse, as JSON.' }] }],
      responseFormat: { type: 'JSON_SCHEMA', name: 'lighthouse', schema },
      reasoningEffort: 'LOW',
    };
    const { chat } = await asking.ok(CHAT, { input });
    expect(JSON.parse(chat.text as string)).toEqual({ name: expect.any(String) as string });
  });

  it('refuses by name what a model does not take, and says which does', async () => {
    const input = { ...makeInput('x'), model: 'gpt-4o', reasoningEffort: 'LOW' };
    expect(await asking.refusal(CHAT, { input })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'reasoningEffort',
      message: expect.stringContaining('gpt-5-mini (llm)') as string,
    });
  });

  it('tells at the end of the stream why there is no reply', async () => {
    await kiln.control('faults', { wire: 'openai', operation: 'chat', fault: 'server-error', times: 1 });
    const pieces = await overEvents({ input: makeInput('Hello there'), key: 'fails' });
    expect(pieces.at(-1)).toMatchObject({ delta: '', reply: null, error: { code: 'UNAVAILABLE' } });
    expect(await overWebSocket({ input: makeInput('Hello there'), key: 'fails' })).toEqual(pieces);
  });

  it.each([
    [{ ...makeInput('x'), generator: 'imga' }, 'generator'],
    [{ ...makeInput('x'), model: 'gpt-none' }, 'model'],
    [makeInput([{ type: 'smell' }]), 'messages[0].content[0].type'],
  ])('refuses %j, naming the field', async (input, field) => {
    expect(await asking.refusal(CHAT, { input })).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });
});

describe('a language model that takes its time', () => {
  /** Speaks the wire of chat completions, one word whenever the test says so. */
  const answers: ServerResponse[] = [];
  const upstream = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    answers.push(response);
  });
  const say = (delta: object, finish: string | null = null) =>
    answers
      .at(-1)
      ?.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'slow-1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
  let patient: KilnUnderTest;
  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    const settings = {
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: `http://127.0.0.1:${port}`,
      REST_AUTH: 'open',
    };
    patient = await startKiln({ settings });
  });
  afterAll(async () => {
    await patient.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  it('is heard word by word, by those who come late from the start, and asked once', async () => {
    const variables = { input: makeInput('Slowly, please.'), key: 'slow' };
    const early: Piece[] = [];
    const late: Piece[] = [];
    const first = overWebSocket(variables, { url: patient.url, pieces: early });
    await until(
      async () => answers.length,
      (count) => count === 1,
    );
    for (const word of ['Once ', 'upon ']) {
      say({ content: word });
      await until(
        async () => joinText(early),
        (text) => text.endsWith(word),
      );
    }
    const second = overWebSocket(variables, { url: patient.url, pieces: late });
    await until(
      async () => joinText(late),
      (text) => text === 'Once upon ',
    );
    say({ content: 'a time.' });
    say({}, 'stop');
    answers[0]?.end('data: [DONE]\n\n');
    expect(await second).toEqual(await first);
    expect(early.map(({ delta }) => delta)).toEqual(['Once ', 'upon ', 'a time.', '']);
    expect(early.at(-1)?.reply).toMatchObject({
      text: 'Once upon a time.',
      model: 'slow-1',
      provider: 'openai',
    });
    expect(answers).toHaveLength(1);
  });
});

describe('a kept conversation', () => {
  const FIELDS = 'id title generator model system temperature maxTokens options currentId revision';
  const SAVE = `mutation ($id: ID!, $input: ConversationInput!) { saveConversation(id: $id, input: $input) { ${FIELDS} } }`;
  const MESSAGES =
    'query ($id: ID!) { conversationMessages(id: $id) { id parentId role text model files { id contentType } } }';

  it('is read back as it was saved, by whoever knows its id where nobody signs in', async () => {
    const made = await asking.ok(
      'mutation { generateImage(input: { generator: "imga", prompt: "a fox" }) { id } }',
    );
    const { outputs } = await asking.ended(made.generateImage.id);
    const [id, asked, answered] = [randomUUID(), randomUUID(), randomUUID()];
    const input = {
      title: 'Foxes',
      generator: 'llm',
      model: null,
      system: 'Be brief.',
      temperature: 0.5,
      maxTokens: 90,
      options: { top_p: 0.9 },
      currentId: answered,
    };
    const messages = [
      { id: asked, role: 'USER', text: 'What is it?', mediaIds: [outputs[0].id] },
      { id: answered, parentId: asked, role: 'ASSISTANT', text: 'A fox.', model: 'gpt' },
    ];
    const saved = (await asking.ok(SAVE, { id, input: { ...input, messages } })).saveConversation;
    expect(saved).toEqual({ ...input, id, revision: expect.any(String) });
    const read = `query ($id: ID!) { conversation(id: $id) { ${FIELDS} } conversations(search: "A FOX", ids: [$id]) { ${FIELDS} } }`;
    expect(await asking.ok(read, { id })).toEqual({ conversation: saved, conversations: [saved] });
    expect((await asking.ok(MESSAGES, { id })).conversationMessages).toEqual([
      {
        id: asked,
        parentId: null,
        role: 'USER',
        text: 'What is it?',
        model: null,
        files: [
          {
            id: outputs[0].id,
            contentType: 'image/png',
          },
        ],
      },
      { id: answered, parentId: asked, role: 'ASSISTANT', text: 'A fox.', model: 'gpt', files: [] },
    ]);
    const bare = { title: 'Foxes', generator: 'llm' };
    const { saveConversation } = await asking.ok(SAVE, { id, input: bare });
    const empty = { model: null, system: null, temperature: null, maxTokens: null, options: null };
    expect(saveConversation).toMatchObject({ ...bare, ...empty, id });
    expect(saveConversation.revision > saved.revision).toBe(true);
    await asking.ok('mutation ($id: ID!) { deleteConversation(id: $id) { id } }', { id });
    expect(await asking.refusal(MESSAGES, { id })).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('what is asked without a task', () => {
  it('answers comfy workflows with their inputs', async () => {
    const { comfyWorkflows } = await asking.ok('{ comfyWorkflows { name inputs category } }');
    expect(comfyWorkflows[0]).toMatchObject({
      name: 'text-to-image',
      inputs: { prompt: { required: true } },
    });
  });

  it('answers what speaks against a prompt', async () => {
    const query = '{ checkPrompt(generator: "imga", prompt: "gore") { allowed reasons } }';
    expect((await asking.ok(query)).checkPrompt).toMatchObject({ allowed: false, reasons: [/gore/] });
  });

  it('refuses voices of a generator that has none', async () => {
    expect(await asking.refusal('{ voices(generator: "llm") { id } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'generator',
    });
  });
});
