import { sql } from 'kysely';

import type { IdempotencyRecord } from '../../../platform/access/idempotency.ts';
import { batchReads } from '../../../platform/database/batched-reads.ts';
import { newId } from '../../../platform/ids.ts';
import { jsonText } from '../../../platform/json.ts';
import type { MediaDatabase, MediaTransaction } from '../database/database.ts';
import type { ChatFailure } from '../domain/failure.ts';
import type { ChatReply } from './chat.ts';

/** SQL of stored replies. All times are the database's. */

/** A stored reply without its text. */
export interface StoredReply {
  readonly id: string;
  readonly fingerprint: string;
  readonly createdAt: Date;
  readonly state: 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  readonly chunks: number;
  readonly reply: Omit<ChatReply, 'text'> | null;
  readonly error: ChatFailure | null;
  /** When its last caller went away while it ran; null while somebody follows it. */
  readonly leftAt: Date | null;
  /** It should run and had no heartbeat: its process is gone. */
  readonly isStale: boolean;
  /** Its day is over: it is removed when its key is used again. */
  readonly isOld: boolean;
}

/** The key of a reply that begins, and the reply that it takes the place of. */
export interface NewReply extends IdempotencyRecord {
  readonly replaces?: string | null;
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
export type ChatStore = ReturnType<typeof createChatStore>;

/** Makes the store over the media schema. */
export function createChatStore(database: MediaDatabase) {
  const readById = batchReads({
    read: (ids) => readReplies(database, sql`id = any(${[...ids]}::uuid[])`),
    readId: ({ id }) => id,
  });
  const readFrom = batchReads({ read: (keys) => readChunks(database, keys), readId: ({ key }) => key });
  return {
    /** Stores a reply as running; null when the key is taken. */
    begin: (entry: NewReply): Promise<string | null> => begin(database, entry),
    byKey: ({ owner, key }: IdempotencyRecord): Promise<StoredReply | null> =>
      readReply(database, sql`owner = ${owner} and key = ${key}`),
    /** Reads that come together, as these of all followers do, are one statement; those of chunks too. */
    byId: async (id: string): Promise<StoredReply | null> => (await readById([id])).get(id) ?? null,
    /** Chunks from a position on, in order. */
    async chunks(id: string, from: number, limit: number): Promise<readonly string[]> {
      const key = `${id}/${from}/${limit}`;
      return (await readFrom([key])).get(key)?.deltas ?? [];
    },
    /**
     * Adds a chunk, or with null only a heartbeat; the same chunk again changes nothing. False when the reply was
     * given up meanwhile.
     */
    append: (id: string, position: number, delta: string | null): Promise<boolean> =>
      append(database, id, { position, delta }),
    /** Ends a reply that still runs, in a transaction that writes more. */
    end: (transaction: MediaTransaction, id: string, how: End): Promise<void> => end(transaction, id, how),
    /** Notes that nobody follows a running reply any more, or that somebody does again. */
    async noteLeft(id: string, isLeft: boolean): Promise<void> {
      await sql`/* chat.note-left */
        update media.chat_replies set left_at = case when ${isLeft} then now() end
        where id = ${id}::uuid and state = 'RUNNING'`.execute(database);
    },
    /** Ends a stale reply as failed; called by the reader that finds it. */
    async giveUp(id: string, error: ChatFailure): Promise<void> {
      await sql`/* chat.give-up */
        update media.chat_replies set state = 'FAILED', error = ${jsonText(error)}::jsonb, ended_at = now()
        where id = ${id}::uuid and state = 'RUNNING'
          and alive_at < now() - make_interval(secs => ${STALE_SECONDS})`.execute(database);
    },
    /** Removes old replies. */
    async prune(): Promise<void> {
      await sql`/* chat.prune */
        delete from media.chat_replies where id = any(array(
          select id from media.chat_replies where created_at < now() - make_interval(hours => ${RETENTION_HOURS})
          order by created_at limit ${PRUNE_BATCH} for update skip locked))`.execute(database);
    },
  };
}

async function begin(
  database: MediaDatabase,
  { owner, key, fingerprint, replaces = null }: NewReply,
): Promise<string | null> {
  if (replaces !== null) {
    // Whoever follows it goes on doing so: only its key is free.
    await sql`/* chat.release-key */
      update media.chat_replies set key = key || ':' || id where id = ${replaces}::uuid and key = ${key}`.execute(
      database,
    );
  }
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

interface ChunksFrom {
  readonly key: string;
  readonly deltas: readonly string[];
}

/** Chunks by `reply/first position/most of them`. */
async function readChunks(database: MediaDatabase, keys: readonly string[]): Promise<readonly ChunksFrom[]> {
  const parts = keys.map((key) => key.split('/'));
  const { rows } = await sql<ChunksFrom>`/* chat.read-chunks */
    select wanted.key, array_agg(chunk.delta order by chunk.position) as deltas
    from unnest(${[...keys]}::text[], ${parts.map(([id]) => id)}::uuid[], ${parts.map(([, from]) => from)}::integer[],
                ${parts.map(([, , limit]) => limit)}::integer[]) as wanted (key, reply, first, most)
    cross join lateral (
      select position, delta from media.chat_chunks
      where reply_id = wanted.reply and position >= wanted.first order by position limit wanted.most
    ) chunk
    group by wanted.key`.execute(database);
  return rows;
}

async function end(database: MediaTransaction, id: string, how: End): Promise<void> {
  const { model, provider, usage, toolCalls, mediaIds } = 'reply' in how ? how.reply : NO_REPLY;
  await database
    .updateTable('media.chatReplies')
    .set({
      state: 'reply' in how ? 'SUCCEEDED' : 'FAILED',
      model,
      provider,
      toolCalls: toolCalls.length === 0 ? null : jsonText(toolCalls),
      mediaIds: [...mediaIds],
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      error: 'error' in how ? jsonText(how.error) : null,
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
  mediaIds: [],
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
      on conflict (reply_id, position) do nothing
    )
    select id from alive`.execute(database);
  return rows.length > 0;
}

async function readReply(
  database: MediaDatabase,
  which: ReturnType<typeof sql<boolean>>,
): Promise<StoredReply | null> {
  return (await readReplies(database, which))[0] ?? null;
}

async function readReplies(
  database: MediaDatabase,
  which: ReturnType<typeof sql<boolean>>,
): Promise<readonly StoredReply[]> {
  const rows = await database
    .selectFrom('media.chatReplies')
    .selectAll()
    .select(
      sql<boolean>`state = 'RUNNING' and alive_at < now() - make_interval(secs => ${STALE_SECONDS})`.as(
        'isStale',
      ),
    )
    .select(sql<boolean>`created_at < now() - make_interval(hours => ${RETENTION_HOURS})`.as('isOld'))
    .where(which)
    .execute();
  return rows.map((row) => {
    const { id, fingerprint, createdAt, state, chunks, model, provider, error, leftAt } = row;
    const usage = { inputTokens: row.inputTokens ?? 0, outputTokens: row.outputTokens ?? 0 };
    const parts = { toolCalls: row.toolCalls ?? [], mediaIds: row.mediaIds };
    const reply =
      state === 'SUCCEEDED' ? { ...parts, model: model ?? '', provider: provider ?? '', usage } : null;
    return {
      id,
      fingerprint,
      createdAt,
      state,
      chunks,
      reply,
      error,
      leftAt,
      isStale: row.isStale,
      isOld: row.isOld,
    };
  });
}
