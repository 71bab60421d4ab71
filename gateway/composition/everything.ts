import cluster from 'node:cluster';
import { createHash } from 'node:crypto';

import { toPublicUrl } from '../../platform/config/config.ts';
import { onceThere } from '../../platform/database/once-there.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import type { OpenedData } from '../../platform/runtime/open-data.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { startRuntime, type Runtime, storeCheck } from '../../platform/runtime/runtime.ts';
import { installationSecret, webhookSecret, localSecret } from '../../platform/secrets/secrets.ts';
import { composeMedia } from '../../subgraphs/media/compose.ts';
import type { MediaSubgraph } from '../../subgraphs/media/subgraph.ts';
import { composeWorkflow } from '../../subgraphs/workflow/compose.ts';
import type { BootstrapKey } from '../authentication/credentials.ts';
import { openSharedCounts, type SharedCounts } from '../limits/shared-counts.ts';
import { allMigrations } from '../migrations/all.ts';
import { reservePort } from './port.ts';
import { startPublicServer, checkedInSupergraph, type PublicServer } from './public-server.ts';
import { startSandbox, type SandboxParts } from './sandbox.ts';

/** All of Kiln in one process, as `npm start` runs it; tests look inside. */
export interface Everything extends PublicServer {
  readonly runtime: Runtime;
  readonly media: MediaSubgraph;
}

/** Seconds for the jobs of executions and payments when the process stops; the rest is continued at the next start. */
const JOB_GRACE_SECONDS = 5;

/** Starts everything in order: data, sandbox, subgraphs, server, worker. The lifecycle stops it in reverse. */
export async function startEverything(parts: ProcessParts, data?: OpenedData): Promise<Everything> {
  const { config, logger, lifecycle } = parts;
  const runtime = await startRuntime({ ...parts, data, migrations: allMigrations });
  const reserved = await reservePort(config.server, lifecycle);
  const publicUrl = toPublicUrl(config.server, reserved.port);
  const localUrl = toLocalUrl(publicUrl, reserved.port);
  const sandbox = await startSandbox(parts, { publicUrl, localUrl, http: runtime.http });
  const media = composeMedia(runtime, {
    sandboxUrls: sandbox?.wires ?? null,
    publicUrl,
    localUrl,
    fileSecret: await installationSecret(config, 'file-secret'),
    webhookSecret: await webhookSecret(config),
  });
  lifecycle.add('media subgraph', async () => media.close());
  await media.start();
  const { links, developmentCode } = await linkSubgraphs(runtime, { media, publicUrl, sandbox });
  finishWork(parts, media);
  const server = await startPublicServer(parts, {
    supergraphSdl: await checkedInSupergraph(),
    links,
    serviceKeys: [...config.auth.serviceKeys, ...(await developmentKey(parts))],
    publicUrl,
    reserved,
    metrics: runtime.metrics,
    tracer: runtime.tracer,
    sharedCounts: await createSharedCounter(runtime),
    readiness: { database: () => runtime.database.check(), files: storeCheck(runtime) },
    files: media.handleFile,
    openFile: media.openFile,
    hooks: media.handleProviderWebhook,
    sandbox: sandbox?.browser ?? undefined,
    database: runtime.database,
  });
  // Of several processes the first one says it.
  if (config.auth.isAllEmbedded && (cluster.worker?.id ?? 1) === 1) {
    printConsoleAddress(publicUrl, await onceThere(developmentCode, { logger }));
  }
  // Last, so that whatever waited for this start does not compete with it for the database.
  await media.worker.start();
  logger.info(
    {
      url: publicUrl,
      graphql: `${publicUrl}/graphql`,
      explorer: `${publicUrl}/explorer`,
      ...(sandbox?.browser != null && { sandbox: `${publicUrl}/sandbox` }),
    },
    'Kiln serves',
  );
  sayWhoMayCall(parts);
  return { ...server, runtime, media };
}

/** Of several processes that serve one address. */
async function createSharedCounter({ config, database, logger }: Runtime): Promise<SharedCounts | undefined> {
  const { rate, countsInDatabase } = config.limits;
  return rate !== null && countsInDatabase ? openSharedCounts({ database, logger }) : undefined;
}

/** From the first moment of a stop nothing more is taken; what nobody else can take up is finished, while the server drains and after. */
function finishWork({ config, lifecycle }: ProcessParts, media: MediaSubgraph): void {
  const { workerGraceSeconds } = config.stopping;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= media.worker.stop(workerGraceSeconds));
  lifecycle.stopping.addEventListener('abort', () => void stop(), { once: true });
  const finish = async () => void (await Promise.all([stop(), media.finishChats(workerGraceSeconds)]));
  lifecycle.add('worker', finish, (workerGraceSeconds + 15) * 1_000);
}

function sayWhoMayCall({ config, logger }: ProcessParts): void {
  if (config.demo) {
    logger.warn(
      'THIS IS A DEMO, not for production: stand-ins make the results, payments are played, nothing outlives DATA_DIR, anybody may call',
    );
  } else if (!config.auth.isChosen) {
    logger.info(
      'REST_AUTH is open: no operation needs a credential, because everything here is embedded or the sandbox',
    );
  }
}

/** The gateway's URL for processes on this machine, with the path that PUBLIC_URL may have. */
function toLocalUrl(publicUrl: string, port: number): string {
  return `http://127.0.0.1:${port}${new URL(publicUrl).pathname.replace(/\/$/, '')}`;
}

async function linkSubgraphs(
  runtime: Runtime,
  {
    media,
    publicUrl,
    sandbox,
  }: { readonly media: MediaSubgraph; readonly publicUrl: string; readonly sandbox: SandboxParts | null },
) {
  const { logger, lifecycle } = runtime;
  const mediaLink = createLocalLink({ subgraph: media.subgraph, logger });
  const workflow = await composeWorkflow(runtime, { media: mediaLink, publicUrl, sandbox });
  lifecycle.add('workflow subgraph', () => workflow.stop(JOB_GRACE_SECONDS));
  await workflow.start();
  return {
    links: { media: mediaLink, workflow: createLocalLink({ subgraph: workflow.subgraph, logger }) },
    developmentCode: () => workflow.developmentCode(),
  };
}

/** In development a service key is made at the first start, and kept in DATA_DIR; it is printed where nothing real can be spent with it. */
async function developmentKey({ config }: ProcessParts): Promise<BootstrapKey[]> {
  if (config.production) return [];
  const { secret, isNew } = await localSecret({ directory: config.data.dir, name: 'service-key' });
  const key = `kiln_${secret}`;
  // Not logged: logs are kept and shipped, and this is for the terminal only.
  if (isNew && config.auth.isAllEmbedded)
    process.stdout.write(`Service key of this development server (shown once): ${key}\n`);
  return [{ name: 'development', sha256: createHash('sha256').update(key).digest('hex') }];
}

/** Where everything is embedded the console's address is printed with a login code that signs one browser in as the administrator. */
function printConsoleAddress(publicUrl: string, code: string): void {
  // Not logged, as the service key is not; and in the fragment, which no server and no referrer sees.
  const address = `${publicUrl}/console/#login_code=${code}`;
  process.stdout.write(
    `Console, signed in as the administrator (good once, within 15 minutes): ${address}\n`,
  );
}
