import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { afterEach, describe, expect, test } from 'vitest';

import { type TestGateway, post, startTestGateway, until } from '../../server/server-under-test.fixture.ts';

let gateway: TestGateway | undefined;
const clients: ApolloClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.stop();
  await gateway?.close();
  gateway = undefined;
});

function apollo(url: string): ApolloClient {
  const link = new HttpLink({ uri: `${url}/graphql` });
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  clients.push(client);
  return client;
}

const PROGRESS = gql`
  subscription ($id: ID!) {
    taskProgress(id: $id) {
      seq
      progress
      task {
        id
        template
      }
    }
  }
`;
const ACCEPT = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json';

describe("Apollo's multipart subscriptions", () => {
  test('reach Apollo Client one by one, with fields of the other subgraph, and complete', async () => {
    gateway = await startTestGateway();
    const { world } = gateway;
    const seen: unknown[] = [];
    let isComplete = false;
    apollo(gateway.url)
      .subscribe({ query: PROGRESS, variables: { id: 't1' } })
      .subscribe({ next: ({ data }) => void seen.push(data), complete: () => (isComplete = true) });
    await until(() => world.listenerCount() === 1);
    // Each event arrives before the next one is made: no part waits for its successor.
    for (const progress of [10, 50, 100]) {
      world.advance('t1', progress);
      await until(() => seen.length === [10, 50, 100].indexOf(progress) + 1);
    }
    world.finish('t1');
    await until(() => isComplete);
    expect(seen).toMatchObject(
      [10, 50, 100].map((progress, index) => ({
        taskProgress: { seq: index + 1, progress, task: { id: 't1', template: 'template of t1' } },
      })),
    );
    expect(world.listenerCount()).toBe(0);
  });

  test('end their source when Apollo Client unsubscribes', async () => {
    gateway = await startTestGateway();
    const { world } = gateway;
    const subscription = apollo(gateway.url)
      .subscribe({ query: PROGRESS, variables: { id: 'quiet' } })
      .subscribe({ next: () => undefined });
    await until(() => world.listenerCount() === 1);
    subscription.unsubscribe();
    await until(() => world.listenerCount() === 0);
    expect(world.listenerCount()).toBe(0);
  });

  test('tell Apollo Client why they were refused', async () => {
    gateway = await startTestGateway();
    const errors: unknown[] = [];
    apollo(gateway.url)
      .subscribe({ query: PROGRESS, variables: { id: 'unknown' } })
      .subscribe({ next: ({ error }) => void errors.push(error), error: (error) => void errors.push(error) });
    await until(() => errors.length > 0);
    expect(String(errors[0])).toContain('no such task');
  });

  test('leave queries, mutations and refused documents to the ordinary answer', async () => {
    gateway = await startTestGateway();
    expect((await post(gateway, { query: '{ hello }' }, { accept: ACCEPT })).body.data).toEqual({
      hello: 'hi',
    });
    const refused = await post(gateway, { query: 'subscription { nothing }' }, { accept: ACCEPT });
    expect(refused.status).toBe(400);
    expect(refused.body.errors?.[0]?.extensions).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
  });

  test('are ended with a reason when their subgraph stays away', async () => {
    gateway = await startTestGateway({ resumeMs: 0 });
    const { world } = gateway;
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: ACCEPT },
      body: JSON.stringify({ query: 'subscription { taskProgress(id: "quiet") { seq } }' }),
    });
    await until(() => world.listenerCount() === 1);
    world.isUnavailable = true;
    world.breakOff();
    const text = await response.text();
    const [part = ''] = text.split('\r\n').filter((line) => line.includes('errors'));
    expect(JSON.parse(part)).toMatchObject({
      payload: null,
      errors: [{ extensions: { code: 'UNAVAILABLE' } }],
    });
    expect(text.endsWith('--graphql--\r\n')).toBe(true);
  });

  test('are ended with a reason when the server stops', async () => {
    gateway = await startTestGateway();
    const { world } = gateway;
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: ACCEPT },
      body: JSON.stringify({ query: 'subscription { taskProgress(id: "quiet") { seq } }' }),
    });
    await until(() => world.listenerCount() === 1);
    await gateway.close();
    const text = await response.text();
    const reason = {
      payload: null,
      errors: [{ message: 'the server is stopping: subscribe again', extensions: { code: 'UNAVAILABLE' } }],
    };
    expect(text.endsWith(`\r\n\r\n${JSON.stringify(reason)}\r\n--graphql--\r\n`)).toBe(true);
    expect(world.listenerCount()).toBe(0);
    gateway = undefined;
  });
});
