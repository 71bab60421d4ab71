import { randomBytes } from 'node:crypto';

import { sql } from 'kysely';

import { mayRead, type Caller } from '../../../../platform/access/caller.ts';
import { lockTransaction } from '../../../../platform/database/advisory-lock.ts';
import { AppError, notFound } from '../../../../platform/errors.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../../database/database.ts';
import type { PlatformIdentity, User, UserService } from '../../domain/sign-in.ts';
import type { Encryption } from '../secrets/encryption.ts';
import type { EndedSession } from '../sessions/sessions.ts';
import { claimHistory, listUsers, readUsers, userExists } from './stored-users.ts';

export interface UsersOptions {
  readonly database: WorkflowDatabase;
  readonly encryption: Encryption;
  /** ADMIN_SUBJECTS: issuers and subjects of administrators. */
  readonly admins: readonly { readonly issuer: string; readonly subject: string }[];
  /** Runs in the transaction that deletes a user: what they made has to go too. */
  readonly onDeleting?: (transaction: WorkflowTransaction, userId: string) => Promise<void>;
  /** Called with the sessions of a deleted user. */
  readonly onDeleted?: (sessions: readonly EndedSession[]) => Promise<void>;
}

/** Longest profile text that is stored. */
const MAX_TEXT = 500;

/** Who may read a user: themselves, admins, service keys, Kiln itself. */
export function mayReadUser(caller: Caller, id: string): boolean {
  return mayRead(caller, id) && caller.kind !== 'anonymous';
}

/** Creates the service of users (documented in domain/sign-in.ts). */
export function createUserService(options: UsersOptions): UserService {
  const { database, encryption, admins } = options;
  return {
    async linkUser(identity, { joins } = {}) {
      const sealed = identity.secret === null ? null : await encryption.encrypt({ ...identity.secret });
      return database
        .transaction()
        .execute((transaction) => linkIdentity(transaction, { identity, sealed, joins: joins ?? null }));
    },
    async byIds(ids) {
      if (ids.length === 0) return [];
      const found = new Map((await readUsers(database, ids)).map((user) => [user.id, user]));
      return ids.map((id) => found.get(id) ?? null);
    },
    exists: (id) => userExists(database, id),
    list: (request) => listUsers(database, request),
    async findUserId(text) {
      if (text.startsWith('usr_')) return text;
      const rows = await database
        .selectFrom('workflow.platformUsers')
        .select('userId')
        .where('platform', '=', 'idp')
        .where('subject', '=', text)
        .limit(2)
        .execute();
      const [row] = rows;
      // A subject of two issuers is ambiguous.
      return row !== undefined && rows.length === 1 ? row.userId : text;
    },
    async isAdmin(userId) {
      if (admins.length === 0) return false;
      const rows = await database
        .selectFrom('workflow.platformUsers')
        .select(['appId', 'subject'])
        .where('userId', '=', userId)
        .where('platform', '=', 'idp')
        .execute();
      return rows.some((row) =>
        admins.some(({ issuer, subject }) => issuer === row.appId && subject === row.subject),
      );
    },
    async deleteAccount(caller) {
      if (caller.kind === 'anonymous') {
        throw new AppError('UNAUTHENTICATED', 'only who has signed in has an account');
      }
      if (caller.kind !== 'user') throw notFound('account', caller.id);
      await deleteUser(options, caller.id);
    },
    async deletePerson(id) {
      if (!(await userExists(database, id))) throw notFound('user', id);
      await deleteUser(options, id);
    },
  };
}

async function deleteUser({ database, onDeleting, onDeleted }: UsersOptions, id: string): Promise<void> {
  const sessions = await database.transaction().execute(async (transaction) => {
    const open = await transaction
      .selectFrom('workflow.sessions')
      .select(['id', 'sealedProviderToken'])
      .where('userId', '=', id)
      .where('revokedAt', 'is', null)
      .execute();
    await transaction.deleteFrom('workflow.users').where('id', '=', id).execute();
    await onDeleting?.(transaction, id);
    return open;
  });
  await onDeleted?.(sessions);
}

interface Linking {
  readonly identity: PlatformIdentity;
  readonly sealed: string | null;
  /** The user who links the identity to their account; null for a plain sign-in. */
  readonly joins: Caller | null;
}

/**
 * Finds the user of an identity by platform, app and subject, or by the union id within one platform; never by e-mail,
 * which can't be trusted. The lock serializes the first sign-ins of one person.
 */
async function linkIdentity(
  transaction: WorkflowTransaction,
  { identity, sealed, joins }: Linking,
): Promise<User> {
  const { platform, appId, subject, unionId } = identity;
  const lock = JSON.stringify([platform, unionId ?? [appId, subject]]);
  await lockTransaction(transaction, lock);
  const known = await findUser(transaction, identity);
  if (joins !== null && known !== null && known !== joins.id) {
    throw new AppError('CONFLICT', 'this identity belongs to another account');
  }
  const id = known ?? joins?.id ?? null;
  const userId =
    id === null ? await insertUser(transaction, identity) : await updateUser(transaction, id, identity);
  await transaction
    .insertInto('workflow.platformUsers')
    .values({ platform, appId, subject, userId, unionId, sealedSecret: sealed })
    .onConflict((conflict) =>
      conflict.columns(['platform', 'appId', 'subject']).doUpdateSet({
        lastLoginAt: sql<Date>`now()`,
        unionId: sql`coalesce(excluded.union_id, platform_users.union_id)`,
        sealedSecret: sql`coalesce(excluded.sealed_secret, platform_users.sealed_secret)`,
      }),
    )
    .execute();
  if (id === null && platform === 'idp') await claimHistory(transaction, { userId, subject });
  const [user] = await readUsers(transaction, [userId]);
  if (user === undefined) throw accountGone();
  return user;
}

async function findUser(
  transaction: WorkflowTransaction,
  { platform, appId, subject, unionId }: PlatformIdentity,
): Promise<string | null> {
  const own = await transaction
    .selectFrom('workflow.platformUsers')
    .select('userId')
    .where('platform', '=', platform)
    .where('appId', '=', appId)
    .where('subject', '=', subject)
    .executeTakeFirst();
  if (own !== undefined || unionId === null) return own?.userId ?? null;
  const united = await transaction
    .selectFrom('workflow.platformUsers')
    .select('userId')
    .where('platform', '=', platform)
    .where('unionId', '=', unionId)
    .orderBy('linkedAt')
    .executeTakeFirst();
  return united?.userId ?? null;
}

async function insertUser(transaction: WorkflowTransaction, identity: PlatformIdentity): Promise<string> {
  const row = await transaction
    .insertInto('workflow.users')
    .values({ id: `usr_${randomBytes(16).toString('base64url')}`, ...toProfile(identity) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Updates the profile; absent fields stay. */
async function updateUser(
  transaction: WorkflowTransaction,
  id: string,
  identity: PlatformIdentity,
): Promise<string> {
  const { email, name, picture } = toProfile(identity);
  const row = await transaction
    .updateTable('workflow.users')
    .set({
      email: sql`coalesce(${email}, email)`,
      name: sql`coalesce(${name}, name)`,
      picture: sql`coalesce(${picture}, picture)`,
      updatedAt: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw accountGone();
  return row.id;
}

/** It was deleted while its person signed in, or by a token that is still good for a moment. */
function accountGone(): AppError {
  return new AppError('UNAUTHENTICATED', 'the account is gone');
}

function toProfile({ email, name, picture }: PlatformIdentity) {
  const cut = (text: string | null) => text?.replaceAll('\0', '').slice(0, MAX_TEXT) ?? null;
  return { email: cut(email), name: cut(name), picture: cut(picture) };
}
