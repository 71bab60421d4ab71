import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Finds the task that made a voice, a character or an avatar by the provider's id of it. */
export const madeResources: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create index tasks_made on media.tasks (kind,
      coalesce(result->'facts'->>'voiceId', result->'facts'->>'characterId',
               result->'facts'->>'digitalId', result->'facts'->>'videoId'))
      where kind in ('VOICE_CLONE', 'CHARACTER', 'AVATAR', 'AVATAR_SOURCE')`.execute(database);
  },
};
