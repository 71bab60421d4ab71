import { CamelCasePlugin, type Kysely, type Transaction } from 'kysely';

import type { Database } from '../../../platform/database/database.ts';
import type { DB } from './tables.ts';

/** Kysely over the tables of the "workflow" schema (tables.ts, generated): columns in camelCase, JSON as it was stored. */
export type WorkflowDatabase = Kysely<DB>;

/** A transaction over it. */
export type WorkflowTransaction = Transaction<DB>;

/** The workflow schema's tables in a database. */
export function workflowDatabase(database: Database): WorkflowDatabase {
  return database.typed<DB>().withPlugin(new CamelCasePlugin({ maintainNestedObjectKeys: true }));
}
