import { sql } from 'kysely';

import { lockTransaction } from '../../../../platform/database/advisory-lock.ts';
import { newId } from '../../../../platform/ids.ts';
import { jsonText, storableText } from '../../../../platform/json.ts';
import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import type { Conversation, ConversationDraft, ConversationSearch, KeptMessage } from './history.ts';

/** SQL of kept conversations. */

/** One by its id; undefined when there is none. */
export function readConversation(
  database: MediaDatabase | MediaTransaction,
  id: string,
): Promise<Conversation | undefined> {
  return database.selectFrom('media.conversations').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The last changed first. */
export async function listConversations(
  database: MediaDatabase,
  owner: string,
  { text, ids, first, after }: ConversationSearch,
): Promise<readonly Conversation[]> {
  let found = database.selectFrom('media.conversations as own').selectAll().where('owner', '=', owner);
  if (ids) found = found.where('id', 'in', ids.length === 0 ? [null as never] : [...ids]);
  if (after) found = found.where('revision', '<', after);
  const words = text?.trim() ?? '';
  if (words !== '') {
    const pattern = `%${storableText(words).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    found = found.where(
      sql<boolean>`(title ilike ${pattern} or exists (select 1 from media.conversation_messages message
        where message.conversation_id = own.id and message.text ilike ${pattern}))`,
    );
  }
  return found.orderBy('revision', 'desc').limit(first).execute();
}

/** In the order in which they were added. */
export async function readMessages(database: MediaDatabase, id: string): Promise<readonly KeptMessage[]> {
  return database
    .selectFrom('media.conversationMessages')
    .select(['id', 'parentId', 'role', 'text', 'mediaIds', 'model', 'createdAt'])
    .where('conversationId', '=', id)
    .orderBy('position')
    .orderBy('id')
    .execute();
}

/** How many somebody has. */
export async function countConversations(transaction: MediaTransaction, owner: string): Promise<number> {
  // Whoever counts at the same time counts this one too.
  await lockTransaction(transaction, `media.conversations ${owner}`);
  const { count } = await transaction
    .selectFrom('media.conversations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow();
  return count;
}

/** Holds a conversation until the transaction ends, and answers the ids of its messages, each with that of its parent. */
export async function lockMessages(
  transaction: MediaTransaction,
  id: string,
): Promise<ReadonlyMap<string, string | null>> {
  await transaction.selectFrom('media.conversations').select('id').where('id', '=', id).forUpdate().execute();
  const rows = await transaction
    .selectFrom('media.conversationMessages')
    .select(['id', 'parentId'])
    .where('conversationId', '=', id)
    .execute();
  return new Map(rows.map((row) => [row.id, row.parentId]));
}

/** Writes the conversation; false where one with this id has come to be in between, of whomever. */
export async function writeConversation(
  transaction: MediaTransaction,
  { id, owner, isNew }: { readonly id: string; readonly owner: string; readonly isNew: boolean },
  draft: ConversationDraft,
): Promise<boolean> {
  const { title, generator, model = null, currentId = null } = draft;
  const { system, temperature, maxTokens, options } = draft;
  const values = {
    title: storableText(title.trim()),
    generator,
    model,
    currentId,
    settings: jsonText({ system, temperature, maxTokens, options }),
    revision: newId(),
    updatedAt: sql<Date>`now()`,
  };
  if (!isNew) {
    await transaction.updateTable('media.conversations').set(values).where('id', '=', id).execute();
    return true;
  }
  const row = await transaction
    .insertInto('media.conversations')
    .values({ id, owner, ...values })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Adds messages, and replaces those with known ids. */
export async function writeMessages(
  transaction: MediaTransaction,
  conversationId: string,
  { known, messages }: { readonly known: number; readonly messages: ConversationDraft['messages'] },
): Promise<void> {
  for (const [index, { id, parentId = null, role, text, mediaIds, model = null }] of (
    messages ?? []
  ).entries()) {
    const values = { parentId, role, text: storableText(text), mediaIds: [...(mediaIds ?? [])], model };
    // oxlint-disable-next-line eslint/no-await-in-loop -- a call has one or two of them
    await transaction
      .insertInto('media.conversationMessages')
      .values({ conversationId, id, position: known + index, ...values })
      .onConflict((conflict) => conflict.columns(['conversationId', 'id']).doUpdateSet(values))
      .execute();
  }
}
