import { sql, type RawBuilder } from 'kysely';

import { readSections, rowsSection } from '../../../platform/database/record-sections.ts';
import type { MediaDatabase } from '../database/database.ts';

/** What media keeps of somebody, for `exportMyData`. */
export type PersonalData = ReturnType<typeof createPersonalData>;

/** Makes it. Keys and hashes are left out; what each file holds is at its own address. */
export function createPersonalData(database: MediaDatabase) {
  return {
    /** The next records after a cursor. BAD_USER_INPUT for what is no cursor. */
    read: (owner: string, after: string | null, first: number) =>
      readSections(readOwnSections(database, owner), after, first),
  };
}

const REPLIES = sql`(select chat_replies.*, (
    select string_agg(delta, '' order by position) from media.chat_chunks where reply_id = chat_replies.id
  ) as reply from media.chat_replies) as replies`;

const MESSAGES = sql`(select message.*, owner from media.conversation_messages message
  join media.conversations kept on kept.id = message.conversation_id) as messages`;
// What somebody else's saved workflow consists of is theirs, who has called it or not.
const TASKS = sql`(select id, owner, kind, task_type, generator, state, result, error, callback_url, created_at, started_at, ended_at,
    cancel_requested_at, case when input ? 'workflowVersion' then input - 'workflow' - 'outputs' else input end as input
  from media.tasks) as tasks`;
const FILE = 'id name contentType bytes sha256 blake3 width height duration taskId createdAt temporaryUntil';
const WORKFLOWS = sql`(select workflows.*, (
    select json_agg(json_build_object('number', number, 'graph', graph, 'inputs', inputs, 'outputs', outputs) order by number)
    from media.workflow_versions where name = workflows.name
  ) as versions from media.workflows) as workflows`;

function readOwnSections(database: MediaDatabase, owner: string) {
  const own = sql<boolean>`owner = ${owner}`;
  return [
    rowsSection(database, {
      kind: 'task',
      from: TASKS,
      where: own,
      columns:
        'id kind taskType generator state input result error callbackUrl createdAt startedAt endedAt cancelRequestedAt',
    }),
    ...readFiles(database, owner),
    rowsSection(database, {
      kind: 'bulkOperation',
      from: sql.table('media.bulkOperations'),
      where: own,
      columns: 'id action filter state total done refused createdAt endedAt',
    }),
    rowsSection(database, {
      kind: 'share',
      from: sql.table('media.shares'),
      where: own,
      columns: 'id mediaId createdAt endsAt',
    }),
    rowsSection(database, {
      kind: 'chat',
      from: REPLIES,
      where: own,
      columns: 'id state model createdAt endedAt reply toolCalls',
    }),
    ...readConversations(database, own),
    ...readBoards(database, own),
    rowsSection(database, {
      kind: 'providerFile',
      from: sql.table('media.providerResources'),
      where: own,
      id: sql`concat_ws('/', provider, account, media_id)`,
      columns: 'provider mediaId resourceId uri createdAt expiresAt',
    }),
    rowsSection(database, {
      kind: 'workflow',
      from: WORKFLOWS,
      where: own,
      id: sql`name`,
      columns: 'name description category published createdAt updatedAt versions',
    }),
    ...readAccounts(database, owner),
  ];
}

function readAccounts(database: MediaDatabase, owner: string) {
  return [
    rowsSection(database, {
      kind: 'usage',
      from: sql.table('media.usage'),
      where: sql<boolean>`owner = ${owner}`,
      id: sql`concat_ws('/', day, generator, provider, model, sandbox, currency, shard)`,
      columns:
        'day generator provider model currency tasksSucceeded tasksFailed tasksCancelled chats pictures milliseconds characters inputTokens outputTokens runs gpuMilliseconds cost',
    }),
    rowsSection(database, {
      kind: 'budget',
      from: sql.table('media.budgets'),
      where: sql<boolean>`scope = 'USER' and subject = ${owner}`,
      columns: 'id name amount softAmount currency period spent createdAt',
    }),
  ];
}

function readFiles(database: MediaDatabase, owner: string) {
  return [
    rowsSection(database, {
      kind: 'media',
      from: sql.table('media.media'),
      where: sql<boolean>`owner = ${owner} and state = 'STORED'`,
      columns: FILE,
    }),
  ];
}

function readConversations(database: MediaDatabase, own: RawBuilder<boolean>) {
  return [
    rowsSection(database, {
      kind: 'conversation',
      from: sql.table('media.conversations'),
      where: own,
      columns: 'id title generator model settings currentId createdAt updatedAt',
    }),
    rowsSection(database, {
      kind: 'conversationMessage',
      from: MESSAGES,
      where: own,
      id: sql`concat_ws('/', conversation_id, id)`,
      columns: 'conversationId id parentId role text mediaIds model createdAt',
    }),
  ];
}

const ITEMS = sql`(select item.*, owner from media.board_items item
  join media.boards board on board.id = item.board_id) as items`;

/** Boards, what is on them, and stars. */
function readBoards(database: MediaDatabase, own: RawBuilder<boolean>) {
  return [
    rowsSection(database, {
      kind: 'board',
      from: sql.table('media.boards'),
      where: own,
      columns: 'id name shareEndsAt createdAt',
    }),
    rowsSection(database, {
      kind: 'boardFile',
      from: ITEMS,
      where: own,
      id: sql`concat_ws('/', board_id, media_id)`,
      columns: 'boardId mediaId addedAt',
    }),
    rowsSection(database, {
      kind: 'star',
      from: sql.table('media.stars'),
      where: own,
      id: sql`media_id::text`,
      columns: 'mediaId starredAt',
    }),
  ];
}
