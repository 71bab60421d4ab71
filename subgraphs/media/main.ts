import { createHash } from 'node:crypto';

import packageJson from '../../package.json' with { type: 'json' };
import { publicUrlOf, type Config } from '../../platform/config.ts';
import { AppError } from '../../platform/errors.ts';
import { createSubgraphServer } from '../../platform/graphql/subgraph-server.ts';
import { runProcess, type ProcessParts } from '../../platform/run-process.ts';
import { startRuntime, type Runtime } from '../../platform/runtime.ts';
import { bundledBindings } from './generators/bundled-bindings.ts';
import { createGeneratorRegistry } from './generators/registry.ts';
import { mediaMigrations } from './migrations/index.ts';
import { createProviders } from './providers/registry.ts';
import { createMediaSubgraph, type MediaSubgraph } from './subgraph.ts';

/**
 * The media subgraph or its worker as a process of its own (--role media, --role worker). Everything in one process is
 * gateway/main.ts.
 */

/** Port of the gateway, whose address callers know, when PUBLIC_URL is not set. */
const GATEWAY_PORT = 4000;
/** Seconds that running work gets when the worker stops; the rest is taken over by others. */
const WORKER_GRACE_SECONDS = 10;

await runProcess(async (parts) => {
  const internalKey = internalKeyOf(parts.config);
  const migrations = [{ schema: 'media', migrations: mediaMigrations }];
  const runtime = await startRuntime({ ...parts, migrations });
  const media = build(runtime, internalKey);
  parts.lifecycle.add('media subgraph', async () => media.close());
  await media.start();
  if (parts.config.role === 'worker') await work(media, parts);
  else await serve(media, runtime, internalKey);
});

/** Without the key anybody could claim to be anybody; the settings demand it too, and say so first. */
function internalKeyOf({ role, split }: Config): string {
  if (role !== 'media' && role !== 'worker') {
    throw new AppError('NOT_CONFIGURED', `this process is for the roles media and worker, not ${role}`);
  }
  if (split.internalKey !== null) return split.internalKey;
  throw new AppError('NOT_CONFIGURED', 'INTERNAL_KEY is needed when processes are split');
}

function build(runtime: Runtime, internalKey: string): MediaSubgraph {
  const { config, http } = runtime;
  const { server, files, limits } = config;
  const sandbox = config.sandbox?.url?.replace(/\/+$/, '') ?? null;
  const sandboxUrls =
    sandbox === null ? null : { midjourney: `${sandbox}/midjourney`, openai: `${sandbox}/openai/v1` };
  const providers = createProviders({ http });
  return createMediaSubgraph({
    ...runtime,
    registry: createGeneratorRegistry(
      bundledBindings({ sandboxUrls, settings: config.providers, providers }),
    ),
    authMode: config.auth.mode,
    version: packageJson.version,
    files: {
      publicUrl: publicUrlOf(server, GATEWAY_PORT),
      cdnBaseUrl: null,
      urlTtlSeconds: files.urlTtlSeconds,
      secret: createHash('sha256').update(`file addresses\0${internalKey}`).digest('hex'),
      retentionDays: files.mediaRetentionDays,
    },
    uploadMaxBytes: limits.uploadMaxBytes,
    eventRetentionDays: files.eventRetentionDays,
  });
}

async function work({ worker }: MediaSubgraph, { lifecycle, logger }: ProcessParts): Promise<void> {
  await worker.start();
  lifecycle.add('worker', () => worker.stop(WORKER_GRACE_SECONDS));
  logger.info('the worker takes work');
}

async function serve(media: MediaSubgraph, runtime: Runtime, internalKey: string): Promise<void> {
  const { config, logger, lifecycle, database, store } = runtime;
  const server = await createSubgraphServer({
    subgraph: media.subgraph,
    internalKey,
    logger,
    host: config.server.host,
    port: config.server.port,
    uploadMaxBytes: config.limits.uploadMaxBytes,
    openIntrospection: !config.production,
    readiness: async () => void (await Promise.all([database.check(), store.check()])),
    extraRoutes: (app) => void app.use('/files', media.handleFile),
  });
  lifecycle.add('server', () => server.close());
  logger.info({ url: server.url }, 'the media subgraph answers');
}
