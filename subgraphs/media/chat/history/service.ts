import { mayChange, mayRead, type Caller } from '../../../../platform/access/caller.ts';
import { badInput, notFound } from '../../../../platform/errors.ts';
import { isUuid } from '../../../../platform/ids.ts';
import { isObject } from '../../../../platform/json.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { FileService } from '../../files/files.ts';
import type {
  ChatHistory,
  Conversation,
  ConversationDraft,
  ConversationSearch,
  MessageDraft,
} from './history.ts';
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
    save: (caller, id, draft) => save(parts, caller, { id, draft: withLowercaseIds(draft) }),
    async remove(caller, id) {
      const found = await read(caller, id);
      if (!mayChange(caller, found.owner)) throw notFound('conversation', id);
      await database.deleteFrom('media.conversations').where('id', '=', id).execute();
      return found;
    },
  };
}

/** The draft with lowercase ids, as PostgreSQL answers UUIDs: they are compared with those of stored messages. */
function withLowercaseIds({ currentId, messages, ...draft }: ConversationDraft): ConversationDraft {
  const small = messages?.map(({ id, parentId, ...message }) => ({
    ...message,
    id: id.toLowerCase(),
    parentId: parentId?.toLowerCase(),
  }));
  return { ...draft, currentId: currentId?.toLowerCase(), messages: small };
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

/** What a conversation may hold. Pure; throws BAD_USER_INPUT naming the field. */

/** Most messages of one conversation, all branches together. */
const MOST_MESSAGES = 1_000;
/** Most messages of one call. */
const MOST_AT_ONCE = 100;
const MOST_CHARACTERS = 200_000;
const MOST_SETTINGS = 50_000;
const MOST_TITLE = 200;
const MOST_NAME = 300;
const MOST_FILES = 20;
const MOST_LISTED = 100;
const MOST_SEARCH = 200;

/** Checks what is to be saved, but for what it is added to. */
function checkDraft(id: string, draft: ConversationDraft): void {
  if (!isUuid(id)) throw badInput('id', 'id must be a UUID: make one, and keep it');
  const { title, generator, model, system, temperature, maxTokens, options, messages } = draft;
  if (title.trim() === '' || title.length > MOST_TITLE) {
    throw badInput('input.title', `title must have 1 to ${MOST_TITLE} characters`);
  }
  for (const [name, value] of Object.entries({ generator, model: model ?? '' })) {
    if (value.length > MOST_NAME)
      throw badInput(`input.${name}`, `${name} has more than ${MOST_NAME} characters`);
  }
  if (options !== null && options !== undefined && !isObject(options)) {
    throw badInput('input.options', 'options must be an object');
  }
  if (JSON.stringify({ system, temperature, maxTokens, options }).length > MOST_SETTINGS) {
    throw badInput('input.options', `system and options have more than ${MOST_SETTINGS} characters together`);
  }
  if ((messages ?? []).length > MOST_AT_ONCE) {
    throw badInput(
      'input.messages',
      `at most ${MOST_AT_ONCE} messages are saved at once: save the rest next`,
    );
  }
  for (const [index, message] of (messages ?? []).entries())
    checkMessage(message, `input.messages[${index}]`);
}

function checkMessage({ id, text, mediaIds }: MessageDraft, field: string): void {
  if (!isUuid(id)) throw badInput(`${field}.id`, `${field}.id must be a UUID`);
  if (text.length > MOST_CHARACTERS) {
    throw badInput(`${field}.text`, `${field}.text has more than ${MOST_CHARACTERS} characters`);
  }
  const files = mediaIds ?? [];
  if (files.length > MOST_FILES || files.some((one) => !isUuid(one))) {
    throw badInput(`${field}.mediaIds`, `${field}.mediaIds must be at most ${MOST_FILES} ids of Media`);
  }
}

/** Checks that messages fit into the tree that is there. */
function checkTree(known: ReadonlyMap<string, string | null>, draft: ConversationDraft): void {
  const parents = new Map(known);
  for (const [index, { id, parentId = null }] of (draft.messages ?? []).entries()) {
    if (parentId !== null && (!parents.has(parentId) || isBelow(parents, parentId, id))) {
      throw badInput(
        `input.messages[${index}].parentId`,
        'parentId must be the id of a message of this conversation, or of one earlier in this list; not of the message itself, nor of one below it',
      );
    }
    parents.set(id, parentId);
  }
  if (parents.size > MOST_MESSAGES) {
    throw badInput('input.messages', `a conversation has at most ${MOST_MESSAGES} messages: begin a new one`);
  }
  const { currentId = null } = draft;
  if (currentId !== null && !parents.has(currentId)) {
    throw badInput('input.currentId', 'currentId must be the id of a message of this conversation');
  }
}

/** Whether a message is `other`, or below it. Bounded, as earlier releases could store circles. */
function isBelow(parents: ReadonlyMap<string, string | null>, id: string, other: string): boolean {
  let at: string | null = id;
  for (let left = parents.size; at !== null && left > 0; left -= 1) {
    if (at === other) return true;
    at = parents.get(at) ?? null;
  }
  return false;
}

function checkSearch({ text, ids, first, after }: ConversationSearch): void {
  if (first < 1 || first > MOST_LISTED) throw badInput('first', `first is from 1 to ${MOST_LISTED}`);
  if ((text ?? '').length > MOST_SEARCH)
    throw badInput('search', `search has more than ${MOST_SEARCH} characters`);
  if ((ids ?? []).length > MOST_LISTED) throw badInput('ids', `at most ${MOST_LISTED} ids at once`);
  if (typeof after === 'string' && !isUuid(after))
    throw badInput('after', 'after must be a revision of this list');
}
