import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { UpstreamError } from '../../domain/failure.ts';
import type { Exchange } from '../shared/exchange.ts';
import { createInventories } from './inventories.ts';
import { createPool } from './pool.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const nodes = ['http://one', 'http://other'];
const connection = {
  baseUrl: 'http://one',
  pathPrefix: '',
  headers: {},
  credentials: {},
  model: null,
  nodes,
  resultOrigins: [],
};
const context = { connection, signal: new AbortController().signal };
const silent = () => Promise.reject(new UpstreamError('UNAVAILABLE', 'nobody answers'));
const handle = { node: 'http://one', promptId: 'p' };

/** How a question about work at a machine ends, some seconds after the last one. */
function machine() {
  const pool = createPool(silent, createInventories(silent));
  return async (seconds: number, answer: () => Promise<string> = silent): Promise<string> => {
    vi.setSystemTime(Date.now() + seconds * 1_000);
    return pool
      .watchingHealth(handle, context, answer)
      .catch((thrown: unknown) => (thrown instanceof UpstreamError ? thrown.code : 'INTERNAL'));
  };
}

it('gives up a machine that has been silent for some seconds', async () => {
  const after = machine();
  expect([await after(0), await after(3), await after(2)]).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'LOST']);
});

it('counts anew after every sign of life', async () => {
  const signs = [
    () => Promise.resolve('running'),
    () => Promise.reject(new UpstreamError('INVALID_INPUT', 'an answer as well')),
  ];
  for (const sign of signs) {
    const after = machine();
    expect(await after(0)).toBe('UNAVAILABLE');
    await after(3, sign);
    expect([await after(3), await after(3), await after(2)]).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'LOST']);
  }
});

it('waits for the only machine of a pool', async () => {
  const pool = createPool(silent, createInventories(silent));
  const alone = { ...context, connection: { ...connection, nodes: [] } };
  const ask = () => pool.watchingHealth(handle, alone, silent);
  await expect(ask()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  vi.setSystemTime(Date.now() + 60_000);
  await expect(ask()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

/** Machines by what they have: classes, or null where nobody answers; `sent` are those that were given a graph. */
function machines(
  had: Readonly<Record<string, readonly string[] | null>>,
  closed: readonly string[] = [],
  graph: Graph = workflow,
  untold = 'nothing',
) {
  const sent: string[] = [];
  const exchange: Exchange = ({ connection: { baseUrl } }, { path }) => {
    const classes = had[baseUrl] ?? null;
    if (classes === null || path.startsWith(untold)) return silent();
    const json = path === '/queue' ? { queue_running: [], queue_pending: [] } : createInfo(classes);
    return Promise.resolve({ status: 200, headers: {}, json });
  };
  const pool = createPool(exchange, createInventories(exchange));
  const closedNodes = () => new Map(closed.map((node) => [node, { state: 'PAUSED' } as never]));
  const place = () =>
    pool.onBestServer(
      { ...context, connection: { ...connection, closedNodes } },
      { workflow: graph },
      (node) => {
        sent.push(node);
        return Promise.resolve(node);
      },
    );
  return { place, sent };
}

type Graph = Readonly<Record<string, { readonly class_type: string; readonly inputs: object }>>;
const workflow: Graph = { 1: { class_type: 'Rare', inputs: {} } };
const createInfo = (classes: readonly string[]) => Object.fromEntries(classes.map((name) => [name, {}]));

it.each([
  ['does not answer', { 'http://one': null, 'http://other': ['Common'] }, []],
  ['is closed', { 'http://one': ['Rare'], 'http://other': ['Common'] }, ['http://one']],
])('lets a graph wait for the machine that may have its classes when that one %s', async (_, had, closed) => {
  const { place, sent } = machines(had, closed);
  await expect(place()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    isPartial: true,
    retryable: true,
    message: expect.stringContaining('do not have Rare'),
  });
  expect(sent).toEqual([]);
});

it('has a graph wait while an administrator has closed all machines', async () => {
  const { place, sent } = machines({ 'http://one': ['Rare'], 'http://other': ['Rare'] }, nodes);
  await expect(place()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: expect.any(Number) });
  expect(sent).toEqual([]);
});

it.each([nodes, nodes.toReversed()])(
  'has %s say what it lacks least, of two that lack something',
  async (one, other) => {
    const graph = { ...workflow, 2: { class_type: 'Common', inputs: {} } };
    const { place } = machines({ [one]: ['Common'], [other]: ['Other'] }, [], graph);
    await expect(place()).resolves.toBe(one);
  },
);

it('takes a machine that does not tell what it has loaded', async () => {
  const loads = { 1: { class_type: 'Rare', inputs: { name: 'a.safetensors' } } };
  const { place } = machines({ 'http://one': ['Rare'], 'http://other': ['Common'] }, [], loads, '/history');
  await expect(place()).resolves.toBe('http://one');
});

it('has the machine that lacks least say what is missing when the closed one lacks it too', async () => {
  const { place } = machines({ 'http://one': ['Other'], 'http://other': ['Common'] }, ['http://one']);
  await expect(place()).resolves.toBe('http://other');
});
