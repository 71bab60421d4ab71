import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { listenOn, stopAccepting } from '../http/server.ts';
import { isSupervised, onRequest, sendRequest } from '../process/cluster/messages.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { Logger } from '../process/logger.ts';
import { noMetrics, type Metrics } from './metrics.ts';

/** Where metrics can be read: on a port of their own (METRICS_PORT), or at /metrics behind a key (METRICS_KEY). */
interface MetricsConfig {
  /** Null: no port of their own. */
  readonly port: number | null;
  /** Null: not at /metrics of the process's own server. */
  readonly key: string | null;
}

interface MetricsOptions {
  readonly config: {
    readonly role: string;
    readonly server: { readonly host: string };
    readonly metrics: MetricsConfig;
  };
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
}

/** Makes the metrics of a process as its settings say, and serves them on their own port if there is one. */
export async function startMetrics({ config, lifecycle, logger }: MetricsOptions): Promise<Metrics> {
  const { port, key } = config.metrics;
  if (port === null && key === null) return noMetrics;
  // Loaded only when needed.
  const { createMetrics } = await import('./prometheus.ts');
  const metrics = createMetrics(config.role);
  if (isSupervised) return metricsOfAll(metrics);
  if (port !== null) await serveMetrics(metrics, port, { config, lifecycle, logger });
  return metrics;
}

/** What the supervisor requests of each process, and a process of the supervisor. */
export const OWN_METRICS = 'metrics of this process';
export const ALL_METRICS = 'metrics of all processes';
/** Prometheus waits ten seconds. */
const ALL_METRICS_MS = 5_000;

/** One of several processes under a supervisor, which serves METRICS_PORT, answers for all of them. */
function metricsOfAll(metrics: Metrics): Metrics {
  onRequest(process, OWN_METRICS, () => metrics.text());
  return { ...metrics, text: () => sendRequest(process, ALL_METRICS, ALL_METRICS_MS) };
}

/** Serves them on a port of their own. */
export async function serveMetrics(
  metrics: Pick<Metrics, 'text'>,
  port: number,
  { config, lifecycle, logger }: MetricsOptions,
): Promise<void> {
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] === '/metrics') void sendMetrics(metrics, response, logger);
    else response.writeHead(404).end();
  });
  const { url } = await listenOn(server, config.server.host, port);
  lifecycle.add('metrics', () => stopAccepting(server));
  logger.info({ url: `${url}/metrics` }, 'metrics are served');
}

/** Serves /metrics to whoever sends the key as a bearer token, and 404 to everybody without one. */
export function metricsHandler(
  metrics: Metrics,
  { key, logger }: { readonly key: string | null; readonly logger: Logger },
) {
  const hasKey = createKeyCheck(key);
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (key === null || request.method !== 'GET') return next();
    if (hasKey(request)) return void sendMetrics(metrics, response, logger);
    response.writeHead(401, { 'www-authenticate': 'Bearer', 'content-type': 'text/plain' });
    response.end('metrics need METRICS_KEY: send Authorization: Bearer with it\n');
  };
}

/** Whether a request has METRICS_KEY as its bearer token; never where there is none. */
export function createKeyCheck(key: string | null): (request: IncomingMessage) => boolean {
  const wanted = key === null ? null : digest(`Bearer ${key}`);
  return ({ headers }) => wanted !== null && timingSafeEqual(digest(headers.authorization ?? ''), wanted);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

async function sendMetrics(
  metrics: Pick<Metrics, 'text'>,
  response: ServerResponse,
  logger: Logger,
): Promise<void> {
  let text: string;
  try {
    text = await metrics.text();
  } catch (error) {
    // The supervisor does not answer, which is no reason for this process to end.
    logger.warn({ error }, 'the metrics can not be read');
    response.writeHead(503, { 'content-type': 'text/plain' });
    response.end('the metrics can not be read now\n');
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
  });
  response.end(text);
}
