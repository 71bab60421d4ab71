import { sql, type Kysely } from 'kysely';

import type { Database } from '../../platform/database/database.ts';
import type { JsonObject } from '../../platform/json.ts';

/** Answers of an old service that no longer change: kept at their first read or by an import. */
export interface KeptAnswers {
  find(operation: string, id: string): Promise<JsonObject | null>;
  /** Keeps an answer unless there is one; whether it was new. `userId`: whose list it belongs to. */
  keep(answer: NewKeptAnswer): Promise<boolean>;
}

/** An answer to be kept. */
interface NewKeptAnswer {
  readonly operation: string;
  readonly id: string;
  readonly body: JsonObject;
}

interface KeptTables {
  'gateway.kept_answers': { operation: string; id: string; body: unknown };
}

/** Kept answers in the schema `gateway`. */
export function createKeptAnswers(database: Database): KeptAnswers {
  const tables: Kysely<KeptTables> = database.typed<KeptTables>();
  return {
    async find(operation, id) {
      const row = await tables
        .selectFrom('gateway.kept_answers')
        .select('body')
        .where('operation', '=', operation)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? null : (row.body as JsonObject);
    },
    async keep({ operation, id, body }) {
      const row = await tables
        .insertInto('gateway.kept_answers')
        .values({ operation, id, body: sql`${JSON.stringify(body)}::jsonb` })
        .onConflict((conflict) => conflict.columns(['operation', 'id']).doNothing())
        .returning('id')
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
