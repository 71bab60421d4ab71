import { createServer } from 'node:http';

import type { Logger } from '../process/logger.ts';
import { createReadyHandler, type ReadinessChecks } from './readiness.ts';
import { listenOn, stopAccepting } from './server.ts';

/** Serves /healthz and /readyz of a process that answers nobody else. Rejects when the port is taken. */
export async function startHealthServer(options: {
  readonly checks: ReadinessChecks;
  readonly logger: Logger;
  /** Aborted when the process is to stop: from then on it is not ready. */
  readonly stopping: AbortSignal;
  readonly host: string;
  readonly port: number;
}): Promise<{ readonly url: string; close(): Promise<void> }> {
  const ready = createReadyHandler(options.checks, options);
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '').split('?', 1);
    if (path === '/readyz') {
      void ready(request, response);
    } else {
      response.writeHead(path === '/healthz' ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(path === '/healthz' ? { status: 'ok' } : { error: 'not found' }));
    }
  });
  const { url } = await listenOn(server, options.host, options.port);
  return { url, close: () => stopAccepting(server) };
}
