import type { IncomingMessage, ServerResponse } from 'node:http';

import { once } from '../platform/once.ts';
import type { Logger } from '../platform/process/logger.ts';
import { failRequest } from './http/listener.ts';
import type { IdentityOptions, IdentityStandIn } from './identity/identity-provider.ts';
import { createStripeStandIn } from './stripe/stripe.ts';
import type { StripeOptions, StripeStandIn } from './stripe/stripe.ts';

/** Mount of the identity provider. */
export const IDENTITY = 'identity';
/** Path of the pages of checkouts. */
const CHECKOUT = 'stripe/pay';

/** The addresses of the identity provider and the checkout pages. */
export interface UserPagesOptions {
  /** Where payments are stored. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Address of the Kiln that uses this sandbox: receives webhooks of payments, and browsers are redirected to it. */
  readonly kilnUrl?: string;
  /** The identity provider's public address and redirects; defaults to the sandbox's own address. */
  readonly identity?: Omit<IdentityOptions, 'logger'>;
  /** Address of the checkout pages, and of the webhook; defaults to the sandbox, and to `kilnUrl`. */
  readonly stripe?: Pick<StripeOptions, 'pageUrl' | 'webhookUrl'>;
}

/** Handles a browser's request, or calls `next`. */
export type BrowserHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/** Default addresses of a Kiln on this machine. */
function loopbackUrls(at: string): readonly string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:4000${at}`);
}

/** The stand-ins that users see in a browser: identity provider and checkout. */
export interface UserPages {
  readonly identity: IdentityStandIn;
  readonly stripe: StripeStandIn;
}

/** Creates both at an origin; without `kilnUrl` any Kiln on this machine may use them. */
export async function openUserPages(
  { identity, stripe, kilnUrl, dataDir, logger }: UserPagesOptions,
  origin: string,
): Promise<UserPages> {
  const kilnUrls = (at: string) => (kilnUrl === undefined ? loopbackUrls(at) : [`${kilnUrl}${at}`]);
  return {
    identity: createIdentityOnFirstUse({
      issuer: `${origin}/${IDENTITY}`,
      redirectUris: kilnUrls('/auth/idp/callback'),
      postLogoutUris: kilnUrls('/'),
      anyLoopbackPort: identity === undefined && kilnUrl === undefined,
      ...identity,
      logger,
    }),
    stripe: await createStripeStandIn({
      pageUrl: `${origin}/${CHECKOUT}`,
      webhookUrl: kilnUrl === undefined ? null : `${kilnUrl}/payment/webhook`,
      ...stripe,
      dataDir,
      logger,
    }),
  };
}

/** Loads and creates it at its first request: its server is a fifth of what a start would load, and few starts sign in. */
function createIdentityOnFirstUse(options: IdentityOptions): IdentityStandIn {
  const identity = once(async () => {
    const { createIdentityStandIn } = await import('./identity/identity-provider.ts');
    return createIdentityStandIn(options);
  });
  return {
    issuer: options.issuer,
    async handle(request, response) {
      await (await identity()).handle(request, response);
    },
  };
}

/** Serves their pages; false when the path is another. */
export function serveUserPages(
  { identity, stripe }: UserPages,
  path: string,
  to: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly logger: Logger },
): boolean {
  const { request, response, logger } = to;
  if (path.startsWith(`/${IDENTITY}/`)) {
    request.url = path.slice(IDENTITY.length + 1);
    identity.handle(request, response).catch((thrown: unknown) => failRequest(response, thrown, logger));
    return true;
  }
  const [, sessionId] = new RegExp(`^/${CHECKOUT}/(\\w+)(?:\\?|$)`).exec(path) ?? [];
  if (sessionId === undefined) return false;
  stripe.page(sessionId, request, response);
  return true;
}

/** Creates the handler that the gateway mounts below /sandbox: these pages and the status page. */
export function createBrowserHandler(
  people: UserPages,
  page: BrowserHandler,
  logger: Logger,
): BrowserHandler {
  const prefix = '/sandbox';
  return (request, response, next) => {
    const { url = '/' } = request;
    const isTheirs =
      url.startsWith(`${prefix}/`) &&
      serveUserPages(people, url.slice(prefix.length), { request, response, logger });
    if (!isTheirs) page(request, response, next);
  };
}
