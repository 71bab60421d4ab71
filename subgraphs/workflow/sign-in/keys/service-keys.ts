import { createHash, randomBytes } from 'node:crypto';

import { type ExpressionBuilder, sql } from 'kysely';

import { type Caller, keyScopes } from '../../../../platform/access/caller.ts';
import { badInput, notFound } from '../../../../platform/errors.ts';
import type { WorkflowDatabase } from '../../database/database.ts';
import type { DB } from '../../database/tables.ts';
import type { ServiceKey, ServiceKeyService } from '../../domain/sign-in.ts';

/** Prefix of the secrets of service keys, so that secret scanners can recognize them. */
const PREFIX = 'kiln_';
const MAX_KEYS = 1_000;
/** Never the hash of its secret. */
const COLUMNS = [
  'id',
  'name',
  'scopes',
  'generators',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
  'revokedAt',
  'formerUntil',
] as const;
/** The scopes of a key that names none: all but those of administrators. */
const USUAL_SCOPES = ['read', 'start', 'manage'];

/** Service keys in the database (documented in domain/sign-in.ts). Only the hash of a secret is stored. */
export function createServiceKeys(database: WorkflowDatabase): ServiceKeyService {
  return {
    list: () =>
      database
        .selectFrom('workflow.serviceKeys')
        .select(COLUMNS)
        .orderBy('createdAt', 'desc')
        .limit(MAX_KEYS)
        .execute(),
    async create(caller, { name, scopes, ...wanted }) {
      const generators = wanted.generators ?? caller.generators ?? null;
      const expiresAt = wanted.expiresAt ?? readKeyEnd(caller);
      checkKey({ name, scopes, generators, expiresAt });
      checkParent(caller, { generators, expiresAt });
      const secret = newSecret();
      const key = await database
        .insertInto('workflow.serviceKeys')
        .values({
          id: `key_${randomBytes(12).toString('base64url')}`,
          name,
          scopes: scopes.length === 0 ? USUAL_SCOPES : [...new Set(scopes)],
          generators: generators === null ? null : [...new Set(generators)],
          expiresAt,
          secretSha256: hashKey(secret),
          createdBy: caller.id,
        })
        .returning(COLUMNS)
        .executeTakeFirstOrThrow();
      return { key, secret };
    },
    rotate: (caller, id, graceSeconds) => rotate(database, caller, { id, graceSeconds }),
    async revoke(id) {
      const row = await database
        .updateTable('workflow.serviceKeys')
        .set({ revokedAt: sql<Date>`coalesce(revoked_at, now())` })
        .where('id', '=', id)
        .returning(COLUMNS)
        .executeTakeFirst();
      if (row === undefined) throw notFound('service key', id);
      return row;
    },
    find: (secret) => find(database, secret),
  };
}

const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('hex')}`;

/** Longest time that the secret before a rotation works on: 30 days. */
const MOST_GRACE = 30 * 86_400;

async function rotate(
  database: WorkflowDatabase,
  caller: Caller,
  { id, graceSeconds }: { readonly id: string; readonly graceSeconds: number },
) {
  if (graceSeconds < 0 || graceSeconds > MOST_GRACE) {
    throw badInput('graceSeconds', `graceSeconds must be from 0 to ${MOST_GRACE}, 30 days`);
  }
  const known = await database
    .selectFrom('workflow.serviceKeys')
    .select(COLUMNS)
    .where('id', '=', id)
    .where(isUsable)
    .executeTakeFirst();
  if (known === undefined) throw notFound('service key', id);
  checkParent(caller, known);
  const secret = newSecret();
  const key = await database
    .updateTable('workflow.serviceKeys')
    .set({
      secretSha256: hashKey(secret),
      formerSha256: sql<string>`secret_sha256`,
      formerUntil: sql<Date>`now() + make_interval(secs => ${graceSeconds})`,
    })
    .where('id', '=', id)
    .where(isUsable)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (key === undefined) throw notFound('service key', id);
  return { key, secret };
}

/** Neither revoked nor ended. */
function isUsable(key: ExpressionBuilder<DB, 'workflow.serviceKeys'>) {
  return key.and([
    key('revokedAt', 'is', null),
    key.or([key('expiresAt', 'is', null), key('expiresAt', '>', sql<Date>`now()`)]),
  ]);
}

/** Records the use of a key at most once a minute. */
async function find(database: WorkflowDatabase, secret: string): Promise<ServiceKey | null> {
  if (!secret.startsWith(PREFIX)) return null;
  const hash = hashKey(secret);
  const row = await database
    .selectFrom('workflow.serviceKeys')
    .select(COLUMNS)
    .where((key) =>
      key.or([
        key('secretSha256', '=', hash),
        key.and([key('formerSha256', '=', hash), key('formerUntil', '>', sql<Date>`now()`)]),
      ]),
    )
    .where(isUsable)
    .executeTakeFirst();
  if (row === undefined) return null;
  await database
    .updateTable('workflow.serviceKeys')
    .set({ lastUsedAt: sql<Date>`now()` })
    .where('id', '=', row.id)
    .where((key) =>
      key.or([key('lastUsedAt', 'is', null), key('lastUsedAt', '<', sql<Date>`now() - interval '1 minute'`)]),
    )
    .execute();
  return row;
}

const MAX_GENERATORS = 100;

function checkKey({
  name,
  scopes,
  generators,
  expiresAt,
}: Pick<ServiceKey, 'name' | 'scopes' | 'generators' | 'expiresAt'>): void {
  if (!/^\P{Cc}{1,100}$/u.test(name)) throw badInput('name', 'name must be 1 to 100 characters in one line');
  const unknown = scopes.find((scope) => !(keyScopes as readonly string[]).includes(scope));
  if (unknown !== undefined) throw badInput('scopes', `scopes may be: ${keyScopes.join(', ')}`);
  if (generators !== null && (generators.length === 0 || generators.length > MAX_GENERATORS)) {
    throw badInput('generators', `generators must name 1 to ${MAX_GENERATORS}; leave it out to allow all`);
  }
  if (generators?.some((generator) => !/^[\w/.-]{1,100}$/.test(generator))) {
    throw badInput('generators', 'generators must be names of generators, or recipe');
  }
  if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
    throw badInput('expiresAt', 'expiresAt must be in the future');
  }
}

/** When the key that makes another one ends: what it makes ends with it. */
function readKeyEnd({ kind, expiresAt }: Caller): Date | null {
  return kind === 'key' ? (expiresAt ?? null) : null;
}

/** A key makes none that may do more than it, or lasts longer. Throws BAD_USER_INPUT. */
function checkParent(caller: Caller, key: Pick<ServiceKey, 'generators' | 'expiresAt'>): void {
  const { generators = null } = caller;
  const end = readKeyEnd(caller);
  if (generators !== null && key.generators?.every((name) => generators.includes(name)) !== true) {
    throw badInput(
      'generators',
      `generators may be those of the key that makes it: ${generators.join(', ')}`,
    );
  }
  if (end !== null && (key.expiresAt === null || key.expiresAt > end)) {
    throw badInput(
      'expiresAt',
      `expiresAt may be no later than the end of the key that makes it, ${end.toISOString()}`,
    );
  }
}

function hashKey(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
