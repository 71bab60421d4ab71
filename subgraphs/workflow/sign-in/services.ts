import type { EventBus } from '../../../platform/event-bus.ts';
import type { WorkflowDatabase } from '../database.ts';
import { createAccessTokens } from './access-tokens.ts';
import { createCallerOf } from './caller-of.ts';
import { createSealer, keyFor } from './sealer.ts';
import { createServiceKeys } from './service-keys.ts';
import { createSessionService } from './sessions.ts';
import type { SignInServices } from './sign-in.ts';
import { createSigningKeys } from './signing-keys.ts';
import { createUserService, type UsersOptions } from './users.ts';

export interface SignInOptions {
  readonly database: WorkflowDatabase;
  readonly bus: EventBus;
  /** PUBLIC_URL: the issuer of our tokens. */
  readonly publicUrl: string;
  /** Seals and signs; the same in every process and after a restart. */
  readonly secret: string;
  readonly admins: UsersOptions['admins'];
  /** Tells the identity provider that a session is over, as far as it listens. */
  readonly onClosed?: (providerToken: string) => void;
  /** The clock of the signing keys and their tokens; tests turn it. */
  readonly now?: () => Date;
}

const ACCESS_SECONDS = 15 * 60;
const SESSION_SECONDS = 30 * 86_400;

/** The services of signing in, over one database. `close` ends their listening. */
export function createSignIn(options: SignInOptions): SignInServices & { close(): void } {
  const { database, bus, publicUrl, secret, admins } = options;
  const clock = options.now === undefined ? {} : { now: options.now };
  const keys = createSigningKeys({
    database,
    sealer: createSealer(secret, 'signing keys'),
    tokenSeconds: ACCESS_SECONDS,
    ...clock,
  });
  const tokens = createAccessTokens({ keys, issuer: publicUrl, seconds: ACCESS_SECONDS, ...clock });
  const sessions = createSessionService({
    database,
    bus,
    tokens,
    sealer: createSealer(secret, 'provider tokens'),
    refreshKey: keyFor(secret, 'refresh tokens'),
    accessSeconds: ACCESS_SECONDS,
    sessionSeconds: SESSION_SECONDS,
    ...(options.onClosed === undefined ? {} : { onClosed: options.onClosed }),
  });
  const users = createUserService({
    database,
    sealer: createSealer(secret, 'platform secrets'),
    admins,
    onDeleted: (ids) => sessions.forget(ids),
  });
  const serviceKeys = createServiceKeys(database);
  return {
    users,
    sessions,
    serviceKeys,
    callerOf: createCallerOf({ tokens, sessions, users, keys: serviceKeys }),
    publicKeys: () => keys.published(),
    close: () => sessions.close(),
  };
}
