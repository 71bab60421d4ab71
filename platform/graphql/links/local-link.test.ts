import { buildSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../access/caller.ts';
import { AppError } from '../../errors.ts';
import { silentLogger } from '../../process/logger.ts';
import { isStream } from '../operations/streams.ts';
import type { SubgraphRequest } from '../operations/subgraph.ts';
import { createLocalLink } from './local-link.ts';

const schema = buildSchema(`
  type Query { who: String fails: String hides: String }
  type Subscription { ticks(of: Int): Int refused: Int }
`);

/** What resolvers are asked with: a new one for each request. */
let contexts = 0;

function open() {
  const lines: unknown[] = [];
  const error = (fields: object | string, line?: string): void => void lines.push([fields, line]);
  Object.assign(schema.getQueryType()?.getFields()['who'] ?? {}, {
    resolve: (_: unknown, _values: object, { number }: { readonly number: number }) => `request ${number}`,
  });
  Object.assign(schema.getQueryType()?.getFields()['fails'] ?? {}, {
    resolve: () => {
      throw new AppError('NOT_FOUND', 'no such thing');
    },
  });
  Object.assign(schema.getQueryType()?.getFields()['hides'] ?? {}, {
    resolve: () => Promise.reject(new Error('a secret')),
  });
  Object.assign(schema.getSubscriptionType()?.getFields()['ticks'] ?? {}, {
    async *subscribe(_: unknown, { of: most }: { readonly of: number }) {
      for (let tick = 1; tick <= most; tick += 1) yield tick;
      throw new Error('a secret');
    },
    resolve: (tick: number) => {
      if (tick === 2) throw new AppError('CONFLICT', 'not this one');
      return tick;
    },
  });
  Object.assign(schema.getSubscriptionType()?.getFields()['refused'] ?? {}, {
    subscribe: () => {
      throw new AppError('FORBIDDEN', 'not you');
    },
  });
  const link = createLocalLink({
    subgraph: { name: 'media', schema, contextFor: () => ({ number: (contexts += 1) }) },
    logger: { ...silentLogger(), error },
  });
  const stopped = new AbortController();
  const ask = (query: string, more: Partial<SubgraphRequest> = {}): SubgraphRequest => ({
    query,
    variables: {},
    context: { caller: anonymousCaller('trace', null), signal: stopped.signal },
    ...more,
  });
  return { link, ask, lines, stopped };
}

describe('a subgraph in this process', () => {
  it('executes a text once it is valid, or a document that somebody has prepared, each with a context of its own', async () => {
    const { link, ask } = open();
    contexts = 0;
    expect(await link.execute(ask('{ who }'))).toEqual({ data: { who: 'request 1' } });
    const document = parse('{ other: who }');
    expect(await link.execute(ask('unread', { document }))).toEqual({ data: { other: 'request 2' } });
    const named = ask('query A { who } query B { b: who }', { operationName: 'B' });
    expect(await link.execute(named)).toEqual({ data: { b: 'request 3' } });
    const refused = await link.execute(ask('{ none }'));
    expect(refused.errors?.[0]?.extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' });
    expect(await link.check()).toEqual([]);
    await link.close();
  });

  it('shows what was foreseen, and logs and hides what was not', async () => {
    const { link, ask, lines } = open();
    const { data, errors } = await link.execute(ask('{ fails hides }'));
    expect(data).toEqual({ fails: null, hides: null });
    expect(errors?.map(({ message, extensions }) => [message, extensions['code']])).toEqual([
      ['no such thing', 'NOT_FOUND'],
      ['internal error', 'INTERNAL'],
    ]);
    expect(lines).toMatchObject([
      [{ traceId: 'trace', subgraph: 'media', path: 'hides' }, 'a resolver failed'],
    ]);
  });

  it('makes of what fails before it runs a result', async () => {
    const { ask } = open();
    const failing = createLocalLink({
      subgraph: {
        name: 'media',
        schema,
        contextFor: () => {
          throw new AppError('UNAVAILABLE', 'not now');
        },
      },
      logger: silentLogger(),
    });
    for (const result of [
      await failing.execute(ask('{ who }')),
      await failing.subscribe(ask('subscription { ticks(of: 1) }')),
    ])
      expect(result).toMatchObject({ errors: [{ message: 'not now', extensions: { code: 'UNAVAILABLE' } }] });
  });

  it('streams the results of events, also those of events that fail, until the source fails', async () => {
    const { link, ask } = open();
    const stream = await link.subscribe(ask('subscription { ticks(of: 3) }'));
    if (!isStream(stream)) throw new Error('refused');
    const results: unknown[] = [];
    for await (const { data, errors } of stream)
      results.push([data?.['ticks'], errors?.map(({ message }) => message)]);
    expect(results).toEqual([
      [1, undefined],
      [null, ['not this one']],
      [3, undefined],
      [undefined, ['internal error']],
    ]);
  });

  it('ends a stream whose caller hangs up', async () => {
    const { link, ask, stopped } = open();
    const stream = await link.subscribe(ask('subscription { ticks(of: 9) }'));
    if (!isStream(stream)) throw new Error('refused');
    expect(await stream.next()).toMatchObject({ value: { data: { ticks: 1 } } });
    stopped.abort();
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  it('refuses a subscription with what is wrong with it', async () => {
    const { link, ask } = open();
    expect(await link.subscribe(ask('subscription { none }'))).toMatchObject({
      errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    });
    expect(await link.subscribe(ask('subscription { refused }'))).toMatchObject({
      errors: [{ message: 'not you', extensions: { code: 'FORBIDDEN' } }],
    });
  });
});
