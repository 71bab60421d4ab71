import { expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import type { GraphqlExecutor } from '../../../platform/graphql/operations/executor.ts';
import { createCatalogReader } from './catalog.ts';

const caller = anonymousCaller('trace', '192.0.2.1');

/** A graph whose models are there when they are released, unless its caller has gone by then. */
function world() {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let reads = 0;
  const executor: GraphqlExecutor = {
    async execute({ context }) {
      reads += 1;
      await released;
      context.signal.throwIfAborted();
      return { data: { models: [] } };
    },
    subscribe: async () => ({}),
  };
  const execution = (signal = new AbortController().signal) => ({ executor, context: { caller, signal } });
  return { execution, release: () => release(), reads: () => reads };
}

it('reads the models once for all who ask at the same time', async () => {
  const { execution, release, reads } = world();
  const read = createCatalogReader();
  const both = Promise.all([read(execution()), read(execution())]);
  release();
  expect((await both).map(({ models }) => models)).toEqual([[], []]);
  expect((await read(execution())).models).toEqual([]);
  expect(reads()).toBe(1);
});

it('reads them for who waits although the caller who asked first has gone', async () => {
  const { execution, release, reads } = world();
  const read = createCatalogReader();
  const gone = new AbortController();
  const both = Promise.all([read(execution(gone.signal)), read(execution())]);
  gone.abort(new Error('gone'));
  release();
  expect((await both).map(({ models }) => models)).toEqual([[], []]);
  expect(reads()).toBe(1);
});
