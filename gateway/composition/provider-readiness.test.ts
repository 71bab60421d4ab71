import { GraphQLError } from 'graphql';
import { afterEach, expect, it, vi } from 'vitest';

import type { GraphqlExecutor, GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import { createProviderReader } from './provider-readiness.ts';

afterEach(() => vi.restoreAllMocks());

it('what providers say is shared for five seconds', async () => {
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const asked: GraphqlRequest[] = [];
  const executor: GraphqlExecutor = {
    execute: async (request) => ({ data: { providerHealth: asked.push(request) } }),
    subscribe: async () => ({}),
  };
  const read = createProviderReader(executor);
  expect(asked).toEqual([]);
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  now += 5_000;
  expect(await read()).toBe(1);
  now += 1;
  expect([await read(), await read()]).toEqual([2, 2]);
  expect(asked[0]?.context.caller.kind).toBe('internal');
});

it('they are not known where media does not answer', async () => {
  const errors = [new GraphQLError('media is away'), new GraphQLError('and more')];
  const executor: GraphqlExecutor = {
    execute: async () => ({ data: { providerHealth: null }, errors }),
    subscribe: async () => ({}),
  };
  await expect(createProviderReader(executor)()).rejects.toThrow('media is away');
});
