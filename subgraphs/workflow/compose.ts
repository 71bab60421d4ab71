import packageJson from '../../package.json' with { type: 'json' };
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import type { Runtime } from '../../platform/runtime/runtime.ts';
import { installationSecret } from '../../platform/secrets/secrets.ts';
import { composeCommerce, composeSignIn } from './compose-parts.ts';
import type { RemoteSandbox } from './remote-sandbox.ts';
import { createWorkflowSubgraph, type WorkflowSubgraph } from './subgraph.ts';

/** What composing needs besides the settings. */
export interface ComposeWorkflowOptions {
  /** The link to the media subgraph. */
  readonly media: SubgraphLink;
  /** Address that callers use, without a trailing slash. */
  readonly publicUrl: string;
  /** The stand-ins for what is not configured; null without a sandbox. */
  readonly sandbox: RemoteSandbox | null;
}

/** The workflow subgraph as the settings configure it: real services where they are configured, the sandbox elsewhere. */
export async function composeWorkflow(
  runtime: Runtime,
  { media, publicUrl, sandbox }: ComposeWorkflowOptions,
): Promise<WorkflowSubgraph> {
  const { config, http } = runtime;
  return createWorkflowSubgraph({
    ...runtime,
    logger: runtime.logger.part('workflow'),
    media,
    authMode: config.auth.mode,
    unpaidExecutions: config.auth.unpaidExecutions,
    version: packageJson.version,
    production: config.production,
    promptRetentionDays: config.files.promptRetentionDays,
    queueMaxHours: config.limits.queueMaxHours,
    workflowNames: config.workflowNames,
    publicUrl,
    signInSecret: await installationSecret(config, 'sign-in-secret'),
    commerce: composeCommerce(config, sandbox?.stripe ?? null),
    signIn: composeSignIn(config, { publicUrl, sandbox: sandbox?.identity ?? null, http }),
  });
}
