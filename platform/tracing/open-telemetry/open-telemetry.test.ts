import { createServer, type Server } from 'node:http';

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

import type { TracingConfig } from '../../config/tracing.ts';
import { listenOn } from '../../http/server.ts';
import { readRequestBody } from '../../http/server.ts';
import { silentLogger } from '../../process/logger.ts';
import { createOpenTelemetryTracer } from './open-telemetry.ts';
import { startTracing } from './start-tracing.ts';

interface SentSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

let collector: Server;
let endpoint: string;
let status = 200;
const received: {
  readonly path: string | undefined;
  readonly type: unknown;
  readonly key: unknown;
  readonly body: string;
}[] = [];

beforeAll(async () => {
  collector = createServer((request, response) => {
    void readRequestBody(request, 1_000_000).then((body) => {
      const { 'content-type': type, 'x-key': key } = request.headers;
      received.push({ path: request.url, type, key, body: String(body) });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  endpoint = (await listenOn(collector, '127.0.0.1', 0)).url;
});
afterAll(() => void collector.close());
afterEach(() => {
  received.length = 0;
  status = 200;
});

const logged: unknown[] = [];
const logger = {
  ...silentLogger(),
  warn: (fields: object | string, line?: string) => void logged.push([fields, line]),
};

function open(more: Partial<TracingConfig> = {}) {
  const config: TracingConfig = {
    endpoint,
    headers: { 'x-key': 'secret' },
    protocol: 'http/json',
    sampler: 'always_on',
    ratio: 1,
    serviceName: 'kiln-test',
    ...more,
  };
  return createOpenTelemetryTracer({ ...config, role: 'media', logger });
}

/** The spans that have come, by their names, and what made them. */
function readSpans() {
  const [batch] = received.map(
    ({ body }) =>
      JSON.parse(body) as { resourceSpans: [{ resource: object; scopeSpans: [{ spans: SentSpan[] }] }] },
  );
  const [of] = batch?.resourceSpans ?? [];
  return { resource: of?.resource, spans: new Map(of?.scopeSpans[0].spans.map((span) => [span.name, span])) };
}

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];

it('sends spans, each with its kind, its parent and what is known of it', async () => {
  const { tracer, stop } = open({ endpoint: `${endpoint}/` });
  const root = tracer.start('root', {
    kind: 'server',
    traceparent: `00-${TRACE}-${SPAN}-01`,
    attributes: { n: 1 },
  });
  if (root === null) throw new Error('not traced');
  const child = root.child('child', { kind: 'client', attributes: { secret: 'Bearer abcdefghijklmnop' } });
  const below = child.child('below');
  below.rename('renamed');
  below.set({ set: true });
  below.fail(new TypeError('x'.repeat(400)));
  for (const span of [below, child, root.child('consumer', { kind: 'consumer' }), root]) span.end();
  await stop();
  expect(received).toMatchObject([{ path: '/v1/traces', type: 'application/json', key: 'secret' }]);
  const { resource, spans } = readSpans();
  expect(JSON.stringify(resource)).toMatch(/"kiln-test".*"kiln.role".*"media"/);
  expect([...spans.values()].map(({ name, kind, traceId }) => [name, kind, traceId])).toEqual([
    ['renamed', 1, TRACE],
    ['child', 3, TRACE],
    ['consumer', 5, TRACE],
    ['root', 2, TRACE],
  ]);
  const [ofRoot, ofChild, ofBelow] = ['root', 'child', 'renamed'].map((name) => spans.get(name));
  expect([ofRoot?.parentSpanId, ofChild?.parentSpanId, ofBelow?.parentSpanId]).toEqual([
    SPAN,
    ofRoot?.spanId,
    ofChild?.spanId,
  ]);
  expect(root.traceparent).toBe(`00-${TRACE}-${ofRoot?.spanId}-01`);
  expect(ofRoot?.attributes).toEqual([{ key: 'n', value: { intValue: 1 } }]);
  expect(JSON.stringify(ofChild?.attributes)).not.toContain('abcdefghijklmnop');
  expect(ofBelow).toMatchObject({
    status: { code: 2, message: 'x'.repeat(300) },
    attributes: [
      { key: 'set', value: { boolValue: true } },
      { key: 'error.type', value: { stringValue: 'TypeError' } },
    ],
  });
});

it('gives a trace that continues none the id that is asked for, once', async () => {
  const { tracer, stop } = open();
  const readTraceId = (traceparent: string | undefined) => traceparent?.split('-')[1];
  expect(readTraceId(tracer.start('one', { traceId: TRACE })?.traceparent)).toBe(TRACE);
  const next = readTraceId(tracer.start('two')?.traceparent);
  expect(next).toMatch(/^[0-9a-f]{32}$/);
  expect(next).not.toBe(TRACE);
  expect(readTraceId(tracer.start('three', { traceparent: 'wrong' })?.traceparent)).not.toBe(TRACE);
  await stop();
});

it.each<[TracingConfig['sampler'], number, readonly string[]]>([
  ['always_on', 0, ['01', '01', '01']],
  ['always_off', 1, ['00', '00', '00']],
  ['traceidratio', 1, ['01', '01', '01']],
  ['traceidratio', 0, ['00', '00', '00']],
  ['parentbased_always_on', 0, ['01', '01', '00']],
  ['parentbased_always_off', 1, ['00', '01', '00']],
  ['parentbased_traceidratio', 1, ['01', '01', '00']],
])(
  'samples by %s of %d: a new trace, one that is sampled, one that is not',
  async (sampler, ratio, flags) => {
    const { tracer, stop } = open({ sampler, ratio });
    const parents = [null, `00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`];
    expect(parents.map((traceparent) => tracer.start('s', { traceparent })?.traceparent.slice(-2))).toEqual(
      flags,
    );
    await stop();
  },
);

it('speaks protobuf where it is asked to, and says when a collector refuses', async () => {
  const { tracer, stop } = open({ protocol: 'http/protobuf' });
  logged.length = 0;
  status = 400;
  // As many as go together, and one more.
  for (let count = 0; count <= 512; count += 1) tracer.start('refused')?.end();
  await expect.poll(() => logged).toEqual([[{ reason: expect.stringContaining('400') }, 'tracing']]);
  await expect(stop()).rejects.toThrow('Bad Request');
  expect(received.map(({ path, type }) => [path, type])).toEqual([
    ['/v1/traces', 'application/x-protobuf'],
    ['/v1/traces', 'application/x-protobuf'],
  ]);
});

it('is started where the settings name a collector, and stopped with the process', async () => {
  const parts: [string, () => Promise<void>][] = [];
  const lifecycle = {
    add: (name: string, stop: () => Promise<void>) => void parts.push([name, stop]),
  } as Parameters<typeof startTracing>[0]['lifecycle'];
  const none = await startTracing({ config: { role: 'all', tracing: null }, lifecycle, logger });
  expect([none.start('nothing'), parts]).toEqual([null, []]);
  const tracing: TracingConfig = {
    endpoint,
    headers: {},
    protocol: 'http/json',
    sampler: 'always_on',
    ratio: 1,
    serviceName: 'kiln',
  };
  const tracer = await startTracing({ config: { role: 'worker', tracing }, lifecycle, logger });
  tracer.start('work')?.end();
  expect(parts.map(([name]) => name)).toEqual(['tracing']);
  for (const [, stop] of parts) await stop();
  expect([...readSpans().spans.keys()]).toEqual(['work']);
  expect(JSON.stringify(readSpans().resource)).toContain('"worker"');
});
