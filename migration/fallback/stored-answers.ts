import { sql, type Kysely } from 'kysely';

import type { Database } from '../../platform/database/database.ts';
import type { JsonObject } from '../../platform/json.ts';

/** Answers of an old service that no longer change: stored at their first read or by an import. */
export interface StoredAnswers {
  find(operation: string, id: string): Promise<StoredAnswer | null>;
  /** Stores an answer in place of the one before. */
  save(answer: StoredAnswer & AnswerKey): Promise<void>;
}

/** What an answer is found by. */
interface AnswerKey {
  /** Such as `GET /task/{taskId}`. */
  readonly operation: string;
  /** Of the task or payment; of the user for a list. */
  readonly id: string;
}

/** An answer as the old service worded it. */
interface StoredAnswer {
  readonly body: JsonObject;
  /** Whether its results are in Kiln's storage, as far as they could be had. */
  readonly hasCopies: boolean;
}

interface StoredAnswerTables {
  'gateway.stored_answers': { operation: string; id: string; body: unknown; has_copies: boolean };
}

/** Stored answers in the schema `gateway`. */
export function createStoredAnswers(database: Database): StoredAnswers {
  const tables: Kysely<StoredAnswerTables> = database.typed<StoredAnswerTables>();
  return {
    async find(operation, id) {
      const row = await tables
        .selectFrom('gateway.stored_answers')
        .select(['body', 'has_copies'])
        .where('operation', '=', operation)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? null : { body: row.body as JsonObject, hasCopies: row.has_copies };
    },
    async save({ operation, id, body, hasCopies }) {
      const values = { body: sql`${JSON.stringify(body)}::jsonb`, has_copies: hasCopies };
      await tables
        .insertInto('gateway.stored_answers')
        .values({ operation, id, ...values })
        .onConflict((conflict) => conflict.columns(['operation', 'id']).doUpdateSet(values))
        .execute();
    },
  };
}
