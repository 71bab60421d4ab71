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
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  rmSync(directory, { recursive: true });
});

it('serves what the files say when they have changed and rest, and at SIGHUP; what is refused changes nothing', async () => {
  const [main, found] = [path.join(directory, 'graph.graphql'), path.join(directory, 'found.graphql')];
  writeFileSync(main, 'first');
  let [refusal, unopened, files] = [null as Error | null, null as Error | null, [main]];
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
  reloadOnChange(
    { logger, lifecycle } as never,
    {
      source: {
        files: () => files,
        async read() {
          events.push('read');
          if (refusal !== null) throw refusal;
          // A schema that is only now known to be a part of it.
          files = [main, found];
          writeFileSync(found, 'found');
          return { supergraphSdl: 'sdl', file: undefined };
        },
      },
      links: {
        open: () => ({ links: {}, close: () => void events.push('close') }),
        serve: () => void events.push('serve'),
      },
      server: {
        federation: { planned: () => planned },
        openGraph: async ({ supergraphSdl }: { readonly supergraphSdl: string }) => {
          events.push(`open ${supergraphSdl}`);
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
  const served = ['read', 'open sdl', 'plan { a }', 'plan { gone }', 'plan { b }', 'replace', 'serve'];
  const seen = () => expect.poll(() => lines.splice(0), { timeout: 20_000 });

  // It is asked, though nothing has changed.
  process.emit('SIGHUP');
  await seen().toEqual([{ subscriptions: { kept: 1, ended: 2 } }]);
  expect(events.splice(0)).toEqual(served);
  // What it was read from is what it serves: nothing is new, also of the files that were found.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(events).toEqual([]);

  utimesSync(found, 1, 1);
  await seen().toEqual([{ subscriptions: { kept: 1, ended: 2 } }]);
  expect(events.splice(0)).toEqual(served);

  unopened = new AppError('NOT_CONFIGURED', 'there is no link to shop');
  utimesSync(found, 2, 2);
  await seen().toEqual([{ reason: 'there is no link to shop' }]);
  // What was opened for it is closed, what is served stays.
  expect(events.splice(0)).toEqual(['read', 'open sdl', 'close']);

  refusal = new AppError('NOT_CONFIGURED', 'it does not compose');
  rmSync(main);
  await seen().toEqual([{ reason: 'it does not compose' }]);
  expect(events.splice(0)).toEqual(['read']);

  await lifecycle.stop('the test ends');
  expect(process.listenerCount('SIGHUP')).toBe(0);
});

it('looks at the schemas of a graph that does not compose, so that it is noticed when they are mended', async () => {
  const [main, shop] = ['subgraphs.yaml', 'shop.graphql'].map((name) => path.join(directory, name));
  writeFileSync(String(main), 'subgraphs: { shop: { url: "http://127.0.0.1:1", schema: shop.graphql } }');
  writeFileSync(String(shop), 'type Query {');
  const split = { supergraphFile: null, subgraphsFile: main };
  const source = createGraphSource({ config: { split }, logger: silentLogger() } as never);
  await expect(source.read()).rejects.toThrow('the schema of shop');
  expect(source.files()).toEqual([main, shop]);
  writeFileSync(String(shop), 'type Query { a: Int }');
  expect((await source.read()).supergraphSdl).toContain('http://127.0.0.1:1');
});
