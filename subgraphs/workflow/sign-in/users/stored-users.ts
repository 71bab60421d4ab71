import { sql } from 'kysely';

import { badInput } from '../../../../platform/errors.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../../database/database.ts';
import type { User, UserListRequest } from '../../domain/sign-in.ts';

/** Users with their first subject at the identity provider, their last sign-in and how many sessions are open. */
export async function readUsers(
  database: WorkflowDatabase | WorkflowTransaction,
  ids: readonly string[],
): Promise<User[]> {
  return storedUsers(database)
    .where('id', 'in', [...ids])
    .execute();
}

/** Whether there is such a user: one look at the key, without what `readUsers` counts. */
export async function userExists(database: WorkflowDatabase, id: string): Promise<boolean> {
  const user = database.selectFrom('workflow.users').select('id').where('id', '=', id);
  return (await user.executeTakeFirst()) !== undefined;
}

/** A page of all users, newest first, and one more when there are more. */
export async function listUsers(
  database: WorkflowDatabase,
  { first, after, search }: UserListRequest,
): Promise<User[]> {
  let query = storedUsers(database);
  if (after !== null) {
    // A deleted user has no place in the list: the comparison below would be null, and the page empty.
    const known = database.selectFrom('workflow.users').select('id').where('id', '=', after);
    if ((await known.executeTakeFirst()) === undefined)
      throw badInput('after', 'the user of this cursor is gone: begin at the first page');
    query = query.where(
      sql<boolean>`(workflow.users.created_at, workflow.users.id) <
        (select created_at, id from workflow.users where id = ${after})`,
    );
  }
  if (search !== null) {
    // Not with like: what is looked for may hold its signs.
    query = query.where(
      sql<boolean>`(strpos(lower(concat_ws(' ', workflow.users.id, name, email)), lower(${search})) > 0
        or exists (select from workflow.platform_users where user_id = workflow.users.id and platform = 'idp'
          and strpos(lower(subject), lower(${search})) > 0))`,
    );
  }
  return query
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(first + 1)
    .execute();
}

function storedUsers(database: WorkflowDatabase | WorkflowTransaction) {
  return database
    .selectFrom('workflow.users')
    .select(['id', 'email', 'name', 'picture', 'createdAt'])
    .select((users) => [
      users
        .selectFrom('workflow.platformUsers')
        .select('subject')
        .whereRef('userId', '=', 'workflow.users.id')
        .where('platform', '=', 'idp')
        .orderBy('linkedAt')
        .limit(1)
        .as('subject'),
      users
        .selectFrom('workflow.platformUsers')
        .select(({ fn }) => fn.max('lastLoginAt').as('at'))
        .whereRef('userId', '=', 'workflow.users.id')
        .as('lastSignInAt'),
      sql<number>`(select count(*)::int from workflow.sessions where user_id = workflow.users.id
        and revoked_at is null and expires_at > now())`.as('openSessions'),
    ]);
}

/** A user's first sign-in, and their subject at the identity provider. */
interface FirstSignIn {
  readonly userId: string;
  readonly subject: string;
}

/**
 * Assigns executions and payments to a new user that were made for them before their first sign-in, by callers who named
 * their subject. Rows of service keys stay those keys' own as well.
 */
export async function claimHistory(
  transaction: WorkflowTransaction,
  { userId, subject }: FirstSignIn,
): Promise<void> {
  for (const table of ['workflow.executions', 'workflow.payments'] as const) {
    await transaction
      .updateTable(table)
      .set((row) => ({
        userId,
        owner: row.case().when('owner', '=', 'anon').then(userId).else(row.ref('owner')).end(),
      }))
      .where('userId', '=', subject)
      .execute();
  }
}
