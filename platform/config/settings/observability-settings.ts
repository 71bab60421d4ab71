import { integer, oneOf, text } from './formats.ts';
import { optional, setting } from './setting.ts';

/** Settings of metrics and logs. */
export const observabilitySettings = {
  METRICS_PORT: optional(
    integer(0, 65_535),
    'port on HOST that serves /metrics to Prometheus, of each process its own; 0 takes any free one',
  ),
  METRICS_KEY: optional(
    text,
    "key that opens /metrics on the process's own port: Authorization: Bearer with it; a worker has no such port",
  ),
  LOG_LEVEL: setting(
    oneOf(['silent', 'error', 'warn', 'info', 'debug']),
    'least severe lines that are logged: silent, error, warn, info or debug',
    'info',
  ),
};
