import { randomBytes } from 'node:crypto';

import { sql, type Selectable } from 'kysely';
import { LRUCache } from 'lru-cache';

import { AppError, badInput, notFound } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { WorkflowDatabase } from '../../database/database.ts';
import type { WorkflowSession } from '../../database/tables.ts';
import type { NewSession, Session, SessionService, SignedIn } from '../../domain/sign-in.ts';
import type { Encryption } from '../secrets/encryption.ts';
import { type AccessTokens, isSameToken, readRefreshToken, signRefreshToken } from './tokens.ts';

export interface SessionsOptions {
  readonly database: WorkflowDatabase;
  readonly bus: EventBus;
  readonly tokens: AccessTokens;
  readonly encryption: Encryption;
  /** Signs the refresh tokens. */
  readonly refreshKey: Uint8Array;
  /** Lifetime in seconds of an access token, and of a session that is not refreshed. */
  readonly accessSeconds: number;
  readonly sessionSeconds: number;
  /** Revokes the identity provider's token of a closed session. */
  readonly onClosed?: (providerToken: string) => void;
}

/** Seconds in which a used refresh token still gets its successor, because two tabs may refresh at the same time. */
const REPLAY_SECONDS = 30;
/** Wake-up topic: a session was closed. */
const SESSIONS = 'workflow.sessions';
/** Milliseconds that an open session is cached; a wake-up invalidates it earlier. */
const OPEN_MS = 1_500;
const MAX_KEPT = 20_000;
const MAX_LISTED = 100;

/** Creates the service (documented in domain/sign-in.ts). `close` removes its listeners. */
export function createSessionService(options: SessionsOptions): SessionService & {
  /** Invalidates the caches of all processes for closed sessions, and revokes them at the identity provider. */
  closed(sessions: readonly EndedSession[]): Promise<void>;
  close(): void;
} {
  const { database, tokens, bus } = options;
  const open = new LRUCache<string, boolean>({
    max: MAX_KEPT,
    ttl: OPEN_MS,
    fetchMethod: (id) => readOpen(database, id),
    // A session that is deleted from the cache while it is read still answers those who wait for it.
    ignoreFetchAbort: true,
  });
  const isOpen = (id: string) => open.forceFetch(id);
  const stopListening = bus.listen(SESSIONS, (id) => void open.delete(id));
  const stopGaps = bus.onGap(() => open.clear());
  const forget = (ids: readonly string[]) => {
    for (const id of ids) {
      open.delete(id);
      bus.publish(SESSIONS, id, 1);
    }
  };
  const closed = async (rows: readonly EndedSession[]) => {
    forget(rows.map(({ id }) => id));
    for (const { sealedProviderToken: sealed } of rows) {
      const token = sealed === null ? null : await options.encryption.decrypt(sealed);
      if (typeof token === 'string') options.onClosed?.(token);
    }
  };
  const context: SessionContext = { ...options, closed };
  return {
    open: (request) => openSession(context, request),
    refresh: (token, userId = null) => refresh(context, token, userId),
    async revokeToken(token, userId = null) {
      const id = await readSession(context, token);
      if (id === null) return;
      if (userId !== null && !(await isSessionOf(database, { id, userId }))) {
        throw badInput('userId', 'userId is not the user of this token: nothing was closed');
      }
      await closed(await revokeRows(database, { id, userId }));
    },
    async revoke(caller, id) {
      const rows = await revokeRows(database, { id, userId: caller.id });
      if (rows.length === 0) throw notFound('session', id);
      await closed(rows);
    },
    revokeSessions: (userId, sessionId) => revokeSession(context, userId, sessionId),
    list: (userId) => list(database, userId),
    isOpen,
    async findSessionId(token) {
      const claims = await tokens.verify(token);
      return claims !== null && (await isOpen(claims.sessionId)) ? claims.sessionId : null;
    },
    closed,
    close() {
      stopListening();
      stopGaps();
    },
  };
}

type SessionRow = Selectable<WorkflowSession>;

/** What `closed` needs of a session. */
export type EndedSession = Pick<SessionRow, 'id' | 'sealedProviderToken'>;

type SessionContext = SessionsOptions & {
  readonly closed: (rows: readonly EndedSession[]) => Promise<void>;
};

async function readOpen(database: WorkflowDatabase, id: string): Promise<boolean> {
  const row = await openSessions(database).select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** Whether a session, open or not, is this user's. */
async function isSessionOf(
  database: WorkflowDatabase,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<boolean> {
  const row = await database
    .selectFrom('workflow.sessions')
    .select('id')
    .where('id', '=', id)
    .where('userId', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

function openSessions(database: WorkflowDatabase) {
  return database
    .selectFrom('workflow.sessions')
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', sql<Date>`now()`);
}

async function openSession(
  context: SessionContext,
  { userId, platform, scope, providerToken }: NewSession,
): Promise<SignedIn> {
  const row = await context.database
    .insertInto('workflow.sessions')
    .values({
      id: `ses_${randomBytes(16).toString('base64url')}`,
      userId,
      platform,
      scope,
      salt: randomBytes(32).toString('base64url'),
      sealedProviderToken: providerToken === null ? null : await context.encryption.encrypt(providerToken),
      expiresAt: expiry(context),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return signTokens(context, row, row.generation);
}

function expiry({ sessionSeconds }: SessionContext) {
  return sql<Date>`now() + make_interval(secs => ${sessionSeconds})`;
}

async function signTokens(context: SessionContext, row: SessionRow, generation: number): Promise<SignedIn> {
  const { id: sessionId, userId, scope, platform, salt } = row;
  return {
    userId,
    accessToken: await context.tokens.sign({ userId, sessionId, scope, platform }),
    refreshToken: signRefreshToken(context.refreshKey, { sessionId, generation, salt }),
    expiresIn: context.accessSeconds,
    scope,
  };
}

async function refresh(context: SessionContext, token: string, userId: string | null): Promise<SignedIn> {
  const found = await readRow(context, token);
  if (found === null || !isLive(found.row) || (userId !== null && userId !== found.row.userId))
    throw refused();
  const { row, generation } = found;
  const won = await context.database
    .updateTable('workflow.sessions')
    .set({ generation: generation + 1, rotatedAt: sql<Date>`now()`, expiresAt: expiry(context) })
    .where('id', '=', row.id)
    .where('generation', '=', generation)
    .where('revokedAt', 'is', null)
    .executeTakeFirst();
  if (won.numUpdatedRows === 1n || (await mayReplay(context, row.id, generation))) {
    return signTokens(context, row, generation + 1);
  }
  // A refresh token was used twice: it may be stolen, so the session is closed.
  await context.closed(await revokeRows(context.database, { id: row.id, userId: null }));
  throw refused();
}

function isLive({ revokedAt, expiresAt }: SessionRow): boolean {
  return revokedAt === null && expiresAt > new Date();
}

function refused(): AppError {
  return new AppError('UNAUTHENTICATED', 'the refresh token is not valid (any more): sign in again');
}

/** Whether a conflict is a concurrent refresh: the token before the current one, refreshed a moment ago. */
async function mayReplay({ database }: SessionContext, id: string, generation: number): Promise<boolean> {
  const row = await database
    .selectFrom('workflow.sessions')
    .select('id')
    .where('id', '=', id)
    .where('generation', '=', generation + 1)
    .where('revokedAt', 'is', null)
    .where('rotatedAt', '>', sql<Date>`now() - make_interval(secs => ${REPLAY_SECONDS})`)
    .executeTakeFirst();
  return row !== undefined;
}

/** The session of a refresh token with a valid mac, open or not. */
async function readRow(
  { database, refreshKey }: SessionContext,
  token: string,
): Promise<{ readonly row: SessionRow; readonly generation: number } | null> {
  const parts = readRefreshToken(token);
  if (parts === null) return null;
  const row = await database
    .selectFrom('workflow.sessions')
    .selectAll()
    .where('id', '=', parts.sessionId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const own = signRefreshToken(refreshKey, { ...parts, salt: row.salt });
  return isSameToken(own, token) ? { row, generation: parts.generation } : null;
}

async function readSession(context: SessionContext, token: string): Promise<string | null> {
  const row = await readRow(context, token);
  if (row !== null) return row.row.id;
  // A session outlives its access tokens: who signs out with one that has ended means it all the same.
  return (await context.tokens.verify(token, context.sessionSeconds))?.sessionId ?? null;
}

function revokeRows(
  database: WorkflowDatabase,
  { id, userId }: { readonly id: string; readonly userId: string | null },
) {
  let query = database
    .updateTable('workflow.sessions')
    .set({ revokedAt: sql<Date>`now()` })
    .where('id', '=', id)
    .where('revokedAt', 'is', null);
  if (userId !== null) query = query.where('userId', '=', userId);
  return query.returning(['id', 'sealedProviderToken']).execute();
}

async function revokeSession(
  { database, closed }: SessionContext,
  userId: string,
  sessionId: string | null,
): Promise<number> {
  const user = await database
    .selectFrom('workflow.users')
    .select('id')
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw notFound('user', userId);
  let query = database
    .updateTable('workflow.sessions')
    .set({ revokedAt: sql<Date>`now()` })
    .where('userId', '=', userId)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', sql<Date>`now()`);
  if (sessionId !== null) query = query.where('id', '=', sessionId);
  const rows = await query.returning(['id', 'sealedProviderToken']).execute();
  if (sessionId !== null && rows.length === 0) throw notFound('session', sessionId);
  await closed(rows);
  return rows.length;
}

function list(database: WorkflowDatabase, userId: string): Promise<Session[]> {
  return openSessions(database)
    .select(['id', 'platform', 'createdAt', 'rotatedAt as lastUsedAt'])
    .where('userId', '=', userId)
    .orderBy('createdAt', 'desc')
    .limit(MAX_LISTED)
    .execute();
}
