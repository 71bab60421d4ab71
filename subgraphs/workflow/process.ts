import { auditMigrations } from '../../platform/audit/migrations.ts';
import { toPublicUrl } from '../../platform/config/config.ts';
import { AppError } from '../../platform/errors.ts';
import { createCallerSigner } from '../../platform/graphql/assertions/caller-assertion.ts';
import { createRemoteLink } from '../../platform/graphql/links/remote-link.ts';
import { createSubgraphServer } from '../../platform/graphql/subgraph-server/server.ts';
import { createEndpoints } from '../../platform/http/endpoints/endpoints.ts';
import { metricsHandler } from '../../platform/metrics/serve-metrics.ts';
import { queueMigrations } from '../../platform/queue/migrations.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { startRuntime, type Runtime } from '../../platform/runtime/runtime.ts';
import { composeWorkflow } from './compose.ts';
import { workflowMigrations } from './database/migrations/index.ts';
import { remoteSandbox, type RemoteSandbox } from './remote-sandbox.ts';
import type { WorkflowSubgraph } from './subgraph.ts';

/** The workflow subgraph as a process of its own (--role workflow). */

/** Address of the media subgraph in the checked-in supergraph; MEDIA_URL overrides it. */
const MEDIA_URL = 'http://media:4001/graphql';
/** Port of the gateway, whose address is the issuer of tokens, when PUBLIC_URL is not set. */
const GATEWAY_PORT = 4000;
/** Seconds that running jobs get when the process stops; the rest is taken over by others. */
const GRACE_SECONDS = 5;

/** Starts the database and queue, the subgraph, and its server. */
export async function startWorkflowProcess(parts: ProcessParts): Promise<void> {
  const { internalKey } = parts.config.split;
  // Without the key callers could not be trusted. The settings demand it too.
  if (internalKey === null)
    throw new AppError('NOT_CONFIGURED', 'INTERNAL_KEY is needed when processes are split');
  const migrations = [workflowMigrations, queueMigrations, auditMigrations];
  const runtime = await startRuntime({ ...parts, migrations });
  const workflow = await build(runtime, internalKey);
  await workflow.start();
  parts.lifecycle.add('workflow subgraph', () => workflow.stop(GRACE_SECONDS));
  await serve(workflow, runtime, internalKey);
}

async function build(runtime: Runtime, internalKey: string): Promise<WorkflowSubgraph> {
  const { config, logger, lifecycle } = runtime;
  const endpoints = createEndpoints({ urls: config.split.mediaUrls ?? [MEDIA_URL], logger });
  lifecycle.add('addresses of media', () => endpoints.close());
  const media = createRemoteLink({
    name: 'media',
    endpoints,
    sign: createCallerSigner({ key: internalKey, audience: 'media' }),
    channelKey: internalKey,
    logger,
  });
  lifecycle.add('link to media', () => media.close());
  const publicUrl = toPublicUrl(config.server, GATEWAY_PORT);
  return composeWorkflow(runtime, { media, publicUrl, sandbox: findRemoteSandbox(runtime) });
}

/** The sandbox at SANDBOX_URL: split processes do not embed one. */
function findRemoteSandbox({ config, http }: Runtime): RemoteSandbox | null {
  const url = config.sandbox?.url ?? null;
  return url === null ? null : remoteSandbox(url, http);
}

async function serve(workflow: WorkflowSubgraph, runtime: Runtime, internalKey: string): Promise<void> {
  const { config, logger, lifecycle, database } = runtime;
  const { drainSeconds, requestGraceSeconds } = config.stopping;
  const server = await createSubgraphServer({
    ...runtime,
    ...config.server,
    subgraph: workflow.subgraph,
    internalKey,
    metrics: metricsHandler(runtime.metrics, { key: config.metrics.key, logger }),
    uploadMaxBytes: config.limits.uploadMaxBytes,
    readiness: { database: () => database.check() },
    stillServeMs: drainSeconds * 1_000,
    graceMs: requestGraceSeconds * 1_000,
  });
  lifecycle.add('server', () => server.close(), (drainSeconds + requestGraceSeconds + 15) * 1_000);
  logger.info({ url: server.url }, 'the workflow subgraph answers');
}
