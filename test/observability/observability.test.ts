import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { createLogger } from '../../platform/process/logger.ts';
import { createOpenTelemetryTracer } from '../../platform/tracing/open-telemetry/open-telemetry.ts';
import { startReceiver, type Receiver } from '../../subgraphs/media/webhooks/receiver.fixture.ts';
import { until } from '../kit/clients/requests.ts';
import { type KilnUnderTest, startKiln } from '../kit/kiln.ts';
import { signInBuyer } from '../topology/purchase.ts';
import { startCollector, type Collector } from './collector.ts';

/** What an operator sees of one Kiln: an image with a webhook, a purchase, operations of a socket. */

const CALLERS_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLERS_SPAN = '00f067aa0ba902b7';

let collector: Collector;
let receiver: Receiver;
/** Ids of the traces of what was done. */
let imageTrace: string | null;
let taskTrace: string;
let purchaseTrace: string;
let refusedTrace: string | null;
/** Lines of the log. */
const taskEnds: Record<string, unknown>[] = [];
const requests: Record<string, unknown>[] = [];
let metrics: string;
let readiness: { readonly providers: readonly Record<string, unknown>[] };
let strangersReadiness: { readonly providers: readonly Record<string, unknown>[] };

beforeAll(async () => {
  collector = await startCollector();
  receiver = await startReceiver();
  const kiln = await startKiln({
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OUTBOUND_ALLOW: receiver.host,
      METRICS_KEY: 'key of the metrics',
    },
    onLogLine: (line) => {
      const fields = JSON.parse(line) as Record<string, unknown>;
      if (fields['msg'] === 'task ended') taskEnds.push(fields);
      if (fields['msg'] === 'request') requests.push(fields);
    },
  });
  try {
    await makeImage(kiln);
    purchaseTrace = await buyPoster(kiln);
    await askOverSocket(kiln);
    const refused = await fetch(`${kiln.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: 'not-a-traceparent' },
      body: JSON.stringify({ query: '{ task(id: "nobody") { id } }' }),
    });
    refusedTrace = refused.headers.get('x-trace-id');
    const scrape = await fetch(`${kiln.url}/metrics`, {
      headers: { authorization: 'Bearer key of the metrics' },
    });
    metrics = await scrape.text();
    const read = async (headers: Record<string, string>) =>
      (await (await fetch(`${kiln.url}/readyz?verbose`, { headers })).json()) as typeof readiness;
    strangersReadiness = await read({});
    readiness = await read({ authorization: 'Bearer key of the metrics' });
  } finally {
    // What is left is sent when it stops.
    await kiln.close();
  }
});

afterAll(async () => {
  await Promise.all([collector.close(), receiver.close()]);
});

async function makeImage({ url }: KilnUnderTest): Promise<void> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01` },
    body: JSON.stringify({
      query: `mutation Paint($callback: String!) {
        generateImage(input: { generator: "union", prompt: "a secret lighthouse" }, callbackUrl: $callback) { id traceId }
      }`,
      variables: { callback: receiver.url },
    }),
  });
  imageTrace = answer.headers.get('x-trace-id');
  const { data } = (await answer.json()) as { data: { generateImage: { traceId: string } } };
  taskTrace = data.generateImage.traceId;
  await until(
    async () => receiver.received.length,
    (count) => count === 1,
  );
}

/** Answers the id of the trace of the click. */
async function buyPoster({ url }: KilnUnderTest): Promise<string> {
  const buyer = await signInBuyer(url);
  const opened = await buyer.checkout('poster');
  await buyer.comeBack(opened);
  const { data } = await buyer.delivered(opened.payment.id);
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...buyer.headers },
    body: JSON.stringify({
      query: 'query ($id: ID!) { execution(id: $id) { task { traceId } } }',
      variables: { id: data.payment.execution.id },
    }),
  });
  const found = (await answer.json()) as { data: { execution: { task: { traceId: string } } } };
  return found.data.execution.task.traceId;
}

/** Starts an image over a WebSocket, and follows it to its end. */
async function askOverSocket({ url }: KilnUnderTest): Promise<void> {
  const client = createClient({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket });
  const query = `mutation Start { generateImage(input: { generator: "union", prompt: "a fox" }) { id } }`;
  for await (const { data } of client.iterate({ query, operationName: 'Start' })) {
    const { id } = (data as { readonly generateImage: { readonly id: string } }).generateImage;
    const follow = 'subscription ($id: ID!) { taskProgress(id: $id) { state } }';
    for await (const event of client.iterate({ query: follow, variables: { id } })) void event;
  }
  await client.dispose();
}

/** Names of the spans of a trace. */
const listNames = (traceId: string): readonly string[] => collector.trace(traceId).map(({ name }) => name);

describe('the trace of an image', () => {
  it("is the caller's own, in the answer's header, the task, and the line of its end", () => {
    expect(imageTrace).toBe(CALLERS_TRACE);
    expect(taskTrace).toBe(CALLERS_TRACE);
    expect(taskEnds).toContainEqual(expect.objectContaining({ traceId: CALLERS_TRACE, state: 'SUCCEEDED' }));
  });

  it('goes from the request over plan, fetch, resolver and SQL, over the queue, to the webhook', () => {
    const names = listNames(CALLERS_TRACE);
    const stages = ['POST /graphql', 'plan', 'fetch media', 'Mutation.generateImage', 'sql tasks.insert'];
    expect(names).toEqual(expect.arrayContaining([...stages, 'start work', 'deliver webhook']));
    expect(names).toContain(`POST ${receiver.host}`);
  });

  it('hangs together: every span but the first has its parent in it', () => {
    const spans = collector.trace(CALLERS_TRACE);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(spans.filter(({ parentSpanId }) => !ids.has(parentSpanId))).toEqual([
      expect.objectContaining({ name: 'POST /graphql', parentSpanId: CALLERS_SPAN }),
    ]);
    expect(spans.every(({ ms }) => ms >= 0)).toBe(true);
  });

  it('is told to the receiver of the webhook', () => {
    const sender = collector.trace(CALLERS_TRACE).find(({ name }) => name === `POST ${receiver.host}`);
    expect(receiver.received[0]?.headers['traceparent']).toBe(`00-${CALLERS_TRACE}-${sender?.spanId}-01`);
  });

  it('has no prompt', () => {
    expect(JSON.stringify(collector.spans)).not.toContain('secret lighthouse');
  });
});

it('is one trace from the click on a checkout to the stored image', () => {
  const names = listNames(purchaseTrace);
  const stages = ['Mutation.checkout', 'start execution', 'start work', 'store results'];
  expect(names).toEqual(expect.arrayContaining(['POST /graphql', ...stages]));
});

it('has each operation of a WebSocket', () => {
  const names = collector.spans.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['WS operation', 'WS Start', 'Subscription.taskProgress']));
});

it('logs a mutation over a WebSocket as one over HTTP', () => {
  expect(requests).toContainEqual(
    expect.objectContaining({ method: 'WS', part: 'gateway', caller: 'anon', changes: ['generateImage'] }),
  );
});

it.each([
  'kiln_root_field_seconds_count{role="all",field="generateImage",transport="http",outcome="ok"} 1',
  'kiln_root_field_seconds_count{role="all",field="generateImage",transport="websocket",outcome="ok"} 1',
  'kiln_root_field_seconds_count{role="all",field="taskProgress",transport="websocket",outcome="ok"} 1',
  'kiln_payments_total{status="COMPLETED",role="all"} 1',
  'kiln_tasks_ended_total{kind="IMAGE",generator="union",state="SUCCEEDED",role="all"} 2',
  'kiln_webhook_attempts_total{state="DELIVERED",role="all"} 1',
])('counts %s', (line) => {
  expect(metrics.split('\n')).toContain(line);
});

it('measures how late events come', () => {
  expect(Number(/kiln_event_lag_seconds_count\{role="all"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(0);
});

it('reports each provider at /readyz?verbose, and no messages, to who has the key of the metrics', () => {
  expect(strangersReadiness).toEqual({ status: 'ready', checks: expect.any(Array), failing: [] });
  const { providers } = readiness;
  expect(providers).toContainEqual(
    expect.objectContaining({
      binding: 'union:openai-image-sandbox',
      provider: 'openai',
      succeeded: 2,
      breaker: { open: false, until: null },
    }),
  );
  expect(Object.keys(providers[0] ?? {})).not.toContain('lastError');
});

it('begins a trace of its own for a malformed traceparent, under the id of X-Trace-Id', () => {
  expect(listNames(refusedTrace ?? '')).toContain('POST /graphql');
});

it('speaks protobuf by default, with the headers of the collector', async () => {
  const requests: { readonly type: unknown; readonly key: unknown }[] = [];
  const server = createServer((request, response) => {
    const { 'content-type': type, 'x-key': key } = request.headers;
    requests.push({ type, key });
    request.resume().once('end', () => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { tracer, stop } = createOpenTelemetryTracer({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    protocol: 'http/protobuf',
    headers: { 'x-key': 'of the collector' },
    serviceName: 'kiln',
    sampler: 'parentbased_always_on',
    ratio: 1,
    role: 'all',
    logger: createLogger({ level: 'silent' }),
  });
  tracer.start('something')?.end();
  // Not sampled by whoever began it.
  tracer.start('other', { traceparent: `00-${CALLERS_TRACE}-${CALLERS_SPAN}-00` })?.end();
  await stop();
  server.close();
  expect(requests).toEqual([{ type: 'application/x-protobuf', key: 'of the collector' }]);
});
