import { createHash, randomBytes } from 'node:crypto';

import { sql, type Selectable } from 'kysely';

import { badInput, notFound } from '../../../../platform/errors.ts';
import type { WorkflowDatabase } from '../../database/database.ts';
import type { ServiceKeyTable } from '../../database/sign-in-tables.ts';
import { keyScopes, type ServiceKey, type ServiceKeyService } from '../../domain/sign-in.ts';

/** What every secret of a service key begins with, so that it is known for one where it turns up. */
const PREFIX = 'kiln_';
const MAX_KEYS = 1_000;

/** Keys of programs, in the database (sign-in.ts says what each verb does). Only the hash of a secret is kept. */
export function createServiceKeys(database: WorkflowDatabase): ServiceKeyService {
  return {
    async list() {
      const rows = await database
        .selectFrom('workflow.service_keys')
        .selectAll()
        .orderBy('created_at', 'desc')
        .limit(MAX_KEYS)
        .execute();
      return rows.map(keyFrom);
    },
    async create(caller, { name, scopes }) {
      checkKey(name, scopes);
      const secret = `${PREFIX}${randomBytes(32).toString('hex')}`;
      const row = await database
        .insertInto('workflow.service_keys')
        .values({
          id: `key_${randomBytes(12).toString('base64url')}`,
          name,
          scopes: [...new Set(scopes)],
          secret_sha256: hashOf(secret),
          created_by: caller.id,
          last_used_at: null,
          revoked_at: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { key: keyFrom(row), secret };
    },
    async revoke(id) {
      const row = await database
        .updateTable('workflow.service_keys')
        .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) throw notFound('service key', id);
      return keyFrom(row);
    },
    find: (secret) => find(database, secret),
  };
}

/** Written about once a minute: a key that is used all the time costs no more. */
async function find(database: WorkflowDatabase, secret: string): Promise<ServiceKey | null> {
  if (!secret.startsWith(PREFIX)) return null;
  const row = await database
    .selectFrom('workflow.service_keys')
    .selectAll()
    .where('secret_sha256', '=', hashOf(secret))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  await database
    .updateTable('workflow.service_keys')
    .set({ last_used_at: sql<Date>`now()` })
    .where('id', '=', row.id)
    .where((key) =>
      key.or([
        key('last_used_at', 'is', null),
        key('last_used_at', '<', sql<Date>`now() - interval '1 minute'`),
      ]),
    )
    .execute();
  return keyFrom(row);
}

function checkKey(name: string, scopes: readonly string[]): void {
  if (!/^\P{Cc}{1,100}$/u.test(name)) throw badInput('name', 'name must be 1 to 100 characters in one line');
  const unknown = scopes.find((scope) => !(keyScopes as readonly string[]).includes(scope));
  if (unknown !== undefined) throw badInput('scopes', `scopes may be: ${keyScopes.join(', ')}`);
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function keyFrom(row: Selectable<ServiceKeyTable>): ServiceKey {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
