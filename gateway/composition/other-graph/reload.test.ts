import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { AppError } from '../../../platform/errors.ts';
import { createLifecycle } from '../../../platform/process/lifecycle.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createGraphSource } from './graph-source.ts';
import { reloadOnChange } from './reload.ts';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(path.join(tmpdir(), 'kiln-reload-'))));
const parts = (split: object) => ({ config: { split }, logger: silentLogger() }) as never;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  rmSync(directory, { recursive: true });
});

it('serves what the files say when they have changed and rest, and at SIGHUP; what is refused changes nothing', async () => {
  const main = path.join(directory, 'graph.graphql');
  writeFileSync(main, 'first');
  let unopened: Error | null = null;
  let meanwhile = (): void => undefined;
  const events: string[] = [];
  const lines: unknown[] = [];
  const note = (fields: object | string) => void lines.push(fields);
  const logger = { ...silentLogger(), info: note, error: note };
  const lifecycle = createLifecycle({ logger, graceMs: 1_000 });
  stops.push(() => lifecycle.stop('the test ends'));
  const planned = ['{ a }', '{ gone }', '{ b }'].map((query) => ({ query, operationName: undefined }));
  const plan = (query: string) => {
    events.push(`plan ${query}`);
    if (query === '{ gone }') throw new Error('not valid any more');
  };
  const source = createGraphSource(parts({ supergraphFile: main, subgraphsFile: null }));
  await source.read();
  reloadOnChange(
    { logger, lifecycle } as never,
    {
      source,
      links: {
        open: () => ({ links: {}, close: () => void events.push('close') }),
        serve: () => void events.push('serve'),
      },
      server: {
        federation: { planned: () => planned },
        openGraph: async ({ supergraphSdl }: { readonly supergraphSdl: string }) => {
          events.push(`open ${supergraphSdl}`);
          meanwhile();
          if (unopened !== null) throw unopened;
          return { federation: { plan } };
        },
        replaceGraph: () => {
          events.push('replace');
          return { kept: 1, ended: 2 };
        },
      },
    } as never,
  );
  const served = (sdl: string) => [
    `open ${sdl}`,
    'plan { a }',
    'plan { gone }',
    'plan { b }',
    'replace',
    'serve',
  ];
  const taken = { subscriptions: { kept: 1, ended: 2 } };
  const seen = () => expect.poll(() => lines.splice(0), { timeout: 20_000 });

  // It is asked, though nothing has changed.
  process.emit('SIGHUP');
  await seen().toEqual([taken]);
  expect(events.splice(0)).toEqual(served('first'));
  // What it was read from is what it serves: nothing is new.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(events).toEqual([]);

  // What changes while a graph is opened is served after it.
  meanwhile = () => {
    meanwhile = () => undefined;
    writeFileSync(main, 'third graph');
  };
  writeFileSync(main, 'second');
  await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(2);
  expect([lines.splice(0), events.splice(0)]).toEqual([
    [taken, taken],
    [...served('second'), ...served('third graph')],
  ]);

  unopened = new AppError('NOT_CONFIGURED', 'there is no link to shop');
  utimesSync(main, 2, 2);
  await seen().toEqual([{ reason: 'there is no link to shop' }]);
  // What was opened for it is closed, what is served stays.
  expect(events.splice(0)).toEqual(['open third graph', 'close']);

  rmSync(main);
  await seen().toEqual([{ reason: expect.stringContaining('ENOENT') }]);
  expect(events).toEqual([]);

  await lifecycle.stop('the test ends');
  expect(process.listenerCount('SIGHUP')).toBe(0);
});

it('looks at the schemas of a graph that does not compose, so that it is noticed when they are mended', async () => {
  const [main, shop] = ['subgraphs.yaml', 'shop.graphql'].map((name) => path.join(directory, name));
  writeFileSync(String(main), 'subgraphs: { shop: { url: "http://127.0.0.1:1", schema: shop.graphql } }');
  writeFileSync(String(shop), 'type Query {');
  const source = createGraphSource(parts({ supergraphFile: null, subgraphsFile: main }));
  await expect(source.read()).rejects.toThrow('the schema of shop');
  expect(await source.change()).toBeNull();
  writeFileSync(String(shop), 'type Query { a: Int }');
  expect(await source.change()).toContain(shop);
  expect((await source.read()).supergraphSdl).toContain('http://127.0.0.1:1');
});
