import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { z } from 'zod';

/** A collector of traces: takes OTLP over HTTP in JSON, as the protocol's schema has it. */
export interface Collector {
  readonly url: string;
  /** Every span that came. */
  readonly spans: TracedSpan[];
  /** The spans of one trace, earliest first. */
  trace(traceId: string): readonly TracedSpan[];
  close(): Promise<void>;
}

/** A span as it came. */
interface TracedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly role: string;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly ms: number;
  readonly failed: boolean;
}

const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`));
const nanoseconds = z.string().regex(/^\d+$/).transform(Number);
const attribute = z.object({ key: z.string(), value: z.looseObject({ stringValue: z.string().optional() }) });

/** opentelemetry/proto/collector/trace/v1, in its JSON form. */
const exportRequest = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.looseObject({ attributes: z.array(attribute) }),
      scopeSpans: z.array(
        z.looseObject({
          spans: z.array(
            z.looseObject({
              traceId: hex(32),
              spanId: hex(16),
              parentSpanId: hex(16).optional(),
              name: z.string().min(1),
              kind: z.int().min(1).max(5),
              startTimeUnixNano: nanoseconds,
              endTimeUnixNano: nanoseconds,
              attributes: z.array(attribute),
              status: z.looseObject({ code: z.int().min(0).max(2) }),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** Starts it; a request that is no OTLP is answered 400, which the exporter logs. */
export async function startCollector(): Promise<Collector> {
  const spans: TracedSpan[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { data } = exportRequest.safeParse(JSON.parse(await text(request)));
    const isExport = request.url === '/v1/traces' && data !== undefined;
    if (isExport) spans.push(...data.resourceSpans.flatMap(readSpans));
    response.writeHead(isExport ? 200 : 400, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    trace: (traceId) =>
      spans
        .filter((span) => span.traceId === traceId)
        .toSorted((one, other) => one.startedAt - other.startedAt),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function readSpans({
  resource,
  scopeSpans,
}: z.output<typeof exportRequest>['resourceSpans'][number]): readonly TracedSpan[] {
  const role = resource.attributes.find(({ key }) => key === 'kiln.role')?.value.stringValue ?? '';
  return scopeSpans.flatMap(({ spans }) =>
    spans.map((span) => ({
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId ?? '',
      name: span.name,
      role,
      startedAt: span.startTimeUnixNano / 1e6,
      ms: (span.endTimeUnixNano - span.startTimeUnixNano) / 1e6,
      failed: span.status.code === 2,
    })),
  );
}
