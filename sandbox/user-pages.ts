import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from '../platform/process/logger.ts';
import { failRequest } from './http/listener.ts';
import { createIdentityStandIn } from './identity/identity-provider.ts';
import type { IdentityOptions, IdentityStandIn } from './identity/identity-provider.ts';
import { createStripeStandIn } from './stripe/stripe.ts';
import type { StripeOptions, StripeStandIn } from './stripe/stripe.ts';

/** Mount of the identity provider. */
export const IDENTITY = 'identity';
/** Path of the pages of checkouts. */
const CHECKOUT = 'stripe/pay';

/** Whom the pages for people send back to, and where they are. */
export interface UserPagesOptions {
  /** Where payments are kept. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Address of the one Kiln that this is the outside world of: payments are told of there, browsers sent back to it. */
  readonly kilnUrl?: string;
  /** Where browsers find the identity provider, and where it sends them back; without it, at the sandbox's own address. */
  readonly identity?: Omit<IdentityOptions, 'logger'>;
  /** Where browsers find a checkout's page, and where its events go; without it at the sandbox, and to `kilnUrl`. */
  readonly stripe?: Pick<StripeOptions, 'pageUrl' | 'webhookUrl'>;
}

/** Answers a request of a browser, or hands it on. */
export type BrowserHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/** Where a Kiln on this machine may be. */
function loopbackUrls(at: string): readonly string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:4000${at}`);
}

/** What people meet: where they sign in, and where they pay. */
export interface UserPages {
  readonly identity: IdentityStandIn;
  readonly stripe: StripeStandIn;
}

/** Opens both at an origin; without a Kiln named, every Kiln on this machine may use them. */
export async function openUserPages(
  { identity, stripe, kilnUrl, dataDir, logger }: UserPagesOptions,
  origin: string,
): Promise<UserPages> {
  const kilnUrls = (at: string) => (kilnUrl === undefined ? loopbackUrls(at) : [`${kilnUrl}${at}`]);
  return {
    identity: await createIdentityStandIn({
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

/** Answers a page for people; false when the path is none of theirs. */
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

/** What the gateway mounts below /sandbox: the pages for people, and the sandbox's own. */
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
