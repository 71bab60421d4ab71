import { sql } from 'kysely';

import type { IdempotencyRecord } from '../../../platform/access/idempotency.ts';
import { newId } from '../../../platform/ids.ts';
import type { MediaDatabase, MediaTransaction } from '../database/database.ts';
import type { ChatFailure } from '../domain/failure.ts';
import type { ChatReply } from './chat.ts';

/** SQL of stored replies. All times are the database's. */

/** A stored reply without its text. */
export interface StoredReply {
  readonly id: string;
  readonly fingerprint: string;
  readonly state: 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  readonly chunks: number;
  readonly reply: Omit<ChatReply, 'text'> | null;
  readonly error: ChatFailure | null;
  /** It should run and had no heartbeat: its process is gone. */
  readonly isStale: boolean;
  /** Its day is over: it is removed when its key is used again. */
  readonly isOld: boolean;
}

/** Hours a reply is stored. */
const RETENTION_HOURS = 24;
/** Seconds without a heartbeat after which the process of a reply counts as gone. */
const STALE_SECONDS = 15;
/** Most old replies removed at once. */
const PRUNE_BATCH = 5_000;

/** How a reply ends. */
type End = { readonly reply: Omit<ChatReply, 'text'> } | { readonly error: ChatFailure };

/** Stores replies under their keys, chunk by chunk. */
export interface ChatStore {
  /** Stores a reply as running; null when the key is taken. */
  begin(entry: IdempotencyRecord): Promise<string | null>;
  byKey(entry: IdempotencyRecord): Promise<StoredReply | null>;
  byId(id: string): Promise<StoredReply | null>;
  /** Chunks from a position on, in order. */
  chunks(id: string, from: number, limit: number): Promise<readonly string[]>;
  /** Adds a chunk, or with null only a heartbeat. False when the reply was given up meanwhile. */
  append(id: string, position: number, delta: string | null): Promise<boolean>;
  /** Ends a reply that still runs, in a transaction that writes more. */
  end(transaction: MediaTransaction, id: string, end: End): Promise<void>;
  /** Ends a stale reply as failed; called by the reader that finds it. */
  giveUp(id: string, error: ChatFailure): Promise<void>;
  /** Removes old replies. */
  prune(): Promise<void>;
}

/** Makes the store over the media schema. */
export function createChatStore(database: MediaDatabase): ChatStore {
  return {
    begin: (entry) => begin(database, entry),
    byKey: ({ owner, key }) => readReply(database, sql`owner = ${owner} and key = ${key}`),
    byId: (id) => readReply(database, sql`id = ${id}::uuid`),
    chunks: (id, from, limit) => readChunks(database, id, { from, limit }),
    append: (id, position, delta) => append(database, id, { position, delta }),
    end: (transaction, id, how) => end(transaction, id, how),
    async giveUp(id, error) {
      await sql`/* chat.give-up */
        update media.chat_replies set state = 'FAILED', error = ${JSON.stringify(error)}::jsonb, ended_at = now()
        where id = ${id}::uuid and state = 'RUNNING'
          and alive_at < now() - make_interval(secs => ${STALE_SECONDS})`.execute(database);
    },
    async prune() {
      await sql`/* chat.prune */
        delete from media.chat_replies where id in (
          select id from media.chat_replies where created_at < now() - make_interval(hours => ${RETENTION_HOURS})
          order by created_at limit ${PRUNE_BATCH} for update skip locked)`.execute(database);
    },
  };
}

async function begin(
  database: MediaDatabase,
  { owner, key, fingerprint }: IdempotencyRecord,
): Promise<string | null> {
  await sql`/* chat.forget */
    delete from media.chat_replies where owner = ${owner} and key = ${key}
      and created_at < now() - make_interval(hours => ${RETENTION_HOURS})`.execute(database);
  const row = await database
    .insertInto('media.chatReplies')
    .values({ id: newId(), owner, key, fingerprint })
    .onConflict((conflict) => conflict.columns(['owner', 'key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}

async function readChunks(
  database: MediaDatabase,
  id: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await database
    .selectFrom('media.chatChunks')
    .select('delta')
    .where('replyId', '=', id)
    .where('position', '>=', from)
    .orderBy('position')
    .limit(limit)
    .execute();
  return rows.map(({ delta }) => delta);
}

async function end(database: MediaTransaction, id: string, how: End): Promise<void> {
  const { model, provider, usage, toolCalls } = 'reply' in how ? how.reply : NO_REPLY;
  await database
    .updateTable('media.chatReplies')
    .set({
      state: 'reply' in how ? 'SUCCEEDED' : 'FAILED',
      model,
      provider,
      toolCalls: toolCalls.length === 0 ? null : JSON.stringify(toolCalls),
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      error: 'error' in how ? JSON.stringify(how.error) : null,
      endedAt: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .where('state', '=', 'RUNNING')
    .execute();
}

const NO_REPLY = {
  model: null,
  provider: null,
  toolCalls: [],
  usage: { inputTokens: null, outputTokens: null },
};

async function append(
  database: MediaDatabase,
  id: string,
  { position, delta }: { readonly position: number; readonly delta: string | null },
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`/* chat.append */
    with alive as (
      update media.chat_replies set alive_at = now(), chunks = ${position + (delta === null ? 0 : 1)}
      where id = ${id}::uuid and state = 'RUNNING' returning id
    ), chunk as (
      insert into media.chat_chunks (reply_id, position, delta)
      select id, ${position}::integer, ${delta}::text from alive where ${delta}::text is not null
    )
    select id from alive`.execute(database);
  return rows.length > 0;
}

async function readReply(
  database: MediaDatabase,
  which: ReturnType<typeof sql<boolean>>,
): Promise<StoredReply | null> {
  const row = await database
    .selectFrom('media.chatReplies')
    .selectAll()
    .select(
      sql<boolean>`state = 'RUNNING' and alive_at < now() - make_interval(secs => ${STALE_SECONDS})`.as(
        'isStale',
      ),
    )
    .select(sql<boolean>`created_at < now() - make_interval(hours => ${RETENTION_HOURS})`.as('isOld'))
    .where(which)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { id, fingerprint, state, chunks, model, provider, error } = row;
  const usage = { inputTokens: row.inputTokens ?? 0, outputTokens: row.outputTokens ?? 0 };
  const toolCalls = row.toolCalls ?? [];
  const reply =
    state === 'SUCCEEDED' ? { toolCalls, model: model ?? '', provider: provider ?? '', usage } : null;
  return { id, fingerprint, state, chunks, reply, error, isStale: row.isStale, isOld: row.isOld };
}
