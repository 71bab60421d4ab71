import path from 'node:path';

import { sandboxAddresses, type SandboxAddresses } from '../../platform/config/sandbox-addresses.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { SandboxStripe, SandboxIdentity } from '../../subgraphs/workflow/compose-parts.ts';
import { remoteSandbox } from '../../subgraphs/workflow/remote-sandbox.ts';

/** The sandbox: base URLs of its services, and its pages when it is embedded. */
export interface SandboxParts {
  readonly wires: SandboxAddresses;
  readonly browser: Sandbox['browser'] | null;
  /** Its identity provider. */
  readonly identity: SandboxIdentity;
  /** Its Stripe. */
  readonly stripe: SandboxStripe;
}

/** Starts the embedded sandbox, or uses the one at SANDBOX_URL; null in production, which has none. */
export async function startSandbox(
  { config, logger, lifecycle }: ProcessParts,
  place: { readonly publicUrl: string; readonly localUrl: string; readonly http: HttpClient },
): Promise<SandboxParts | null> {
  if (config.sandbox === null) return null;
  const { url } = config.sandbox;
  const { publicUrl, localUrl, http } = place;
  if (url !== null) return { wires: sandboxAddresses(url), browser: null, ...remoteSandbox(url, http) };
  // Loaded only where it is used: production installs neither it nor its libraries.
  const { createSandbox } = await import('../../sandbox/sandbox.ts');
  const sandbox = await createSandbox({
    dataDir: path.join(config.data.dir, 'sandbox'),
    identity: {
      issuer: `${publicUrl}/sandbox/identity`,
      redirectUris: [`${publicUrl}/auth/idp/callback`],
      postLogoutUris: [`${publicUrl}/`],
    },
    stripe: {
      pageUrl: `${publicUrl}/sandbox/stripe/pay`,
      webhookUrl: `${localUrl}/payment/webhook`,
    },
    logger: logger.part('sandbox'),
  });
  lifecycle.add('sandbox', () => sandbox.close());
  const { stripe, platforms } = sandbox;
  const identity = { issuer: sandbox.issuer, url: sandbox.identityUrl, platforms };
  return {
    wires: sandbox.wires,
    browser: sandbox.browser,
    identity,
    stripe: { ...stripe, pay: (sessionId) => stripe.control.payIfOpen(sessionId) },
  };
}
