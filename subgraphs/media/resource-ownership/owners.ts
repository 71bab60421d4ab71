import { sql } from 'kysely';

import { mayChange, type Caller } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { StepInput } from '../domain/work/work.ts';

/**
 * Who made the voices, characters and avatars that providers keep. An account of a provider is shared by all callers of
 * Kiln, so its own ids say nothing of ownership: the tasks that made them do.
 */
export type ResourceOwners = ReturnType<typeof createResourceOwners>;

/** The fields that name a resource, and the kind of work that makes it. */
const makers = {
  voiceId: 'VOICE_CLONE',
  characterId: 'CHARACTER',
  digitalId: 'AVATAR',
  videoId: 'AVATAR_SOURCE',
} as const;

type Field = keyof typeof makers;

/** Makes the reads over the tasks. */
export function createResourceOwners(database: MediaDatabase) {
  return {
    /** The makers of each of these voices; voices that no task made are not in the map. */
    ofVoices: (ids: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> =>
      readOwners(database, 'voiceId', ids),
    /** BAD_USER_INPUT, as of something that does not exist, when work names a resource that only others made. */
    async check(caller: Caller, work: StepInput<unknown>): Promise<void> {
      for (const field of Object.keys(makers) as Field[]) {
        const id = (work as { readonly [Name in Field]?: unknown })[field];
        if (typeof id !== 'string') continue;
        const owners = (await readOwners(database, field, [id])).get(id);
        if (owners === undefined || [...owners].some((owner) => mayChange(caller, owner))) continue;
        throw badInput(field, `${field} names nothing that exists here`);
      }
    },
  };
}

async function readOwners(
  database: MediaDatabase,
  field: Field,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (ids.length === 0) return new Map();
  // The expression is the one of the index (0011-made-resources).
  const { rows } = await sql<{ id: string; owners: string[] }>`/* resource-ownership.owners */
    select coalesce(result->'facts'->>'voiceId', result->'facts'->>'characterId',
                    result->'facts'->>'digitalId', result->'facts'->>'videoId') as id,
           array_agg(distinct owner) as owners
    from media.tasks
    where kind = ${makers[field]}
      and coalesce(result->'facts'->>'voiceId', result->'facts'->>'characterId',
                   result->'facts'->>'digitalId', result->'facts'->>'videoId') = any(${[...ids]}::text[])
    group by 1`.execute(database);
  return new Map(rows.map(({ id, owners }) => [id, new Set(owners)]));
}
