import {
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer as OtelTracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

import packageJson from '../../../package.json' with { type: 'json' };
import type { TracingConfig } from '../../config/tracing.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import { redact, redactText } from '../../process/redact.ts';
import { type Attributes, type Span, type SpanOptions, parseTraceparent, type Tracer } from '../span.ts';

/** Spans made by OpenTelemetry's SDK and sent to a collector over OTLP, in batches of bounded size. */

interface OpenTelemetryOptions extends TracingConfig {
  readonly role: string;
  readonly logger: Logger;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const;

/** Makes the tracer of this process; `stop` sends what is left. */
export function createOpenTelemetryTracer(options: OpenTelemetryOptions): {
  readonly tracer: Tracer;
  readonly stop: () => Promise<void>;
} {
  logProblems(options.logger);
  const ids = idsOfTraces();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': packageJson.version,
      'kiln.role': options.role,
    }),
    sampler: createSampler(options),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(options) })],
  });
  const tracer = provider.getTracer('kiln');
  return {
    tracer: {
      start(name, { traceparent, traceId, ...rest } = {}) {
        const parent = parseTraceparent(traceparent);
        const context =
          parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
        ids.next = traceId;
        return wrapSpan(tracer, tracer.startSpan(name, toSettings(rest), context));
      },
    },
    stop: () => provider.shutdown(),
  };
}

function createExporter({ endpoint, headers, protocol }: TracingConfig): JsonExporter | ProtobufExporter {
  const target = { url: `${endpoint.replace(/\/$/, '')}/v1/traces`, headers: { ...headers } };
  return protocol === 'http/json' ? new JsonExporter(target) : new ProtobufExporter(target);
}

/** The SDK reports failed exports there; it is one for the process. */
function logProblems(logger: Logger): void {
  const warn = (message: string): void => logger.warn({ reason: message.slice(0, 500) }, 'tracing');
  const nothing = (): void => undefined;
  diag.setLogger(
    { error: warn, warn, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** Random ids; the next trace can be given its own. */
function idsOfTraces(): IdGenerator & { next: string | undefined } {
  const random = new RandomIdGenerator();
  return {
    next: undefined,
    generateTraceId() {
      const id = this.next ?? random.generateTraceId();
      this.next = undefined;
      return id;
    },
    generateSpanId: () => random.generateSpanId(),
  };
}

function createSampler({ sampler, ratio }: TracingConfig): Sampler {
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  } as const;
  const name = sampler.replace('parentbased_', '') as keyof typeof root;
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root: root[name]() }) : root[name]();
}

function toSettings({ kind, attributes = {} }: SpanOptions) {
  return { kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind], attributes: redacted(attributes) };
}

/** A collector keeps what a log keeps: no secrets, and no whole ids of what nobody owns. */
function redacted(attributes: Attributes): Attributes {
  for (const name in attributes)
    if (typeof attributes[name] === 'string') return redact(attributes) as Attributes;
  return attributes;
}

function wrapSpan(tracer: OtelTracer, span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  let below: Context | undefined;
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    child(name, options = {}) {
      below ??= trace.setSpan(ROOT_CONTEXT, span);
      return wrapSpan(tracer, tracer.startSpan(name, toSettings(options), below));
    },
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(redacted(attributes)),
    fail(thrown) {
      const { name, message } = toError(thrown);
      span.setStatus({ code: SpanStatusCode.ERROR, message: redactText(message).slice(0, 300) });
      span.setAttribute('error.type', name);
    },
    end: () => span.end(),
  };
}
