import { CamelCasePlugin, type Kysely, type Selectable, type Transaction } from 'kysely';

import type { Database } from '../../../platform/database/database.ts';
import type { LateReads } from '../../../platform/database/late-reads.ts';
import type { DB, MediaAttempt, MediaTask, MediaTaskStep, MediaWebhookDelivery } from './tables.ts';

/** Kysely over the tables of the "media" schema (tables.ts, generated): columns in camelCase, JSON as it was stored. */
export type MediaDatabase = Kysely<DB>;

/** A transaction over it. */
export type MediaTransaction = Transaction<DB>;

/** One task as it is stored. */
export type TaskRow = Selectable<MediaTask>;

/** One unit of work of a task at one generator. */
export type StepRow = Selectable<MediaTaskStep>;

/** One start at one provider. */
export type AttemptRow = Selectable<MediaAttempt>;

/** The delivery of one event to one address. */
export type DeliveryRow = Selectable<MediaWebhookDelivery>;

/** Makes columns camelCase, and leaves the keys of JSON as they are. */
export const columnNames = new CamelCasePlugin({ maintainNestedObjectKeys: true });

/** Runs a read of the media schema where it may be late. */
export type LateMediaReads = <Answer>(work: (database: MediaDatabase) => Promise<Answer>) => Promise<Answer>;

/** The same over the media schema; without late reads all are of the database itself. */
export function lateMediaReads(database: MediaDatabase, lateReads: LateReads | undefined): LateMediaReads {
  if (lateReads === undefined) return (work) => work(database);
  return (work) => lateReads.read((at) => work(mediaDatabase(at)));
}

/** The media schema's tables in a database. */
export function mediaDatabase(database: Database): MediaDatabase {
  return database.typed<DB>().withPlugin(columnNames);
}
