import type { JWK } from 'jose';
import { sql } from 'kysely';

import { toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { HttpClient } from '../../../platform/http/http-client.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import type { ServiceKeyService, SessionService, UserService } from '../domain/sign-in.ts';
import { createAttempts } from './browser/attempts.ts';
import { createBrowserSignIn, type BrowserSignIn } from './browser/browser-sign-in.ts';
import { issueDevelopmentCode } from './browser/development-administrator.ts';
import { createServiceKeys } from './keys/service-keys.ts';
import {
  createPlatformSignIn,
  type PlatformSignIn,
  type PlatformSignInOptions,
} from './platforms/platform-sign-in.ts';
import type { Platform } from './platforms/platform.ts';
import type { IdentityProviderSettings } from './provider/identity-provider.ts';
import { createIdentityProvider } from './provider/openid-connect.ts';
import { createEncryption, keyFor } from './secrets/encryption.ts';
import { createSigningKeys } from './secrets/signing-keys.ts';
import { createCallerFinder, type FindCaller } from './sessions/find-caller.ts';
import {
  createForeignTokens,
  type ForeignTokens,
  type ForeignTokensSettings,
} from './sessions/foreign-tokens.ts';
import { createLoginCodes } from './sessions/login-codes.ts';
import { createSessionService } from './sessions/sessions.ts';
import { createAccessTokens } from './sessions/tokens.ts';
import { createUserService, type UsersOptions } from './users/users.ts';

export interface SignInOptions {
  readonly database: WorkflowDatabase;
  readonly bus: EventBus;
  /** PUBLIC_URL: the issuer of our tokens. */
  readonly publicUrl: string;
  /** Encrypts and signs; the same in every process and after a restart. */
  readonly secret: string;
  readonly admins: UsersOptions['admins'];
  readonly onDeleting?: UsersOptions['onDeleting'];
  /** Reaches the identity provider and the platforms. */
  readonly http: HttpClient;
  readonly logger: Logger;
  /** The identity provider; null where none is set up. */
  readonly provider: IdentityProviderSettings | null;
  /** The platforms of mini-programs that are set up. */
  readonly platforms: readonly Platform[];
  /** LEGACY_JWKS; absent or null: no tokens of another service are accepted. */
  readonly legacyTokens?: ForeignTokensSettings | null;
  /** SIGN_IN_REDIRECTS. */
  readonly redirects: readonly string[];
  /** The clock of the signing keys and their tokens, for tests. */
  readonly now?: () => Date;
}

/** The services of signing in that the schema calls. */
export interface SignInServices {
  readonly users: UserService;
  readonly sessions: SessionService;
  readonly serviceKeys: ServiceKeyService;
  readonly browser: BrowserSignIn;
  readonly platforms: PlatformSignIn;
  /** The identity provider's sign-out page. */
  readonly signOutUrl: () => Promise<string | null>;
  readonly findCaller: FindCaller;
  /** A login code of the development administrator, good once. */
  readonly developmentCode: () => Promise<string>;
  /** The public keys of our access tokens. */
  readonly publicKeys: () => Promise<readonly JWK[]>;
}

const ACCESS_SECONDS = 15 * 60;
const SESSION_SECONDS = 30 * 86_400;

/** Creates the services of signing in. `close` removes their listeners. */
export function createSignIn(options: SignInOptions): SignInServices & { close(): void } {
  const { database, bus, publicUrl, secret, admins, logger } = options;
  const clock = options.now === undefined ? {} : { now: options.now };
  const provider =
    options.provider === null
      ? null
      : createIdentityProvider({ http: options.http, settings: options.provider });
  const keys = createSigningKeys({
    database,
    encryption: createEncryption(secret, 'signing keys'),
    tokenSeconds: ACCESS_SECONDS,
    ...clock,
  });
  const tokens = createAccessTokens({ keys, issuer: publicUrl, seconds: ACCESS_SECONDS, ...clock });
  const providerTokens = createEncryption(secret, 'provider tokens');
  const sessions = createSessionService({
    database,
    bus,
    tokens,
    encryption: providerTokens,
    refreshKey: keyFor(secret, 'refresh tokens'),
    accessSeconds: ACCESS_SECONDS,
    sessionSeconds: SESSION_SECONDS,
    onClosed: (token) => {
      // The session is closed even if the provider does not answer.
      provider
        ?.revoke(token)
        .catch((error: unknown) =>
          logger.warn({ error: toError(error) }, 'the identity provider was not told of a closed session'),
        );
    },
  });
  const users = createUserService({
    database,
    encryption: createEncryption(secret, 'platform secrets'),
    admins,
    onDeleted: (ended) => sessions.closed(ended),
    ...(options.onDeleting && { onDeleting: options.onDeleting }),
  });
  const serviceKeys = createServiceKeys(database);
  const codes = createLoginCodes({ database, encryption: providerTokens });
  const waysIn = { provider, codes, users, sessions };
  return {
    users,
    sessions,
    serviceKeys,
    ...createWaysIn(options, waysIn),
    signOutUrl: async () => provider?.signOutUrl(`${publicUrl}/`) ?? null,
    findCaller: createCallerFinder({
      tokens,
      sessions,
      users,
      keys: serviceKeys,
      foreign: createForeign(options, users),
    }),
    developmentCode: () => issueDevelopmentCode({ users, codes }),
    publicKeys: () => keys.published(),
    close: () => sessions.close(),
  };
}

/** Tokens of other issuers; none without an identity provider, which knows their subjects. */
function createForeign(
  { legacyTokens, provider, publicUrl, http, logger, now }: SignInOptions,
  users: UserService,
): readonly ForeignTokens[] {
  if (provider === null) return [];
  const { issuer, jwks = null } = provider;
  const agents = jwks === null ? null : { issuer, jwks, audience: `${publicUrl}/mcp`, until: null };
  const clock = now === undefined ? {} : { now };
  const common = { providerIssuer: issuer, users, http, logger, ...clock };
  return [agents, legacyTokens].flatMap((settings) =>
    settings ? [createForeignTokens({ settings, ...common })] : [],
  );
}

/** With a browser, and without. */
function createWaysIn(
  { publicUrl, secret, platforms, redirects }: SignInOptions,
  shared: Omit<PlatformSignInOptions, 'platforms'>,
): Pick<SignInServices, 'browser' | 'platforms'> {
  const attempts = createAttempts({
    encryption: createEncryption(secret, 'sign-in attempts'),
    isSecure: publicUrl.startsWith('https:'),
  });
  return {
    browser: createBrowserSignIn({
      ...shared,
      attempts,
      redirects: { publicUrl, allowed: redirects },
    }),
    platforms: createPlatformSignIn({
      ...shared,
      platforms: new Map(platforms.map((platform) => [platform.name, platform])),
    }),
  };
}

/**
 * Deletes expired login codes, and sessions that expired a day ago, at most `limit` of each. Both may hold an encrypted
 * token of the identity provider.
 */
export async function pruneSignIn(database: WorkflowDatabase, limit: number): Promise<void> {
  await sql`/* sign-in.prune-codes */
    delete from workflow.login_codes where code_hash = any(array(
      select code_hash from workflow.login_codes where expires_at < now() limit ${limit}))`.execute(database);
  await sql`/* sign-in.prune-sessions */
    delete from workflow.sessions where id = any(array(
      select id from workflow.sessions where expires_at < now() - interval '1 day' order by expires_at limit ${limit}))`.execute(
    database,
  );
}
