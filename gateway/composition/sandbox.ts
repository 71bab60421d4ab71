import path from 'node:path';

import type { ProcessParts } from '../../platform/run-process.ts';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { sandboxWires, type SandboxWires } from '../../subgraphs/media/generators/sandbox-wires.ts';

/** The sandbox as the composition sees it: the stand-ins' base URLs, and the page for people when it is embedded. */
export interface SandboxParts {
  readonly wires: SandboxWires;
  readonly browser: Sandbox['browser'] | null;
}

/** Starts the embedded sandbox, or points to the one at SANDBOX_URL; null in production, where there is none. */
export async function startSandbox({
  config,
  logger,
  lifecycle,
}: ProcessParts): Promise<SandboxParts | null> {
  if (config.sandbox === null) return null;
  const { url } = config.sandbox;
  if (url !== null) return { wires: sandboxWires(url), browser: null };
  const sandbox = await createSandbox({ dataDir: path.join(config.data.dir, 'sandbox'), logger });
  lifecycle.add('sandbox', () => sandbox.close());
  return { wires: sandboxWires(sandbox.url), browser: sandbox.browser };
}
