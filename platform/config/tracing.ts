import type { Values } from './settings/settings.ts';

/** Where traces go, and which: the standard settings of OpenTelemetry. */
export interface TracingConfig {
  /** The collector's base address; `/v1/traces` is added. */
  readonly endpoint: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Sent to the collector with each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly sampler: Values['OTEL_TRACES_SAMPLER'];
  /** For the samplers by ratio: from 0 to 1. */
  readonly ratio: number;
}

/** The tracing that these settings ask for; null without a collector. */
export function readTracingSettings(values: Values): TracingConfig | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = values;
  if (endpoint === null) return null;
  return {
    endpoint,
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}
