import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { noMetrics } from '../../../platform/metrics/metrics.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import { createGraphSource, linksFromSupergraph } from './graph-source.ts';
import { checkSharedReads, createLinkStore, isOurs } from './links.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'kiln-links-'));
const write = (name: string, text: string) => {
  const file = path.join(directory, name);
  writeFileSync(file, text);
  return file;
};
/** A subgraph that tells its schema, and what it was asked with. */
const asked: { readonly headers: object; readonly body: unknown }[] = [];
let isSilent = false;
let schema: object = { data: { _service: { sdl: 'type Query { stock: Int }' } } };
const server = createServer((request, response) => {
  void json(request).then((body) => {
    asked.push({ headers: request.headers, body });
    if (!isSilent) response.setHeader('x-shop', 'told').end(JSON.stringify(schema));
  });
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

const logger = silentLogger();
const parts = (split: object = {}, gatewayFile: object | null = null) =>
  ({
    logger,
    config: {
      split: {
        isOtherGraph: true,
        mediaUrls: null,
        workflowUrls: null,
        internalKey: null,
        sharedReads: [],
        ...split,
      },
      gatewayFile,
    },
  }) as never;
const createSource = (subgraphs: object | string, gatewayFile: object | null = null) => {
  const text = typeof subgraphs === 'string' ? subgraphs : JSON.stringify({ subgraphs });
  const subgraphsFile = write('subgraphs.json', text);
  return createGraphSource(parts({ supergraphFile: null, subgraphsFile }, gatewayFile));
};

describe('the files of another graph', () => {
  it('are composed of schemas in files and of those that subgraphs tell', async () => {
    const shop = write('shop.graphql', 'type Query { shop: Int }');
    const config = write('gateway.yaml', 'subgraphs:\n  shop: { retries: 2 }\n');
    const source = createSource(
      {
        shop: { url: 'http://shop.test/graphql', schema: 'shop.graphql' },
        stock: { url: `${origin}/graphql` },
      },
      { path: config },
    );
    const { supergraphSdl, file } = await source.read();
    expect(await source.change()).toBeNull();
    const named = [path.join(directory, 'subgraphs.json'), config, shop];
    for (const one of named) utimesSync(one, 1, 1);
    expect((await source.change())?.split('\n').map((line) => line.split(' ')[0])).toEqual(named);
    expect(file?.subgraphs?.['shop']?.retries).toBe(2);
    expect(supergraphSdl).toMatch(/@join__graph\(name: "shop", url: "http:\/\/shop\.test\/graphql"\)/);
    expect(supergraphSdl).toContain(`url: "${origin}/graphql"`);
    expect(asked.splice(0)).toMatchObject([
      { headers: { 'content-type': 'application/json' }, body: { query: '{ _service { sdl } }' } },
    ]);
    const whole = write('supergraph.graphql', supergraphSdl);
    const single = createGraphSource(parts({ supergraphFile: whole, subgraphsFile: null }));
    expect(await single.read()).toEqual({ supergraphSdl, file: undefined });
    rmSync(whole);
    expect(await single.change()).toBe(`${whole} away`);
  });

  it('are refused with what is wrong', async () => {
    const mistake = async (subgraphs: object | string) =>
      createSource(subgraphs)
        .read()
        .then(
          () => 'none',
          (error: Error) => error.message,
        );
    expect(await mistake({ shop: {} })).toContain('subgraphs.shop.url must be the address of its GraphQL');
    expect(await mistake({ shop: { url: 'ftp://x' } })).toContain('must begin with http:// or https://');
    expect(await mistake({ shop: { url: 'http://x', schema: 7 } })).toContain('must be the path of a file');
    expect(await mistake('{"subgraphs": []}')).toContain('must be an object: name of a subgraph');
    expect(await mistake('{"others": {}}')).toContain('others');
    expect(await mistake({ shop: { url: 'http://x', schema: 'none.graphql' } })).toContain(
      'the schema of shop: ENOENT',
    );
    write('broken.graphql', 'type Query {');
    expect(await mistake({ shop: { url: 'http://x', schema: 'broken.graphql' } })).toContain(
      '--subgraphs: the schema of shop:',
    );
    write('one.graphql', 'type Query { a: Int }');
    write('other.graphql', 'type Query { a: String }');
    const both = {
      one: { url: 'http://x', schema: 'one.graphql' },
      other: { url: 'http://y', schema: 'other.graphql' },
    };
    expect(await mistake(both)).toContain('--subgraphs: they do not compose\n  ');
    schema = { errors: [{ message: 'no' }] };
    expect(await mistake({ stock: { url: `${origin}/graphql` } })).toContain(
      `the schema of stock: ${origin}/graphql answers HTTP 200 without _service { sdl }`,
    );
  });
});

describe('the links of another graph', () => {
  let sdl: string;
  beforeAll(async () => {
    write('shop.graphql', 'type Query { shop: Int }');
    write('media.graphql', 'type Query { media: Int }');
    const source = createSource({
      shop: { url: 'http://127.0.0.1:1/graphql', schema: 'shop.graphql' },
      media: { url: 'http://127.0.0.1:2/graphql', schema: 'media.graphql' },
    });
    ({ supergraphSdl: sdl } = await source.read());
  });
  const file = (shop: object = {}, more: object = {}) => ({ subgraphs: { shop }, ...more }) as GatewayFile;

  it('lead to the addresses that it names, or that the configuration does', async () => {
    const seen = linksFromSupergraph(sdl, (subgraph) => subgraph as never);
    expect(seen).toMatchObject({
      shop: { name: 'shop', url: 'http://127.0.0.1:1/graphql' },
      media: { name: 'media' },
    });
    const without = sdl.replace('http://127.0.0.1:1/graphql', '');
    expect(() => linksFromSupergraph(without, () => ({}) as never)).toThrow(
      'names no URL for the subgraphs shop',
    );
    const mediaUrls = ['http://127.0.0.1:3/graphql', 'http://127.0.0.1:4/graphql'];
    const store = createLinkStore(parts({ mediaUrls }), { metrics: noMetrics });
    const { urls, close } = store.open(sdl, file({ url: 'http://127.0.0.1:5/graphql' }));
    expect(urls).toEqual({ shop: ['http://127.0.0.1:5/graphql'], media: mediaUrls });
    close();
    await store.close();
  });

  it('are the same ones where nothing has changed for a subgraph, until no graph has them', async () => {
    const store = createLinkStore(parts({ mediaUrls: ['http://127.0.0.1:3/graphql'] }), {
      metrics: noMetrics,
    });
    const first = store.open(sdl, file());
    expect(Object.keys(store.readiness).toSorted()).toEqual(['media', 'shop']);
    const readyBefore = store.readiness['shop'];
    const second = store.open(sdl, file());
    expect(second.links['shop']).toBe(first.links['shop']);
    const third = store.open(sdl, file({ retries: 1 }));
    expect(third.links['shop']).not.toBe(first.links['shop']);
    // One of ours stays what it is: callers are looked up over it.
    expect(third.links['media']).toBe(first.links['media']);
    const fourth = store.open(sdl, file({}, { headers: [{ remove: 'x' }] }));
    expect(fourth.links['shop']).not.toBe(first.links['shop']);
    expect(store.readiness['shop']).toBe(readyBefore);
    store.serve(third);
    expect(store.readiness['shop']).not.toBe(readyBefore);
    first.close();
    expect(store.open(sdl, file()).links['shop']).toBe(second.links['shop']);
    second.close();
    second.close();
    expect(store.open(sdl, file()).links['shop']).not.toBe(first.links['shop']);
    await store.close();
  });

  it('send what the configuration says, and keep entities where it says so', async () => {
    const counted: unknown[] = [];
    const metrics = {
      ...noMetrics,
      counter:
        () =>
        (labels: object = {}) =>
          void counted.push(labels),
    };
    schema = { data: { _entities: [{ name: 'a' }] } };
    asked.length = 0;
    const store = createLinkStore(parts(), { metrics });
    const rules = {
      url: `${origin}/graphql`,
      headers: [{ insert: 'x-key', value: 'k' }],
      entityCache: { maxAgeSeconds: 60 },
    };
    const { links } = store.open(sdl, file(rules, { headers: [{ propagate: 'x-tenant' }] }));
    const ask = (tenant: string) => {
      const caller = { ...anonymousCaller('t', null), bearer: 'token' };
      const context = { caller, signal: new AbortController().signal, headers: { 'x-tenant': tenant } };
      const variables = { representations: [{ __typename: 'A', id: 1 }] };
      const query =
        'query ($representations: [_Any!]!) { _entities(representations: $representations) { name } }';
      return links['shop']?.execute({ query, variables, context });
    };
    for (const tenant of ['a', 'a', 'b'])
      expect((await ask(tenant))?.data).toEqual({ _entities: [{ name: 'a' }] });
    // Of each tenant once: what the subgraph learns of callers tells them apart.
    expect(asked).toMatchObject(
      ['a', 'b'].map((tenant) => ({
        headers: { 'x-tenant': tenant, 'x-key': 'k', authorization: 'Bearer token' },
      })),
    );
    expect(counted).toEqual(['miss', 'hit', 'miss'].map((outcome) => ({ subgraph: 'shop', outcome })));
    await store.close();
  });

  it('tell callers what the configuration says of answers, and of how long one is waited for', async () => {
    schema = { data: { shop: null }, errors: [{ message: 'theirs', extensions: { code: 'OWN' } }] };
    const store = createLinkStore(parts(), { metrics: noMetrics });
    const told: Record<string, unknown> = {};
    const response = {
      headersSent: false,
      setHeader: (name: string, value: unknown) => void (told[name] = value),
    };
    const context = {
      caller: anonymousCaller('t', null),
      signal: new AbortController().signal,
      headers: {},
      response,
    } as never;
    const ask = (shop: object, more: object = {}) => {
      const { links } = store.open(sdl, file({ url: `${origin}/graphql`, ...shop }, more));
      return links['shop']?.execute({ query: '{ shop }', variables: {}, context });
    };
    const messages = (result: Awaited<ReturnType<typeof ask>>) =>
      result?.errors?.map(({ message }) => message);
    expect(messages(await ask({}))).toEqual(['theirs']);
    expect(told).toEqual({});
    expect(messages(await ask({ errors: 'codes' }))).toEqual(['the subgraph says OWN']);
    expect(messages(await ask({}, { errors: 'masked' }))).toEqual(['internal error']);
    await ask({ responseHeaders: [{ propagate: 'x-shop' }] });
    await ask({}, { responseHeaders: [{ propagate: 'x-shop', as: 'x-any' }] });
    expect(told).toEqual({ 'x-shop': 'told', 'x-any': 'told' });
    isSilent = true;
    expect(messages(await ask({ timeoutMs: 50 }))).toEqual(['subgraph "shop": no answer in time']);
    isSilent = false;
    await store.close();
  });

  it('ask nothing any more when no graph has them, and are those whose readiness counts', async () => {
    schema = { data: { shop: 1 } };
    const store = createLinkStore(parts(), { metrics: noMetrics });
    const context = { caller: anonymousCaller('t', null), signal: new AbortController().signal };
    const open = (retries: number) => store.open(sdl, file({ url: `${origin}/graphql`, retries }));
    const [one, other] = [open(0), open(1)];
    expect(one.endpoints.get('shop')?.count()).toBe(1);
    const ask = ({ links }: typeof one) =>
      links['shop']?.execute({ query: '{ shop }', variables: {}, context });
    expect([(await ask(one))?.data, (await ask(other))?.data]).toEqual([{ shop: 1 }, { shop: 1 }]);
    one.close();
    expect([(await ask(one))?.errors?.length, (await ask(other))?.data]).toEqual([1, { shop: 1 }]);
    const alone = sdl.replaceAll(/"media"/g, '"else"');
    store.serve(store.open(alone, file()));
    expect(Object.keys(store.readiness).toSorted()).toEqual(['else', 'shop']);
    await store.close();
    expect((await ask(other))?.errors).toHaveLength(1);
  });

  it('share reads of foreign subgraphs alone', () => {
    const check =
      (sharedReads: readonly string[], more: object = {}) =>
      () =>
        checkSharedReads(parts({ sharedReads, ...more }), ['shop', 'media']);
    expect(check(['shop', 'media'])).not.toThrow();
    expect(check(['other'])).toThrow(
      'SHARED_READS names other, which is no foreign subgraph of the supergraph: it has shop, media',
    );
    expect(check(['media'], { mediaUrls: ['http://m'] })).toThrow('it has shop');
    const own = ['workflow', 'media'].map((name) => isOurs(parts({ workflowUrls: ['http://w'] }), name));
    expect([own, isOurs(parts({ isOtherGraph: false }), 'media')]).toEqual([[true, false], true]);
  });
});
