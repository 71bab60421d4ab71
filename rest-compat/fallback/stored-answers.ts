import { sql, type Kysely } from 'kysely';

import type { Database } from '../../platform/database/database.ts';
import type { JsonObject } from '../../platform/json.ts';

/** Answers of an old service that no longer change: stored at their first read or by an import. */
export interface StoredAnswers {
  find(operation: string, id: string): Promise<JsonObject | null>;
  /** Stores an answer unless there is one; whether it was new. */
  save(answer: NewStoredAnswer): Promise<boolean>;
}

/** An answer to be stored. */
interface NewStoredAnswer {
  readonly operation: string;
  readonly id: string;
  readonly body: JsonObject;
}

interface StoredAnswerTables {
  'gateway.stored_answers': { operation: string; id: string; body: unknown };
}

/** Stored answers in the schema `gateway`. */
export function createStoredAnswers(database: Database): StoredAnswers {
  const tables: Kysely<StoredAnswerTables> = database.typed<StoredAnswerTables>();
  return {
    async find(operation, id) {
      const row = await tables
        .selectFrom('gateway.stored_answers')
        .select('body')
        .where('operation', '=', operation)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? null : (row.body as JsonObject);
    },
    async save({ operation, id, body }) {
      const row = await tables
        .insertInto('gateway.stored_answers')
        .values({ operation, id, body: sql`${JSON.stringify(body)}::jsonb` })
        .onConflict((conflict) => conflict.columns(['operation', 'id']).doNothing())
        .returning('id')
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
