import { mayChange, mayRead, type Caller } from '../../../../platform/access/caller.ts';
import { badInput, notFound } from '../../../../platform/errors.ts';
import { isUuid } from '../../../../platform/ids.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { FileService } from '../../files/files.ts';
import { checkDraft, checkSearch, checkTree } from './check.ts';
import type { ChatHistory, Conversation, ConversationDraft } from './history.ts';
import {
  countConversations,
  listConversations,
  lockMessages,
  readConversation,
  readMessages,
  writeConversation,
  writeMessages,
} from './store.ts';

interface Parts {
  readonly database: MediaDatabase;
  readonly files: Pick<FileService, 'byIds' | 'opens'>;
}

/** Most conversations of one caller, and of all callers without a credential together. */
const MOST_OWN = 2_000;
const MOST_OF_NOBODY = 10_000;

/** Makes the service (history.ts says what each verb does). */
export function createChatHistory(parts: Parts): ChatHistory {
  const { database } = parts;

  async function read(caller: Caller, id: string): Promise<Conversation> {
    const found = isUuid(id) ? await readConversation(database, id) : undefined;
    if (found === undefined || !mayRead(caller, found.owner)) throw notFound('conversation', id);
    return found;
  }
  return {
    read,
    async messages(caller, id) {
      await read(caller, id);
      return readMessages(database, id);
    },
    async list(caller, search) {
      checkSearch(search);
      const ids = search.ids?.filter(isUuid) ?? null;
      // Nobody's are told apart by their ids alone.
      if (caller.kind === 'anonymous' && ids === null) return [];
      return listConversations(database, caller.id, { ...search, ids });
    },
    save: (caller, id, draft) => save(parts, caller, { id, draft }),
    async remove(caller, id) {
      const found = await read(caller, id);
      if (!mayChange(caller, found.owner)) throw notFound('conversation', id);
      await database.deleteFrom('media.conversations').where('id', '=', id).execute();
      return found;
    },
  };
}

interface Saving {
  readonly id: string;
  readonly draft: ConversationDraft;
}

async function save(parts: Parts, caller: Caller, { id, draft }: Saving): Promise<Conversation> {
  checkDraft(id, draft);
  await checkFiles(parts, caller, draft);
  return parts.database.transaction().execute(async (transaction) => {
    const found = await readConversation(transaction, id);
    if (found !== undefined && !mayChange(caller, found.owner)) throw notFound('conversation', id);
    if (found === undefined) checkRoom(await countConversations(transaction, caller.id), caller);
    const known = await lockMessages(transaction, id);
    checkTree(known, draft);
    const which = { id, owner: found?.owner ?? caller.id, isNew: found === undefined };
    if (!(await writeConversation(transaction, which, draft))) throw notFound('conversation', id);
    await writeMessages(transaction, id, { known: known.size, messages: draft.messages });
    const saved = await readConversation(transaction, id);
    if (saved === undefined) throw notFound('conversation', id);
    return saved;
  });
}

function checkRoom(count: number, { kind }: Caller): void {
  const most = kind === 'anonymous' ? MOST_OF_NOBODY : MOST_OWN;
  if (count >= most)
    throw badInput('id', `there may be ${most} conversations: delete one (deleteConversation)`);
}

/** A conversation tells the addresses of its files: they have to be files that the caller may use. */
async function checkFiles({ files }: Parts, caller: Caller, { messages }: ConversationDraft): Promise<void> {
  const ids = [...new Set((messages ?? []).flatMap(({ mediaIds }) => mediaIds ?? []))];
  const found = ids.length === 0 ? [] : await files.byIds(ids);
  const missing = ids.find((_, index) => {
    const file = found[index] ?? null;
    return file === null || !files.opens(caller, file);
  });
  if (missing !== undefined) throw badInput('input.messages', `there is no file ${missing}: upload it first`);
}
