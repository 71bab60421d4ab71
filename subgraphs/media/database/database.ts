import type { Kysely, Transaction } from 'kysely';

import type { ChatTables } from './chat-tables.ts';
import type { FileTables } from './file-tables.ts';
import type { TaskTables } from './task-tables.ts';
import type { VideoTemplateTables } from './video-template-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';

/** Every table of the "media" schema, named with it. */
export type MediaTables = TaskTables & VideoTemplateTables & ChatTables & FileTables & WebhookTables;

/** The media subgraph's database, and a transaction on it. */
export type MediaDatabase = Kysely<MediaTables>;

/** A transaction over the media schema. */
export type MediaTransaction = Transaction<MediaTables>;
