import { auditMigrations } from '../../platform/audit/migrations.ts';
import { toPublicUrl } from '../../platform/config/config.ts';
import { sandboxAddresses } from '../../platform/config/sandbox-addresses.ts';
import { AppError, toError } from '../../platform/errors.ts';
import { createSubgraphServer } from '../../platform/graphql/subgraph-server/server.ts';
import { startHealthServer } from '../../platform/http/readiness.ts';
import { metricsHandler } from '../../platform/metrics/serve-metrics.ts';
import { queueMigrations } from '../../platform/queue/migrations.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { startRuntime, type Runtime, storeCheck } from '../../platform/runtime/runtime.ts';
import { installationSecret, webhookSecret } from '../../platform/secrets/secrets.ts';
import { composeMedia } from './compose.ts';
import { mediaMigrations } from './database/migrations/index.ts';
import type { MediaSubgraph } from './subgraph.ts';

/** The media subgraph (--role media) or its worker (--role worker) as a process of its own. */

/** Port of the gateway, which callers use when PUBLIC_URL is not set. */
const GATEWAY_PORT = 4000;

/** Starts the media subgraph as a process of its own, `worker` or whole. Throws NOT_CONFIGURED without INTERNAL_KEY. */
export async function startMediaProcess(parts: ProcessParts): Promise<void> {
  const { config, lifecycle } = parts;
  const internalKey = config.split.internalKey;
  // Without the key any process could assert any caller; the settings demand it too.
  if (internalKey === null)
    throw new AppError('NOT_CONFIGURED', 'INTERNAL_KEY is needed when processes are split');
  const migrations = [mediaMigrations, queueMigrations, auditMigrations];
  const runtime = await startRuntime({ ...parts, migrations });
  const sandboxUrl = config.sandbox?.url ?? null;
  const media = composeMedia(runtime, {
    sandboxUrls: sandboxUrl === null ? null : sandboxAddresses(sandboxUrl),
    publicUrl: toPublicUrl(config.server, GATEWAY_PORT),
    fileSecret: await installationSecret(config, 'file-secret'),
    webhookSecret: await webhookSecret(config),
  });
  lifecycle.add('media subgraph', async () => media.close());
  await media.start();
  if (config.role === 'worker') await work(media, runtime);
  else await serve(media, runtime, internalKey);
}

async function work({ worker }: MediaSubgraph, runtime: Runtime): Promise<void> {
  const { config, lifecycle, logger } = runtime;
  await worker.start();
  const { database } = runtime;
  const checks = { database: () => database.check(), files: storeCheck(runtime) };
  // Several workers on one machine: who has no port works all the same.
  const { stopping } = lifecycle;
  const health = await startHealthServer({ checks, logger, stopping, ...config.server }).catch(
    (thrown: unknown) => {
      logger.warn({ reason: toError(thrown).message }, 'this worker has no health port');
      return null;
    },
  );
  if (health !== null) lifecycle.add('health', () => health.close());
  const { workerGraceSeconds } = config.stopping;
  lifecycle.add('worker', () => worker.stop(workerGraceSeconds), (workerGraceSeconds + 15) * 1_000);
  logger.info({ health: health?.url ?? null }, 'the worker is ready');
}

async function serve(media: MediaSubgraph, runtime: Runtime, internalKey: string): Promise<void> {
  const { config, logger, lifecycle, database } = runtime;
  const { drainSeconds, requestGraceSeconds, workerGraceSeconds } = config.stopping;
  const server = await createSubgraphServer({
    ...runtime,
    ...config.server,
    subgraph: media.subgraph,
    internalKey,
    metrics: metricsHandler(runtime.metrics, { key: config.metrics.key, logger }),
    uploadMaxBytes: config.limits.uploadMaxBytes,
    readiness: { database: () => database.check(), files: storeCheck(runtime) },
    stillServeMs: drainSeconds * 1_000,
    graceMs: requestGraceSeconds * 1_000,
    untilAnswered: () => media.finishChats(workerGraceSeconds),
    extraRoutes: (app) => {
      app.use('/files', media.handleFile);
      app.all('/hooks/:provider', media.handleProviderWebhook);
    },
  });
  const graceSeconds = drainSeconds + requestGraceSeconds + workerGraceSeconds + 15;
  lifecycle.add('server', () => server.close(), graceSeconds * 1_000);
  logger.info({ url: server.url }, 'the media subgraph serves');
}
