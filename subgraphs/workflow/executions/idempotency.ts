import { createHash } from 'node:crypto';

import { sql } from 'kysely';

import type { Caller } from '../../../platform/access/caller.ts';
import { AppError, badInput } from '../../../platform/errors.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';

/** One guarded request: under which key, and what makes another request the same. */
export interface Guard {
  readonly owner: string;
  readonly key: string;
  readonly fingerprint: string;
}

/** Sha256 of a value's JSON with its keys in order. */
export function fingerprintOf(value: unknown): string {
  return sha256(JSON.stringify(ordered(value)));
}

/**
 * The guard of a caller's key. Anonymous callers share one owner: their key is scoped by their address and by the
 * request, so that a stranger's key never answers somebody else's execution.
 */
export function guardOf(caller: Caller, key: string | null, fingerprint: string): Guard | null {
  if (key === null) return null;
  if (key.length < 1 || key.length > 255)
    throw badInput('idempotencyKey', 'idempotencyKey must have 1 to 255 characters');
  const scope = caller.kind === 'anonymous' ? [caller.address, fingerprint] : [];
  return { owner: caller.id, key: sha256(JSON.stringify([key, ...scope])), fingerprint };
}

/** The execution this key was used for, or null. IDEMPOTENCY_CONFLICT when it was used for another request. */
export async function guardedExecution(database: WorkflowDatabase, guard: Guard): Promise<string | null> {
  const row = await database
    .selectFrom('workflow.idempotency')
    .select(['fingerprint', 'execution_id'])
    .where('owner', '=', guard.owner)
    .where('key', '=', guard.key)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.fingerprint === guard.fingerprint) return row.execution_id;
  throw new AppError('IDEMPOTENCY_CONFLICT', 'this idempotency key was used for another request', {
    field: 'idempotencyKey',
  });
}

/** Takes the key for an execution, in its transaction; a unique violation means that somebody was faster. */
export async function takeKey(
  transaction: WorkflowTransaction,
  guard: Guard,
  executionId: string,
): Promise<void> {
  await transaction
    .insertInto('workflow.idempotency')
    .values({ ...guard, execution_id: executionId })
    .execute();
}

/** Forgets the keys of executions that ended a day ago, at most `limit`; answers how many. */
export async function pruneKeys(database: WorkflowDatabase, limit: number): Promise<number> {
  const result = await sql`
    delete from workflow.idempotency where (owner, key) in (
      select idempotency.owner, idempotency.key
      from workflow.idempotency join workflow.executions on executions.id = idempotency.execution_id
      where executions.ended_at < now() - interval '24 hours'
      limit ${limit})`.execute(database);
  return Number(result.numAffectedRows ?? 0);
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, ordered(inner)]));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
