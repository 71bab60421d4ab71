import { badInput } from '../../../../platform/errors.ts';
import { isUuid } from '../../../../platform/ids.ts';
import { isObject } from '../../../../platform/json.ts';
import type { ConversationDraft, ConversationSearch, MessageDraft } from './history.ts';

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
export function checkDraft(id: string, draft: ConversationDraft): void {
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
export function checkTree(known: ReadonlySet<string>, draft: ConversationDraft): void {
  const ids = new Set(known);
  for (const [index, { id, parentId = null }] of (draft.messages ?? []).entries()) {
    if (parentId !== null && (!ids.has(parentId) || parentId === id)) {
      throw badInput(
        `input.messages[${index}].parentId`,
        'parentId must be the id of a message that is there, or stands before it',
      );
    }
    ids.add(id);
  }
  if (ids.size > MOST_MESSAGES) {
    throw badInput('input.messages', `a conversation has at most ${MOST_MESSAGES} messages: begin a new one`);
  }
  const { currentId = null } = draft;
  if (currentId !== null && !ids.has(currentId)) {
    throw badInput('input.currentId', 'currentId must be the id of a message of this conversation');
  }
}

/** Checks what is looked for. */
export function checkSearch({ text, ids, first, after }: ConversationSearch): void {
  if (first < 1 || first > MOST_LISTED) throw badInput('first', `first is from 1 to ${MOST_LISTED}`);
  if ((text ?? '').length > MOST_SEARCH)
    throw badInput('search', `search has more than ${MOST_SEARCH} characters`);
  if ((ids ?? []).length > MOST_LISTED) throw badInput('ids', `at most ${MOST_LISTED} ids at once`);
  if (typeof after === 'string' && !isUuid(after))
    throw badInput('after', 'after must be a revision of this list');
}
