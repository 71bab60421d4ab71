import { gunzipSync } from 'node:zlib';

import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Handler } from './middleware.ts';
import { startTestGateway, type TestGateway } from './server-under-test.fixture.ts';

const long = { items: Array.from({ length: 200 }, (_, id) => ({ id, name: 'one of many' })) };
const asJson: Handler = (_request, response) => response.json(long);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ files: asJson, hooks: asJson, rest: asJson });
});
afterAll(() => gateway.close());

async function ask(path: string, headers: Record<string, string> = {}, query?: string) {
  const answer = await request(`${gateway.url}${path}`, {
    method: query === undefined ? 'GET' : 'POST',
    headers: { 'accept-encoding': 'gzip', 'content-type': 'application/json', ...headers },
    ...(query === undefined ? {} : { body: JSON.stringify({ query }) }),
  });
  return {
    encoding: answer.headers['content-encoding'],
    vary: String(answer.headers['vary'] ?? ''),
    body: Buffer.from(await answer.body.arrayBuffer()),
  };
}

const tasks = 'tasks(first: 100) { edges { node { id previous { id } } } }';
const many = `{ ${tasks} }`;
/** More than a stream takes at once. */
const tooMany = `{ ${Array.from({ length: 9 }, (_, index) => `a${index}: ${tasks}`).join(' ')} }`;

describe('compression', () => {
  it.each([
    ['GraphQL', '/graphql', many],
    ['GraphQL that are written in parts', '/graphql', tooMany],
    ['REST', '/api/anything', undefined],
    ['pages', '/explorer/', undefined],
  ])('makes long answers of %s shorter', async (_, path, query) => {
    const plain = await ask(path, { 'accept-encoding': 'identity' }, query);
    const packed = await ask(path, {}, query);
    expect([plain.encoding, packed.encoding]).toEqual([undefined, 'gzip']);
    expect(packed.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(packed.body)).toEqual(plain.body);
    expect([plain.vary, packed.vary].join()).toMatch(/accept-encoding.*accept-encoding/i);
  });

  it('leaves short answers alone', async () => {
    expect((await ask('/graphql', {}, '{ hello }')).encoding).toBeUndefined();
  });

  it.each([
    ['Server-Sent Events', { accept: 'text/event-stream' }],
    ['multipart streams', { accept: 'multipart/mixed;subscriptionSpec=1.0' }],
  ])('leaves %s alone', async (_, headers) => {
    const { encoding, body } = await ask('/graphql', headers, 'subscription { ticks(to: 300) }');
    expect(encoding).toBeUndefined();
    expect(body.toString()).toContain('"ticks":300');
  });

  it.each(['/files/1/a.json', '/hooks/fal', '/auth/idp/token', '/AUTH/idp/token'])(
    'leaves %s alone',
    async (path) => {
      const { encoding, body } = await ask(path);
      expect(encoding).toBeUndefined();
      expect(JSON.parse(body.toString())).toEqual(long);
    },
  );
});
