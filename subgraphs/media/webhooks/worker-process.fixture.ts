import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../platform/http/undici-http-client.ts';
import { startEngine } from '../tasks/testing/engine.ts';
import { createWebhookWorker } from './worker.ts';

/** A worker of webhooks in a process of its own, to be killed: connection string, allowed host, secret. */
const [connectionString = '', host = '', secret = ''] = process.argv.slice(2);

const { database, queue, files, logger } = await startEngine({ connectionString });
const http = createHttpClient({ outbound: createOutboundRule({ allow: [host] }), logger });
await createWebhookWorker({ database, queue, files, http, secret, logger }).start();
