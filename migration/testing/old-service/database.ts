import { DatabaseSync } from 'node:sqlite';

/** The old installation's own database. */
export type OldDatabase = ReturnType<typeof openDatabase>;

/** Opens it, with what has gathered there over the years. */
export function openDatabase(file: string) {
  const database = new DatabaseSync(file);
  database.exec(`
    create table video_templates (id integer primary key, document text not null);
    create table templates (code text primary key, document text not null);
    create table tasks (id text primary key, polls_left integer not null, document text not null);
    create table executions (task_id text primary key, user_id text not null, document text not null);
    create table payments (id text primary key, user_id text not null, document text not null);
    create table calls (method text not null, path text not null, authorization text)`);
  const insert = (table: string, columns: string, ...values: (string | number)[]) =>
    database
      .prepare(`insert into ${table} (${columns}) values (${values.map(() => '?').join(', ')})`)
      .run(...values);
  for (const document of videoTemplates) {
    insert('video_templates', 'id, document', document.id, JSON.stringify(document));
  }
  for (const [taskId, userId, document] of executions) {
    insert('executions', 'task_id, user_id, document', taskId, userId, JSON.stringify(document));
  }
  for (const payment of payments) {
    insert('payments', 'id, user_id, document', payment.id, payment.userId, JSON.stringify(payment));
  }
  insert(
    'tasks',
    'id, polls_left, document',
    'task-41',
    5,
    JSON.stringify({ kind: 'video', prompt: 'a fox' }),
  );
  return {
    /** Templates, the first two with their products at the payment provider. */
    addTemplates(products: readonly OldProduct[]) {
      for (const template of templates(products)) {
        insert('templates', 'code, document', template.code, JSON.stringify(template));
      }
    },
    documents: (table: string) =>
      database.prepare(`select document from ${table} order by 1`).all().map(toDocument),
    document(table: string, key: string, value: string) {
      const row = database.prepare(`select document from ${table} where ${key} = ?`).get(value);
      return row === undefined ? null : toDocument(row);
    },
    ofUser: (table: string, user: string) =>
      database.prepare(`select document from ${table} where user_id = ?`).all(user).map(toDocument),
    addExecution: (taskId: string, userId: string, document: object) =>
      insert('executions', 'task_id, user_id, document', taskId, userId, JSON.stringify(document)),
    addTask: (id: string, document: object) =>
      insert('tasks', 'id, polls_left, document', id, 2, JSON.stringify(document)),
    /** Polls left before this one; null for an unknown task. */
    poll(id: string): number | null {
      const row = database
        .prepare('update tasks set polls_left = max(0, polls_left - 1) where id = ? returning polls_left')
        .get(id);
      return row === undefined ? null : Number(row['polls_left']);
    },
    addCall: (method: string, path: string, authorization: string) =>
      insert('calls', 'method, path, authorization', method, path, authorization),
    calls: () => database.prepare('select * from calls').all(),
  };
}

/** What a product of the payment provider is called there. */
export interface OldProduct {
  readonly productId: string;
  readonly priceId: string;
}

function toDocument(row: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(String(row['document']));
}

const videoTemplates = [
  ...Array.from({ length: 104 }, (_, index) => ({
    id: index + 1,
    task_type: `scene-${index + 1}`,
    prompt: `scene number ${index + 1}`,
    cover_url: `https://cdn.example.org/covers/${index + 1}.webp`,
    aspect_ratio: '9:16',
    engine: 'vidb',
    category: index % 2 === 0 ? 'food' : 'travel',
    presetPrompts: 'first\nsecond',
    sort_weight: index,
    badges: [{ text: 'new', until: null }],
  })),
  { id: 900, task_type: 'tea', prompt: 'tea as the old service makes it', category: 'food' },
  { id: 901, task_type: 'broken', prompt: 17, category: 'food' },
];

function templates([sold, other]: readonly OldProduct[]) {
  const shared = { version: '2.1.0', tags: ['old'], createdAt: '2024-05-06T07:08:09.000Z', isActive: true };
  return [
    {
      ...shared,
      code: 'portrait',
      name: 'Portrait',
      description: 'A portrait',
      workflow: 'image',
      creditCost: 5,
      templateType: 'IMAGE',
      ...sold,
    },
    {
      ...shared,
      code: 'dance',
      name: 'Dance',
      description: 'A dance',
      workflow: 'dance_wf_v3',
      creditCost: 9,
      templateType: 'VIDEO',
    },
    {
      ...shared,
      code: 'retired',
      name: 'Retired',
      description: '',
      workflow: 'video',
      creditCost: 2,
      templateType: 'VIDEO',
      isActive: false,
    },
    {
      ...shared,
      code: 'dear',
      name: 'Dear',
      description: '',
      workflow: 'image',
      creditCost: 7,
      templateType: 'IMAGE',
      ...other,
    },
    {
      ...shared,
      code: 'clip',
      name: 'Our clip',
      description: 'Sold for years',
      workflow: 'video',
      creditCost: 3,
      templateType: 'VIDEO',
    },
  ];
}

const executions: [string, string, Record<string, unknown>][] = [
  [
    'run-10',
    'sub-bob',
    {
      executionId: 'exec-10',
      taskId: 'run-10',
      templateCode: 'clip',
      status: 'completed',
      progress: 100,
      createdAt: '2025-02-02T03:04:05.000Z',
      completedAt: '2025-02-02T03:05:05.000Z',
    },
  ],
  [
    'run-11',
    'sub-bob',
    {
      executionId: 'exec-11',
      taskId: 'run-11',
      templateCode: 'clip',
      status: 'running',
      progress: 10,
      createdAt: '2025-02-03T03:04:05.000Z',
      completedAt: null,
    },
  ],
  [
    'run-7',
    'sub-ada',
    {
      executionId: 'exec-7',
      taskId: 'run-7',
      templateCode: 'portrait',
      status: 'completed',
      progress: 100,
      createdAt: '2025-01-02T03:04:05.000Z',
      completedAt: '2025-01-02T03:05:05.000Z',
    },
  ],
  [
    'run-8',
    'sub-ada',
    {
      executionId: 'exec-8',
      taskId: 'run-8',
      templateCode: 'dance',
      status: 'failed',
      progress: 40,
      createdAt: '2025-01-03T03:04:05.000Z',
      completedAt: null,
    },
  ],
  ...['cleo', 'dora'].map((name): [string, string, Record<string, unknown>] => [
    `run-of-${name}`,
    `sub-${name}`,
    {
      executionId: `exec-of-${name}`,
      taskId: `run-of-${name}`,
      templateCode: 'clip',
      status: 'completed',
      progress: 100,
      createdAt: '2025-01-05T03:04:05.000Z',
      completedAt: '2025-01-05T03:05:05.000Z',
    },
  ]),
];

const payments = [
  {
    id: 'pay-7',
    userId: 'sub-ada',
    templateCode: 'portrait',
    status: 'completed',
    amount: 500,
    currency: 'usd',
    ppSessionId: 'cs_old_7',
    executionId: 'exec-7',
    createdAt: '2025-01-02T03:04:00.000Z',
  },
  {
    id: 'pay-8',
    userId: 'sub-bob',
    templateCode: 'clip',
    status: 'pending',
    amount: 300,
    currency: 'usd',
    ppSessionId: 'cs_old_8',
    executionId: null,
    createdAt: '2025-01-03T03:04:00.000Z',
  },
  {
    id: 'pay-10',
    userId: 'sub-cleo',
    templateCode: 'clip',
    status: 'completed',
    amount: 300,
    currency: 'usd',
    ppSessionId: 'cs_old_10',
    executionId: 'exec-of-cleo',
    createdAt: '2025-01-05T03:04:00.000Z',
  },
  {
    id: 'pay-9',
    userId: 'sub-bob',
    templateCode: 'dance',
    status: 'cancelled',
    amount: 900,
    currency: 'usd',
    ppSessionId: 'cs_old_9',
    executionId: null,
    createdAt: '2025-01-04T03:04:00.000Z',
  },
];
