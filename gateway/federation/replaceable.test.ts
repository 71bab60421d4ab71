import type { ExecutionResult } from 'graphql';
import { describe, expect, it } from 'vitest';

import type { AnswerParts } from '../../platform/graphql/operations/answers.ts';
import type { GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import { createPushStream, isStream } from '../../platform/graphql/operations/streams.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import type { FederatedExecutor } from './federation.ts';
import { createReplaceableFederation, type Graph } from './replaceable.ts';

const request = { query: '{ a }', variables: {} } as unknown as GraphqlRequest;
const link = (name: string) => ({ name }) as unknown as SubgraphLink;

/** A graph whose federation answers when the test says so, and what became of it. */
function graph(name: string, links: Record<string, SubgraphLink> = {}, text: string | null | Error = 'same') {
  const seen = { closed: 0, retired: 0, left: 0 };
  const ends: ((result: ExecutionResult) => void)[] = [];
  const feeds: ((result: ExecutionResult) => void)[] = [];
  const later = () => new Promise<ExecutionResult>((resolve) => ends.push(resolve));
  const federation = {
    execute: later,
    async executeInParts() {
      if (name === 'plain') return { data: { plain: 1 } };
      async function* parts(): AnswerParts {
        yield { data: { part: 1 }, hasNext: true };
        yield { hasNext: false };
      }
      return parts();
    },
    async subscribe() {
      if (name === 'refusing') return { errors: [] };
      if (name === 'slow') await later();
      const { stream, push } = createPushStream<ExecutionResult>({
        maxPending: 9,
        overflow: () => ({}),
        onEnd: () => void (seen.left += 1),
      });
      feeds.push(push);
      return stream;
    },
    outline() {
      if (text instanceof Error) throw text;
      return text === null ? null : { text, subgraphs: ['shop'] };
    },
    apiSchema: () => `schema of ${name}`,
    plan: (query: string) => `${name} plans ${query}`,
    planned: () => [{ query: name }],
    documents: {
      prepare: () => name,
      known: () => name,
      add: () => name,
      all: () => [name],
      bytes: name.length,
    },
    close: async () => void (seen.closed += 1),
  };
  const made: Graph = {
    federation: federation as unknown as FederatedExecutor,
    supergraphSdl: `sdl of ${name}`,
    links,
    retired: () => void (seen.retired += 1),
  };
  return { ...made, seen, end: (result: ExecutionResult = {}) => ends.shift()?.(result), feeds };
}

const subscribed = async (federation: FederatedExecutor) => {
  const stream = await federation.subscribe(request);
  if (!isStream<ExecutionResult>(stream)) throw new Error('no stream');
  return stream;
};
const readCode = ({ value }: IteratorResult<ExecutionResult>) =>
  (value as ExecutionResult | undefined)?.errors?.[0]?.extensions['code'];

describe('a federation whose graph is replaced', () => {
  it('serves the new one, and gives the old one up at once where nothing runs over it', () => {
    const [one, other] = [graph('one'), graph('other')];
    const federation = createReplaceableFederation(one);
    expect([federation.apiSchema(), federation.plan('{ a }', undefined), federation.documents.bytes]).toEqual(
      ['schema of one', 'one plans { a }', 3],
    );
    expect(federation.replace(other)).toEqual({ kept: 0, ended: 0 });
    expect([one.seen, other.seen]).toEqual([
      { closed: 1, retired: 1, left: 0 },
      { closed: 0, retired: 0, left: 0 },
    ]);
    const { documents } = federation;
    expect([
      federation.apiSchema(),
      [...federation.planned()],
      documents.prepare(''),
      documents.known(''),
      documents.add('', {} as never, []),
      [...documents.all()],
      documents.bytes,
    ]).toEqual(['schema of other', [{ query: 'other' }], 'other', 'other', 'other', ['other'], 5]);
  });

  it('keeps the old one until what runs over it has ended, well or not', async () => {
    const [one, other] = [graph('one'), graph('other')];
    const federation = createReplaceableFederation(one);
    const running = [federation.execute(request), federation.execute(request)];
    federation.replace(other);
    const next = federation.execute(request);
    one.end({ data: { one: 1 } });
    expect(await running[0]).toEqual({ data: { one: 1 } });
    expect(one.seen.retired).toBe(0);
    one.end();
    await running[1];
    expect(one.seen).toEqual({ closed: 1, retired: 1, left: 0 });
    other.end({ data: { other: 1 } });
    expect(await next).toEqual({ data: { other: 1 } });
    expect(other.seen.retired).toBe(0);
    const failing = graph('failing');
    (failing.federation as { execute: unknown }).execute = () => Promise.reject(new Error('no'));
    federation.replace(failing);
    const failed = federation.execute(request);
    federation.replace(graph('last'));
    await expect(failed).rejects.toThrow('no');
    expect(failing.seen.retired).toBe(1);
  });

  it('counts what runs over it anew after all that ran before', async () => {
    const shop = link('shop');
    const one = graph('one', { shop });
    const federation = createReplaceableFederation(one);
    const stream = await subscribed(federation);
    await stream.return?.();
    const before = federation.execute(request);
    one.end();
    await before;
    const running = federation.execute(request);
    federation.replace(graph('other', { shop }));
    expect(one.seen.retired).toBe(0);
    one.end();
    await running;
    expect(one.seen).toEqual({ closed: 1, retired: 1, left: 1 });
  });

  it('keeps it for an answer in parts until the last, or until its reader has left', async () => {
    const federation = createReplaceableFederation(graph('plain'));
    expect(await federation.executeInParts(request)).toEqual({ data: { plain: 1 } });
    for (const isRead of [true, false]) {
      const one = graph('one');
      federation.replace(one);
      const parts = (await federation.executeInParts(request)) as AnswerParts;
      await parts.next();
      federation.replace(graph('plain'));
      expect(one.seen.retired).toBe(0);
      if (isRead) for await (const _ of parts);
      else await parts.return(undefined);
      expect(one.seen.retired).toBe(1);
    }
  });

  it('lets a subscription go on that is the same over the new one, and ends others with the word to come again', async () => {
    const shop = link('shop');
    const one = graph('one', { shop });
    const federation = createReplaceableFederation(one);
    const stream = await subscribed(federation);
    expect(federation.replace(graph('same', { shop }))).toEqual({ kept: 1, ended: 0 });
    one.feeds[0]?.({ data: { a: 1 } });
    expect(await stream.next()).toEqual({ value: { data: { a: 1 } }, done: false });
    expect(one.seen.retired).toBe(0);
    // Over the next one it leads elsewhere.
    const waiting = stream.next();
    expect(federation.replace(graph('moved', { shop: link('shop') }))).toEqual({ kept: 0, ended: 1 });
    expect(readCode(await waiting)).toBe('SUBSCRIPTION_SCHEMA_RELOAD');
    expect([(await stream.next()).done, one.seen]).toEqual([true, { closed: 1, retired: 1, left: 1 }]);
  });

  it.each([
    ['another plan', 'other', 'same'],
    ['none', null, 'same'],
    ['none before', 'same', null],
    ['one that can not be made', new Error('no'), 'same'],
  ] as const)('ends a subscription that has %s over the new one', async (_, text, before) => {
    const shop = link('shop');
    const federation = createReplaceableFederation(graph('one', { shop }, before));
    const stream = await subscribed(federation);
    expect(federation.replace(graph('other', { shop }, text))).toEqual({ kept: 0, ended: 1 });
    expect(readCode(await stream.next())).toBe('SUBSCRIPTION_SCHEMA_RELOAD');
  });

  it('ends what was subscribed to while the graph was replaced, and gives it up when its reader leaves', async () => {
    const slow = graph('slow', { shop: link('shop') });
    const federation = createReplaceableFederation(slow);
    const subscribing = subscribed(federation);
    const refused = graph('refusing');
    federation.replace(refused);
    expect(slow.seen.retired).toBe(0);
    slow.end();
    const stream = await subscribing;
    expect(readCode(await stream.next())).toBe('SUBSCRIPTION_SCHEMA_RELOAD');
    expect(slow.seen.retired).toBe(1);
    expect(await federation.subscribe(request)).toEqual({ errors: [] });
    const shop = link('shop');
    const one = graph('one', { shop });
    federation.replace(one);
    expect(refused.seen.retired).toBe(1);
    const left = await subscribed(federation);
    federation.replace(graph('same', { shop }));
    await left.return?.();
    expect(one.seen).toEqual({ closed: 1, retired: 1, left: 1 });
  });

  it('tells Apollo Server of each graph, and closes all that are left', async () => {
    const shop = link('shop');
    const [one, other] = [graph('one', { shop }), graph('other', { shop })];
    const federation = createReplaceableFederation(one);
    const told: unknown[] = [];
    const stop = federation.gateway.onSchemaLoadOrUpdate(({ coreSupergraphSdl }) =>
      told.push(coreSupergraphSdl),
    );
    const { executor } = await federation.gateway.load({} as never);
    await subscribed(federation);
    federation.replace(other);
    const source = { source: '{ a }', request: { variables: undefined, operationName: 'A' }, context: {} };
    const answer = executor?.(source as never);
    other.end({ data: { other: 1 } });
    expect(await answer).toEqual({ data: { other: 1 } });
    stop();
    federation.replace(graph('last', { shop }));
    expect(told).toEqual(['sdl of one', 'sdl of other']);
    await federation.close();
    expect([one.seen.closed, other.seen.closed]).toEqual([1, 1]);
  });
});
