import { type ExecutionResult, GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';

import type { SubgraphLink, SubgraphRequest } from '../../platform/graphql/operations/subgraph.ts';
import { createCallerCache } from './caller-cache.ts';

/** A workflow subgraph whose lookups the test answers itself, in the order they came. */
function manualWorkflow() {
  const lookups: PromiseWithResolvers<ExecutionResult>[] = [];
  const link: SubgraphLink = {
    execute({ query }: SubgraphRequest) {
      if (!query.includes('callerOf')) return Promise.resolve({ data: {} });
      const lookup = Promise.withResolvers<ExecutionResult>();
      lookups.push(lookup);
      return lookup.promise;
    },
    subscribe: () => Promise.reject(new Error('unused')),
    check: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
  const answer = (index: number, id: string) =>
    lookups[index]?.resolve({
      data: {
        callerOf: { kind: 'user', id, scopes: [], generators: null, sessionId: null, expiresAt: null },
      },
    });
  return { link, lookups, answer };
}

const revocation = {
  query: 'mutation { revokeSession(id: "1") }',
  variables: {},
} as unknown as SubgraphRequest;

describe('the answers to credentials', () => {
  it('are asked for once, by whoever comes first', async () => {
    const { link, lookups, answer } = manualWorkflow();
    const { lookup } = createCallerCache(link);
    const asked = [lookup('a'), lookup('a')];
    answer(0, 'usr_1');
    const found = await Promise.all([...asked, lookup('a')]);
    expect(found).toMatchObject([{ id: 'usr_1' }, { id: 'usr_1' }, { id: 'usr_1' }]);
    expect(lookups).toHaveLength(1);
  });

  it('reach who waits while something is revoked, and nobody later', async () => {
    const { link, answer } = manualWorkflow();
    const cache = createCallerCache(link);
    const early = cache.lookup('a');
    await cache.link.execute(revocation);
    const late = cache.lookup('a');
    answer(0, 'usr_then');
    answer(1, 'usr_now');
    expect([await early, await late, await cache.lookup('a')]).toMatchObject([
      { id: 'usr_then' },
      { id: 'usr_now' },
      { id: 'usr_now' },
    ]);
  });

  it('are not kept when they come after a revocation', async () => {
    const { link, lookups, answer } = manualWorkflow();
    const cache = createCallerCache(link);
    const early = cache.lookup('a');
    await cache.link.execute(revocation);
    answer(0, 'usr_then');
    await early;
    const late = cache.lookup('a');
    answer(1, 'usr_now');
    expect(await late).toMatchObject({ id: 'usr_now' });
    expect(lookups).toHaveLength(2);
  });

  it.each(['revokeServiceKey', 'rotateServiceKey', 'endUserSessions', 'deleteAccount', 'deletePerson'])(
    'are asked for again after %s',
    async (name) => {
      const { link, lookups, answer } = manualWorkflow();
      const cache = createCallerCache(link);
      const before = cache.lookup('a');
      answer(0, 'key_1');
      await before;
      await cache.link.execute({ ...revocation, query: `mutation { ${name} { id } }` });
      void cache.lookup('a');
      expect(lookups).toHaveLength(2);
      answer(1, 'key_1');
    },
  );

  it('are no failures', async () => {
    const { link, lookups, answer } = manualWorkflow();
    const { lookup } = createCallerCache(link);
    const failed = lookup('a');
    lookups[0]?.resolve({ data: null });
    await expect(failed).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
    // As of a subgraph that knows the caller no more: nobody is anonymous by that.
    const refused = lookup('a');
    lookups[1]?.resolve({ data: { callerOf: null }, errors: [new GraphQLError('away')] });
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', cause: { message: 'away' } });
    const again = lookup('a');
    answer(2, 'usr_1');
    expect(await again).toMatchObject({ id: 'usr_1' });
  });

  it('are kept also where a credential is of nobody here, or not valid', async () => {
    const { link, lookups } = manualWorkflow();
    const { lookup } = createCallerCache(link);
    const [foreign, ended] = [lookup('a'), lookup('b')];
    lookups[0]?.resolve({ data: { callerOf: null } });
    const nothing = { scopes: [], generators: null, sessionId: null, expiresAt: null };
    lookups[1]?.resolve({ data: { callerOf: { kind: 'invalid', id: '', ...nothing } } });
    expect([await foreign, await ended, await lookup('a'), await lookup('b')]).toEqual([
      null,
      'invalid',
      null,
      'invalid',
    ]);
    expect(lookups).toHaveLength(2);
  });
});

it('is asked through a link that does all else as the link to workflow does', async () => {
  const { link } = manualWorkflow();
  const { link: own } = createCallerCache(link);
  expect(own).toEqual({ ...link, execute: expect.any(Function) });
  expect(await own.execute(revocation)).toEqual({ data: {} });
});
