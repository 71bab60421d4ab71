import { fraction, httpAddress, integer, namedValues, oneOf, text } from './formats.ts';
import { logLevels } from './log-levels.ts';
import { optional, setting } from './setting.ts';

/** Which traces are kept; `parentbased_` follows the decision of whoever began the trace. */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Settings of metrics, traces and logs. */
export const observabilitySettings = {
  METRICS_PORT: optional(
    integer(0, 65_535),
    'port on HOST that serves /metrics to Prometheus, of each process its own; 0 takes any free one',
  ),
  METRICS_KEY: optional(
    text,
    "key that opens /metrics on the process's own port: Authorization: Bearer with it; a worker has no such port",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpAddress,
    'base address of an OpenTelemetry collector that gets traces over OTLP; /v1/traces is added',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(
    oneOf(['http/protobuf', 'http/json']),
    'how traces are encoded: http/protobuf or http/json',
    'http/protobuf',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(
    namedValues,
    'headers for the collector: name=value, separated by commas, percent-encoded',
  ),
  OTEL_SERVICE_NAME: setting(text, 'name of this installation in traces', 'kiln'),
  OTEL_TRACES_SAMPLER: setting(
    oneOf(samplers),
    'which traces are kept: always_on, always_off, traceidratio, or these with parentbased_ before them',
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    fraction,
    'share of the traces that a sampler by ratio keeps, from 0 to 1',
    '1',
  ),
  LOG_LEVEL: setting(
    logLevels,
    'least severe lines that are logged (silent, error, warn, info or debug), and of parts by themselves (gateway, media, workflow, worker, sandbox): info,worker=debug',
    'info',
  ),
};
