import { allMigrations } from '../../gateway/migrations/all.ts';
import { toPublicUrl } from '../../platform/config/config.ts';
import { sandboxAddresses } from '../../platform/config/sandbox-addresses.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import { noMetrics } from '../../platform/metrics/metrics.ts';
import { tryInstanceLock } from '../../platform/process/instance-lock.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { startRuntime, type Runtime } from '../../platform/runtime/runtime.ts';
import { installationSecret, webhookSecret } from '../../platform/secrets/secrets.ts';
import { composeMedia } from '../../subgraphs/media/compose.ts';
import { mediaDatabase } from '../../subgraphs/media/database/database.ts';
import { createVideoTemplateService } from '../../subgraphs/media/video-templates/service.ts';
import { composeCommerce } from '../../subgraphs/workflow/compose-parts.ts';
import { workflowDatabase } from '../../subgraphs/workflow/database/database.ts';
import { createMediaClient } from '../../subgraphs/workflow/executions/media-client.ts';
import { createRunnableChecks } from '../../subgraphs/workflow/executions/runnable.ts';
import { remoteSandbox } from '../../subgraphs/workflow/remote-sandbox.ts';
import { createResultCopier } from '../fallback/copy-results.ts';
import { createStoredAnswers } from '../fallback/stored-answers.ts';
import { createTemplateImporter } from './store-templates.ts';

/** Where the embedded sandbox would be: only checks are made here, and they call nobody. */
const NO_SANDBOX = 'http://127.0.0.1:9';
/** Port of the gateway when neither PUBLIC_URL nor PORT says it. */
const GATEWAY_PORT = 4000;

/** What an import reads and writes with: the rules of both subgraphs over the database of the settings. */
export async function composeImport(runtime: Runtime) {
  const { config, logger, http } = runtime;
  const publicUrl = toPublicUrl(config.server, config.server.port || GATEWAY_PORT);
  const sandboxUrl = config.sandbox?.url ?? null;
  const media = composeMedia(
    { ...runtime, metrics: noMetrics },
    {
      sandboxUrls: config.sandbox === null ? null : sandboxAddresses(sandboxUrl ?? NO_SANDBOX),
      publicUrl,
      fileSecret: await installationSecret(config, 'file-secret'),
      webhookSecret: await webhookSecret(config),
    },
  );
  runtime.lifecycle.add('media subgraph', () => media.close());
  const link = createLocalLink({ subgraph: media.subgraph, logger });
  const { workflowNames } = config;
  // The embedded sandbox belongs to a Kiln that may run: its payments are out of reach here.
  const stripe = sandboxUrl === null ? null : remoteSandbox(sandboxUrl, http).stripe;
  return {
    http,
    stored: createStoredAnswers(runtime.database),
    areFileAddressesTemporary: config.files.urlTtlSeconds > 0,
    /** Copies results that are at these origins, or at public addresses. */
    copierFrom: (trustedOrigins: readonly string[]) =>
      createResultCopier({
        executor: { execute: (request) => link.execute(request) },
        http,
        logger,
        trustedOrigins,
        publicUrl,
        maxBytes: config.limits.uploadMaxBytes,
      }),
    videoTemplates: createVideoTemplateService(mediaDatabase(runtime.database)),
    templates: createTemplateImporter({
      ...composeCommerce(config, stripe),
      database: workflowDatabase(runtime.database),
      runnable: createRunnableChecks({ media: createMediaClient(link), workflowNames }),
      workflowNames,
    }),
  };
}

/** Beside a Kiln that runs, with its embedded database; otherwise none can start here meanwhile. */
export async function startBeside(parts: ProcessParts): Promise<Runtime> {
  const { config, lifecycle } = parts;
  const release = tryInstanceLock({ dataDir: config.data.dir, name: 'kiln' });
  if (release !== undefined) lifecycle.add('data directory', async () => release());
  return startRuntime({
    ...parts,
    // Not the role `all`, which would demand that lock; METRICS_PORT may be in use by the Kiln that runs.
    config: { ...config, role: 'media', metrics: { port: null, key: null } },
    migrations: allMigrations,
  });
}
