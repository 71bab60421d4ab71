import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createEventBus } from '../../../platform/events/postgres/postgres-event-bus.ts';
import { UpstreamError } from '../domain/failure.ts';
import type { FileService } from '../files/files.ts';
import type { CatalogModel, GeneratorRegistry } from '../generators/bindings/binding.ts';
import { unknownModel } from '../generators/catalog/catalog.ts';
import type {
  ChatOutcome,
  ChatPiece,
  ChatRequest,
  Provider,
  RemoteFile,
} from '../providers/contract/provider.ts';
import {
  me,
  nobody,
  toRegistry,
  startEngine,
  stranger,
  until,
  type TestEngine,
} from '../tasks/testing/engine.ts';
import { testBinding } from '../tasks/testing/provider.ts';
import { PNG } from '../tasks/testing/upstream.ts';
import type { ChatChunk, ChatService } from './chat.ts';
import type { ChatInput } from './conversation/input.ts';
import { createChatService, type ChatServiceOptions } from './service.ts';

let engine: TestEngine;
const services: ChatService[] = [];
beforeAll(async () => {
  engine = await startEngine();
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});
afterAll(() => engine.stop());

/** A language model whose words come when the test says so. */
function talker() {
  const requests: ChatRequest[] = [];
  const ends: unknown[] = [];
  const words: (string | Error | null)[] = [];
  let wake: (() => void) | null = null;
  const put = (word: string | Error | null): void => {
    words.push(word);
    wake?.();
  };
  async function* chatStream(
    request: ChatRequest,
    { signal }: { signal: AbortSignal },
  ): AsyncIterable<ChatPiece> {
    requests.push(request);
    const text: string[] = [];
    const stop = () => wake?.();
    signal.addEventListener('abort', stop);
    try {
      for (;;) {
        signal.throwIfAborted();
        const word = words.shift();
        if (word === undefined) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        if (word instanceof Error) throw word;
        if (word === null) break;
        text.push(word);
        yield { delta: word };
      }
      ends.push('whole');
      yield {
        outcome: { text: text.join(''), model: 'm-1', usage: { inputTokens: 3, outputTokens: text.length } },
      };
    } catch (error) {
      ends.push(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
  const provider: Provider = { name: 'talker', chat: async () => outcome('never'), chatStream };
  return {
    provider,
    requests,
    ends,
    say: (...deltas: string[]) => deltas.forEach(put),
    end: () => put(null),
    fail: put,
  };
}

function outcome(text: string): ChatOutcome {
  return { text, model: 'm-1', usage: { inputTokens: 1, outputTokens: 1 } };
}

function answering(
  answer: (request: ChatRequest) => ChatOutcome | Promise<ChatOutcome>,
  name = 'answering',
): Provider {
  return { name, chat: async (request) => answer(request) };
}

function registryFor(...providers: Provider[]): GeneratorRegistry {
  return toRegistry(
    ...providers.map((provider, index) => testBinding(`llm#${index}`, provider, 'http://127.0.0.1:1')),
  );
}

function serviceFor(registry: GeneratorRegistry, change: Partial<ChatServiceOptions> = {}): ChatService {
  const service = createChatService({ ...engine, registry, ...change });
  services.push(service);
  return service;
}

const here = () => new AbortController().signal;
const ask = (content: unknown = 'hello', change: Partial<ChatInput> = {}): ChatInput => ({
  generator: 'llm',
  messages: [{ role: 'user', content }],
  ...change,
});

/** Pieces in order, however they come. */
function reader(chunks: AsyncIterableIterator<ChatChunk>) {
  const all: ChatChunk[] = [];
  const done = (async () => {
    for await (const chunk of chunks) all.push(chunk);
    return all;
  })();
  return { all, done, text: () => all.map(({ delta }) => delta).join('') };
}

describe('a streamed reply', () => {
  it('comes in pieces while it is made, and its last piece carries the whole of it', async () => {
    const { provider, say, end } = talker();
    const stream = await serviceFor(registryFor(provider)).stream(me, ask(), {
      idempotencyKey: 'pieces',
      signal: here(),
    });
    const { all, done, text } = reader(stream);
    say('Once ', 'upon ');
    await until(async () => text() === 'Once upon ');
    expect(all.every(({ reply }) => reply === null)).toBe(true);
    say('a time');
    end();
    await done;
    expect(all.map(({ index }) => index)).toEqual(all.map((_, index) => index));
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.at(-1)).toMatchObject({
      delta: '',
      reply: {
        text: 'Once upon a time',
        model: 'm-1',
        provider: 'talker',
        usage: { inputTokens: 3, outputTokens: 3 },
      },
    });
    expect(text()).toBe('Once upon a time');
  });

  it('is replayed and followed live at another process with the same key, and asked for once', async () => {
    const { provider, say, end, requests } = talker();
    const bus = await createEventBus({ database: engine.platformDatabase, logger: engine.logger });
    const [one, other] = [serviceFor(registryFor(provider)), serviceFor(registryFor(provider), { bus })];
    const key = { idempotencyKey: 'two', signal: here() };
    const first = reader(await one.stream(me, ask(), key));
    say('a', 'b');
    await until(async () => first.text() === 'ab');
    const second = reader(await other.stream(me, ask(), key));
    await until(async () => second.text() === 'ab');
    say('c');
    await until(async () => second.text() === 'abc');
    end();
    expect(await second.done).toEqual(await first.done);
    expect((await other.chat(me, ask(), key)).text).toBe('abc');
    await expect(reader(await other.stream(me, ask(), key)).done).resolves.toEqual(first.all);
    const [, ...others] = first.all;
    await expect(reader(await other.stream(me, ask(), { ...key, afterSeq: 1 })).done).resolves.toEqual(
      others,
    );
    expect(requests).toHaveLength(1);
    await until(async () => bus.listenerCount() === 0);
    await bus.close();
  });

  it('is read together for all who follow it', async () => {
    const { provider, say, end } = talker();
    const service = serviceFor(registryFor(provider));
    const key = { idempotencyKey: 'crowd', signal: here() };
    // In groups: more at once than a slow machine reads in its time would be told to come again.
    const crowd: Awaited<ReturnType<typeof reader>>[] = [];
    for (let group = 0; group < 6; group += 1) {
      const ones = Array.from({ length: 50 }, async () => reader(await service.stream(me, ask(), key)));
      crowd.push(...(await Promise.all(ones)));
    }
    let statements = 0;
    const count = () => (statements += 1);
    engine.pool.on('acquire', count);
    for (const words of ['a', 'ab', 'abc']) {
      say(words.at(-1) ?? '');
      await until(async () => crowd.every(({ text }) => text() === words));
    }
    end();
    const all = await Promise.all(crowd.map(({ done }) => done));
    engine.pool.off('acquire', count);
    expect(new Set(all.map((pieces) => pieces.at(-1)?.reply?.text))).toEqual(new Set(['abc']));
    expect(statements).toBeLessThan(300);
  });

  it('goes on when its subscriber leaves, who finds all of it on coming back', async () => {
    const { provider, say, end, requests, ends } = talker();
    const service = serviceFor(registryFor(provider));
    const listeners = engine.bus.listenerCount();
    const leaving = new AbortController();
    const stream = await service.stream(me, ask(), { idempotencyKey: 'leave', signal: leaving.signal });
    const first = reader(stream);
    say('some');
    await until(async () => first.text() === 'some');
    leaving.abort();
    expect((await first.done).at(-1)?.reply).toBeNull();
    const second = await service.stream(me, ask(), { idempotencyKey: 'leave', signal: here() });
    await second.next();
    // Leaving while nothing is said must not wait for the next word.
    const waiting = second.next();
    await second.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    say('thing');
    end();
    await until(async () => ends.length === 1);
    expect(ends).toEqual(['whole']);
    expect((await service.chat(me, ask(), { idempotencyKey: 'leave', signal: here() })).text).toBe(
      'something',
    );
    expect(requests).toHaveLength(1);
    expect(engine.bus.listenerCount()).toBe(listeners);
  });

  it('keeps characters whole that the provider cuts in two', async () => {
    const { provider, say, end } = talker();
    const service = serviceFor(registryFor(provider));
    const { text, done } = reader(
      await service.stream(me, ask(), { idempotencyKey: 'halves', signal: here() }),
    );
    say('a \ud83e');
    await until(async () => text() === 'a ');
    say('\udd8a\0 b');
    end();
    expect((await done).at(-1)?.reply?.text).toBe('a 🦊 b');
    expect(text()).toBe('a 🦊 b');
  });

  it('tells everybody why it failed, after what was said', async () => {
    const { provider, say, fail } = talker();
    const service = serviceFor(registryFor(provider));
    const key = { idempotencyKey: 'fails', signal: here() };
    const { text, done } = reader(await service.stream(me, ask(), key));
    say('half');
    fail(new UpstreamError('UNAVAILABLE', 'the line was cut', { retryable: true }));
    const failure = { code: 'UNAVAILABLE', message: 'the line was cut' };
    expect((await done).at(-1)).toMatchObject({
      delta: '',
      reply: null,
      error: { ...failure, retryable: true },
    });
    expect(text()).toBe('half');
    await expect(service.chat(me, ask(), key)).rejects.toMatchObject(failure);
  });

  it('says so when its server stops in the middle', async () => {
    const { provider, say, ends } = talker();
    const [one, other] = [serviceFor(registryFor(provider)), serviceFor(registryFor(provider))];
    const key = { idempotencyKey: 'stops', signal: here() };
    const { text, done } = reader(await one.stream(me, ask(), key));
    say('half');
    await until(async () => text() === 'half');
    await one.close();
    expect((await done).at(-1)?.error).toMatchObject({ code: 'START_UNKNOWN', message: /server stopped/ });
    expect(ends).toHaveLength(1);
    await expect(other.chat(me, ask(), key)).rejects.toMatchObject({ message: /new idempotencyKey/ });
    await expect(one.chat(me, ask(), { ...key, idempotencyKey: null })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  it('is given up by whoever finds it after its process died', async () => {
    const { provider, requests } = talker();
    const service = serviceFor(registryFor(provider));
    const key = { idempotencyKey: 'dead', signal: here() };
    await service.stream(me, ask(), key);
    await until(async () => requests.length === 1);
    // As a process that was killed leaves it: no end, and no sign of life any more.
    await service.close();
    await engine.pool.query(`update media.chat_replies set state = 'RUNNING', error = null, ended_at = null,
      alive_at = now() - interval '20 seconds' where state = 'FAILED' and chunks = 0`);
    const other = serviceFor(registryFor(provider));
    await expect(other.chat(me, ask(), key)).rejects.toMatchObject({ message: /server stopped while/ });
    expect(requests).toHaveLength(1);
  });

  it('is left by a process that was paused and comes back when others have given it up', async () => {
    const { provider, say, ends } = talker();
    const service = serviceFor(registryFor(provider));
    const { text, done } = reader(
      await service.stream(me, ask(), { idempotencyKey: 'paused', signal: here() }),
    );
    say('half');
    await until(async () => text() === 'half');
    await engine.pool.query(`update media.chat_replies set state = 'FAILED' where state = 'RUNNING'`);
    say('more');
    await until(async () => ends.length === 1);
    expect(ends).not.toContain('whole');
    expect((await done).at(-1)?.error).toMatchObject({ message: /server stopped/ });
    expect(text()).toBe('half');
  });

  it('is broken off when it takes too long', async () => {
    const { provider, say, ends } = talker();
    const service = serviceFor(registryFor(provider), { longestMs: 300 });
    say('slow');
    const { text, done } = reader(
      await service.stream(me, ask(), { idempotencyKey: 'slow', signal: here() }),
    );
    expect((await done).at(-1)?.error).toMatchObject({ code: 'TIMED_OUT', message: /took too long/ });
    expect(text()).toBe('slow');
    expect(ends).toHaveLength(1);
  });
});

describe('images of a reply', () => {
  const image = { content: PNG, contentType: 'image/png' };
  /** A service whose model draws these, and which files were made permanent for whom. */
  function drawing(...files: readonly RemoteFile[]) {
    const claims: (readonly [readonly string[], string])[] = [];
    const claim: FileService['claim'] = async (_, ids, owner) => void claims.push([ids, owner]);
    const registry = registryFor(answering(() => ({ ...outcome('here'), files })));
    return { claims, service: serviceFor(registry, { files: { ...engine.files, claim } }) };
  }

  it('are files of the caller, for who waits and for all who follow', async () => {
    const { service, claims } = drawing(image, image);
    const waited = await service.chat(me, ask(), { idempotencyKey: null, signal: here() });
    expect(await engine.files.byIds(waited.mediaIds)).toMatchObject([
      { owner: me.id, name: 'result-1', contentType: 'image/png' },
      { owner: me.id, name: 'result-2', contentType: 'image/png' },
    ]);
    const key = { idempotencyKey: 'drawn', signal: here() };
    const { done } = reader(await service.stream(me, ask(), key));
    const reply = (await done).at(-1)?.reply;
    expect(reply?.text).toBe('here');
    expect(claims).toEqual([
      [waited.mediaIds, me.id],
      [reply?.mediaIds, me.id],
    ]);
    expect(await service.chat(me, ask(), key)).toEqual(reply);
  });

  it('that can not be stored end the reply with the reason, and none of them stays', async () => {
    const page = { content: Buffer.from('<html>no</html>'), contentType: 'image/png' };
    const { service, claims } = drawing(image, page);
    const many = drawing(...Array.from({ length: 21 }, () => image));
    await expect(
      many.service.chat(me, ask(), { idempotencyKey: null, signal: here() }),
    ).rejects.toMatchObject({
      message: /more than 20 images/,
    });
    expect(many.claims).toEqual([]);
    const key = { idempotencyKey: 'page', signal: here() };
    const { done } = reader(await service.stream(me, ask(), key));
    expect((await done).at(-1)).toMatchObject({
      reply: null,
      error: { code: 'STORAGE_FAILED', message: /instead of an image/, retryable: false },
    });
    await expect(service.chat(me, ask(), { ...key, idempotencyKey: null })).rejects.toMatchObject({
      message: /could not be stored/,
    });
    expect(claims).toEqual([]);
  });
});

describe('an idempotency key', () => {
  it('makes one reply of many requests at once', async () => {
    let calls = 0;
    const service = serviceFor(registryFor(answering(() => outcome(`answer ${(calls += 1)}`))));
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => service.chat(me, ask(), { idempotencyKey: 'many', signal: here() })),
    );
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['answer 1']));
    expect(calls).toBe(1);
  });

  it('is refused for other words, and stands for nothing of other callers', async () => {
    const service = serviceFor(registryFor(answering(({ messages }) => outcome(JSON.stringify(messages)))));
    const key = { idempotencyKey: 'mine', signal: here() };
    await service.chat(me, ask('one'), key);
    await expect(service.chat(me, ask('two'), key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      field: 'idempotencyKey',
    });
    expect((await service.chat(stranger, ask('two'), key)).text).toContain('two');
    expect((await service.chat(nobody('1.1.1.1'), ask('three'), key)).text).toContain('three');
    expect((await service.chat(nobody('2.2.2.2'), ask('four'), key)).text).toContain('four');
    const conflict = { code: 'IDEMPOTENCY_CONFLICT' };
    await expect(service.chat(nobody('1.1.1.1'), ask('four'), key)).rejects.toMatchObject(conflict);
    await expect(service.chat(me, ask(), { ...key, idempotencyKey: '' })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'idempotencyKey',
    });
  });

  it('keeps calls of tools with the reply, in answers and streams', async () => {
    const toolCalls = [{ id: 'a', name: 'weather', arguments: { city: 'Oslo' } }];
    const service = serviceFor(registryFor(answering(() => ({ ...outcome(''), toolCalls }))));
    const key = { idempotencyKey: 'tools', signal: here() };
    const input = ask('weather?', { tools: [{ name: 'weather' }] });
    const reply = await service.chat(me, input, key);
    expect(reply).toMatchObject({ text: '', toolCalls });
    expect(await service.chat(me, input, key)).toEqual(reply);
    const chunks = await reader(await service.stream(me, input, key)).done;
    expect(chunks).toMatchObject([{ index: 0, delta: '', reply }]);
    // The tools belong to the request.
    await expect(service.chat(me, ask('weather?'), key)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('narrowed by joinSeconds stands for a reply in the making, and whoever follows that keeps it', async () => {
    let calls = 0;
    const gate = Promise.withResolvers<void>();
    const service = serviceFor(
      registryFor(
        answering(async () => {
          const answer = outcome(`answer ${(calls += 1)}`);
          await gate.promise;
          return answer;
        }),
      ),
    );
    const ask1 = (joinSeconds?: number) =>
      service.chat(me, ask('again'), { idempotencyKey: 'again', joinSeconds, signal: here() });
    const first = ask1(60);
    await until(async () => calls === 1);
    const options = { idempotencyKey: 'again', joinSeconds: 60, signal: here() };
    const joined = await service.stream(me, ask('again'), options);
    const apart = [ask1(0), ask1(0), ask1(0)];
    await until(async () => calls === 4);
    gate.resolve();
    const followed = await Array.fromAsync(joined);
    expect([(await first).text, followed.at(-1)?.reply?.text]).toEqual(['answer 1', 'answer 1']);
    const texts = await Promise.all(apart.map(async (one) => (await one).text));
    expect(texts.toSorted()).toEqual(['answer 2', 'answer 3', 'answer 4']);
    expect((await ask1()).text).toMatch(/^answer [2-4]$/);
    expect((await ask1(60)).text).toBe('answer 5');
  });

  it('is free again after a day', async () => {
    let calls = 0;
    const service = serviceFor(registryFor(answering(() => outcome(`answer ${(calls += 1)}`))));
    const key = { idempotencyKey: 'day', signal: here() };
    await service.chat(me, ask('day'), key);
    await engine.pool.query(`update media.chat_replies set created_at = now() - interval '25 hours'`);
    expect((await service.chat(me, ask('another day'), key)).text).toBe('answer 2');
  });
});

describe('the bindings of a generator', () => {
  const down = answering(() => {
    throw new UpstreamError('RATE_LIMITED', 'too much', { retryable: true, retryAfter: 7 });
  }, 'down');

  it('are asked in order until one answers', async () => {
    const service = serviceFor(
      registryFor(
        down,
        answering(() => outcome('second'), 'up'),
      ),
    );
    const key = { idempotencyKey: null, signal: here() };
    expect(await service.chat(me, ask(), key)).toMatchObject({ text: 'second', provider: 'up' });
    await expect(serviceFor(registryFor(down)).chat(me, ask(), key)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfter: 7,
    });
  });

  it('are not asked again after a refusal that stays, or once something was said', async () => {
    let asked = 0;
    const other = answering(() => outcome(`${(asked += 1)}`), 'other');
    const refusing = answering(() => {
      throw new UpstreamError('MODERATION_REFUSED', 'not this', { retryable: false });
    });
    const key = { idempotencyKey: null, signal: here() };
    await expect(serviceFor(registryFor(refusing, other)).chat(me, ask(), key)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: /moderation: not this/,
    });
    const { provider, say, fail } = talker();
    say('half');
    fail(new UpstreamError('UNAVAILABLE', 'cut', { retryable: true }));
    await expect(serviceFor(registryFor(provider, other)).chat(me, ask(), key)).rejects.toMatchObject({
      message: 'cut',
    });
    expect(asked).toBe(0);
  });

  it('take so many conversations at once, and the rest in order', async () => {
    let [running, most] = [0, 0];
    const provider = answering(async ({ messages }) => {
      most = Math.max(most, (running += 1));
      await expect.poll(() => most).toBeGreaterThan(1);
      running -= 1;
      return outcome(JSON.stringify(messages));
    });
    const registry = toRegistry(testBinding('llm#0', provider, 'http://127.0.0.1:1', { concurrency: 2 }));
    const service = serviceFor(registry);
    const key = { idempotencyKey: null, signal: here() };
    const replies = await Promise.all(
      Array.from({ length: 7 }, (_, n) => service.chat(me, ask(`n${n}`), key)),
    );
    expect(replies.map(({ text }, n) => text.includes(`n${n}`))).toEqual(Array(7).fill(true));
    expect(most).toBe(2);
  });

  it('lose a caller who hangs up before the turn came, and keep the turn of the next one', async () => {
    const { provider, say, end, requests } = talker();
    const registry = toRegistry(testBinding('llm#0', provider, 'http://127.0.0.1:1', { concurrency: 1 }));
    const service = serviceFor(registry);
    const leaving = new AbortController();
    const chat = (content: string, signal: AbortSignal) =>
      service.chat(me, ask(content), { idempotencyKey: null, signal });
    const first = chat('one', here());
    await until(async () => requests.length === 1);
    const second = chat('two', leaving.signal);
    const third = chat('three', here());
    // It is in the line once what it sends is prepared, in this turn of the event loop or soon after.
    await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(new Error('hung up'));
    await expect(second).rejects.toThrow('hung up');
    say('a');
    end();
    expect((await first).text).toBe('a');
    say('b');
    end();
    expect((await third).text).toBe('b');
    expect(JSON.stringify(requests.map(({ messages }) => messages))).not.toContain('two');
  });

  it('answer nobody while all of them are paused', async () => {
    const paused = testBinding(
      'llm#0',
      answering(() => outcome('x')),
      'http://127.0.0.1:1',
      {
        isPaused: () => true,
      },
    );
    const reply = serviceFor(toRegistry(paused)).chat(me, ask(), { idempotencyKey: null, signal: here() });
    await expect(reply).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
  });

  it.each([
    ['breaks off', 'the reply broke off', 1],
    ['does not end', 'the reply does not end', 3],
  ])('fail with a reply that %s', async (_, message, pieces) => {
    async function* chatStream(): AsyncIterable<ChatPiece> {
      for (let piece = 0; piece < pieces; piece += 1) yield { delta: 'x'.repeat(1 << 20) };
    }
    const service = serviceFor(registryFor({ name: 'endless', chat: async () => outcome('x'), chatStream }));
    const reply = service.chat(me, ask(), { idempotencyKey: null, signal: here() });
    await expect(reply).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(message),
    });
  });

  it('are left when the caller of a reply that is not kept hangs up', async () => {
    const { provider, say, ends, requests } = talker();
    const leaving = new AbortController();
    const service = serviceFor(registryFor(provider));
    const reply = service.chat(me, ask(), { idempotencyKey: null, signal: leaving.signal });
    say('x');
    await until(async () => requests.length === 1);
    leaving.abort(new Error('hung up'));
    await expect(reply).rejects.toThrow('hung up');
    expect(ends).toHaveLength(1);
  });
});

/** A call of a tool in OpenAI's format. */
const call = (id: string, given = '{"city":"Oslo"}') => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: given },
});

describe('a conversation', () => {
  const heard: ChatRequest[] = [];
  const listener = answering((request) => {
    heard.push(request);
    return outcome('yes');
  });
  const say = async (input: ChatInput, change: Partial<ChatServiceOptions> = {}) => {
    await serviceFor(registryFor(listener), change).chat(me, input, { idempotencyKey: null, signal: here() });
    return heard.at(-1);
  };

  it.each([
    [{ messages: 'hello' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: ['hello'] }, 'messages[0]'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: ' ' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [7] }] }, 'messages[0].content[0]'],
    [{ messages: [{ role: 'user', content: [{ type: 'smell' }] }] }, 'messages[0].content[0].type'],
    [
      {
        messages: [
          { role: 'user', content: Array.from({ length: 101 }, () => ({ type: 'text', text: 'x' })) },
        ],
      },
      'messages',
    ],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0].image_url'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'x' } }] }] },
      'messages[0].content[0].input_audio',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'media', media: { fileId: 'nothing' } }] }] },
      'messages[0].content[0].media',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'media', media: { url: 'ftp://x' } }] }] },
      'messages[0].content[0].media',
    ],
    [{ messages: Array.from({ length: 501 }, () => ({ role: 'user', content: 'x' })) }, 'messages'],
    [{ messages: [{ role: 'user', content: 'x'.repeat(500_001) }] }, 'messages'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0]'],
    [{ messages: [{ role: 'tool', content: 'x', tool_call_id: 'a' }] }, 'messages[0]'],
    [{ messages: [{ role: 'tool', content: 'x', tool_call_id: 7 }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'assistant', content: 'x', tool_calls: {} }] }, 'messages[0].tool_calls'],
    [{ messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] }, 'messages[0].tool_calls[0]'],
    [{ messages: [{ role: 'user', content: 'x', tool_calls: [call('a')] }] }, 'messages[0]'],
    [{ conversation: [{ role: 'USER', text: 'x' }] }, 'messages'],
    [{ messages: null }, 'conversation'],
    [{ messages: null, conversation: [] }, 'conversation'],
    [{ messages: null, conversation: [{ role: 'USER' }] }, 'conversation[0]'],
    [{ messages: null, conversation: [{ role: 'USER', text: 'x', parts: [] }] }, 'conversation[0]'],
    [{ messages: null, conversation: [{ role: 'USER', text: ' ' }] }, 'conversation[0].text'],
    [
      { messages: null, conversation: [{ role: 'USER', parts: [{ text: 'x', url: 'y' }] }] },
      'conversation[0].parts[0]',
    ],
    [
      { messages: null, conversation: [{ role: 'USER', parts: [{ url: 'data:text/plain;base64,eA==' }] }] },
      'conversation[0].parts[0]',
    ],
    [
      { messages: null, conversation: [{ role: 'USER', parts: [{ url: 'data:image/png,raw' }] }] },
      'conversation[0].parts[0]',
    ],
    [{ messages: null, conversation: [{ role: 'TOOL', text: 'x', toolCallId: 'none' }] }, 'conversation[0]'],
    [{ tools: Array.from({ length: 129 }, (_, index) => ({ name: `a${index}` })) }, 'tools'],
    [{ tools: [{ name: 'a b' }] }, 'tools[0].name'],
    [{ tools: [{ name: 'auto' }] }, 'tools[0].name'],
    [{ tools: [{ name: 'a' }, { name: 'a' }] }, 'tools[1].name'],
    [{ tools: [{ name: 'a', parameters: 7 }] }, 'tools[0].parameters'],
    [{ tools: [{ name: 'a' }], toolChoice: 'b' }, 'toolChoice'],
    [{ toolChoice: 'auto' }, 'toolChoice'],
    [{ responseFormat: { type: 'JSON_SCHEMA' } }, 'responseFormat.schema'],
    [{ responseFormat: { type: 'JSON_OBJECT', schema: {} } }, 'responseFormat.schema'],
    [{ responseFormat: { type: 'JSON_SCHEMA', schema: {}, name: '!' } }, 'responseFormat.name'],
    [{ temperature: 3 }, 'temperature'],
    [{ maxTokens: 0 }, 'maxTokens'],
    [{ generator: 'nobody' }, 'generator'],
  ])('is refused before anything is asked, naming the field: case %#', async (change, field) => {
    heard.length = 0;
    await expect(say(ask('hello', change as Partial<ChatInput>))).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field,
    });
    expect(heard).toEqual([]);
  });

  it('that is too long for a model is refused, naming those that would take it', async () => {
    const model = {
      kinds: ['CHAT'],
      generator: 'llm',
      maxPrompt: 20,
      isRetired: () => false,
    } as unknown as CatalogModel;
    const binding = (index: number, id: string, maxPrompt: number) =>
      testBinding(`llm#${index}`, listener, 'http://127.0.0.1:1', { models: [{ ...model, id, maxPrompt }] });
    const service = serviceFor(toRegistry(binding(0, 'short', 20), binding(1, 'long', 40)));
    const options = { idempotencyKey: null, signal: here() };
    await expect(service.chat(me, ask('x'.repeat(30), { model: 'short' }), options)).rejects.toMatchObject({
      field: 'messages',
      message: /at most 20 characters here, these have 30; models that take this request: long \(llm\)/,
    });
    expect((await service.chat(me, ask('x'.repeat(30)), options)).text).toBe('yes');
    await expect(service.chat(me, ask('x'.repeat(41)), options)).rejects.toMatchObject({
      message: /at most 40/,
    });
  });

  it('is passed on with its settings', async () => {
    const messages = [
      { role: 'assistant', content: '' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ];
    const settings = { system: 'be kind', temperature: 0.5, maxTokens: 9 };
    const options = {
      tools: [],
      toolChoice: null,
      responseFormat: null,
      reasoningEffort: null,
      vendorOptions: null,
    };
    const passed = { messages, ...settings, ...options };
    expect(await say({ generator: 'llm', messages, ...settings })).toEqual(passed);
    const conversation = [
      { role: 'ASSISTANT', text: '' },
      { role: 'USER', parts: [{ text: 'hi' }] },
    ] as const;
    expect(await say({ generator: 'llm', conversation, ...settings })).toEqual(passed);
  });

  it('carries calls of tools and their results, however they are written', async () => {
    const messages = [
      { role: 'user', content: 'weather?' },
      { role: 'assistant', content: '', tool_calls: [call('a')] },
      { role: 'tool', content: 'grey', tool_call_id: 'a' },
    ];
    const tools = [{ name: 'weather', description: 'of a city', parameters: {} }];
    const format = { type: 'JSON_SCHEMA', schema: true } as const;
    const options = { tools, toolChoice: 'weather', responseFormat: format, reasoningEffort: 'LOW' } as const;
    const passed = {
      messages,
      tools: [{ name: 'weather', description: 'of a city', parameters: {}, strict: null }],
      toolChoice: 'weather',
      responseFormat: { type: 'JSON_SCHEMA', name: 'answer', schema: true, strict: null },
      reasoningEffort: 'LOW',
    };
    expect(await say({ generator: 'llm', messages, ...options })).toMatchObject(passed);
    const asTheyCome = messages.map((one) => ('tool_calls' in one ? { ...one, content: null } : one));
    expect(await say({ generator: 'llm', messages: asTheyCome, ...options })).toMatchObject(passed);
    const conversation = [
      { role: 'USER', text: 'weather?' },
      { role: 'ASSISTANT', toolCalls: [{ id: 'a', name: 'weather', arguments: { city: 'Oslo' } }] },
      { role: 'TOOL', text: 'grey', toolCallId: 'a' },
    ] as const;
    expect(await say({ generator: 'llm', conversation, ...options })).toMatchObject(passed);
  });

  it.each([
    ['tools', { tools: [{ name: 'a' }] }],
    ['responseFormat', { responseFormat: { type: 'JSON_OBJECT' } }],
    ['reasoningEffort', { reasoningEffort: 'LOW' }],
    ['temperature', { temperature: 1 }],
    ['image', { messages: [{ role: 'user', content: [IMAGE] }] }],
    ['image', { messages: null, conversation: [{ role: 'USER', parts: [{ url: IMAGE.image_url.url }] }] }],
  ] as const)(
    'with %s is refused by a model that does not take it, naming one that does',
    async (input, change) => {
      const { inputs: all, ...known } = unknownModel('all', ['CHAT']);
      const binding = (id: string, inputs: readonly string[]) =>
        testBinding(`llm#${id}`, listener, 'http://127.0.0.1:1', {
          models: [
            {
              ...known,
              id,
              inputs,
              generator: 'llm',
              provider: 'answering',
              sandbox: false,
              daysLeft: () => null,
              isRetired: () => false,
            },
          ],
        });
      const service = serviceFor(toRegistry(binding('some', ['messages']), binding('all', all)));
      const options = { idempotencyKey: null, signal: here() };
      const request = { ...ask(), ...change } as ChatInput;
      await expect(service.chat(me, { ...request, model: 'some' }, options)).rejects.toMatchObject({
        field: input,
        message: `${input} is not taken by this model; models that take this request: all (llm)`,
      });
      // Without a model, the first binding that takes all of it answers.
      expect((await service.chat(me, request, options)).text).toBe('yes');
    },
  );

  it('takes files of ours and public addresses along as data', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex');
    const file = await engine.files.store({
      owner: me.id,
      body: [png] as unknown as AsyncIterable<Uint8Array>,
      name: 'a.png',
      declaredType: 'image/png',
      temporary: false,
      maxBytes: 1_000,
    });
    const files = {
      ...engine.files,
      idOfUrl: (url: string) => url.split('/files/')[1]?.split('/')[0] ?? null,
    };
    const { server, url } = await soundServer();
    const http = trusting(engine.http, url);
    const content = [
      { type: 'text', text: 'what is this?' },
      { type: 'image_url', image_url: { url: `https://kiln.example.org/files/${file.id}/a.png` } },
      { type: 'media', media: { fileId: file.id } },
      { type: 'input_audio', input_audio: { url: `${url}/a.wav` } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    ];
    const request = await say(ask(content), { files, http });
    server.close();
    const image = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${png.toString('base64')}` },
    };
    const [message] = (request?.messages ?? []) as unknown as { content: unknown }[];
    expect(message?.content).toEqual([
      content[0],
      image,
      image,
      { type: 'input_audio', input_audio: { data: WAV.toString('base64'), format: 'wav' } },
      content[4],
      content[5],
    ]);
    const parts = [{ fileId: file.id }, { url: 'data:video/mp4;base64,AAAA' }];
    const typed = await say({ generator: 'llm', conversation: [{ role: 'USER', parts }] }, { files });
    expect(typed?.messages).toEqual([
      {
        role: 'user',
        content: [image, { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }],
      },
    ]);
  });

  it('names the part whose address can not be fetched, or must not be', async () => {
    const { server, url } = await soundServer();
    const part = { type: 'media', media: { url: `${url}/gone` } };
    const field = 'messages[0].content[0].media';
    const refused = { code: 'BAD_USER_INPUT', field };
    await expect(say(ask([part]), { http: trusting(engine.http, url) })).rejects.toMatchObject(refused);
    // This machine's own addresses are not public.
    await expect(say(ask([part]))).rejects.toMatchObject(refused);
    server.close();
  });
});

const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

const WAV = Buffer.from(
  '524946462400000057415645666d74201000000001000100401f0000401f0000010008006461746100000000',
  'hex',
);

async function soundServer(): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/a.wav' ? 200 : 404;
    response.end(WAV);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The same client, for which this one origin counts as public. */
function trusting(http: TestEngine['http'], origin: string): TestEngine['http'] {
  return { ...http, request: (request) => http.request({ ...request, trustedOrigins: [origin] }) };
}
