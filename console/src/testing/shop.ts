import { ago, createList } from './things.ts';
import type { Fields } from './whole-console.tsx';

/** What the shop sells and has sold, for tests. */

/** A list of the server: these are on its first page, and more where there is a cursor. */
export const createPage = (
  nodes: readonly Fields[],
  { cursor, ...more }: Fields & { readonly cursor?: string } = {},
): Fields => ({ ...createList(nodes, cursor), ...more });

/** Days before the clock of the tests. */
export const daysAgo = (count: number): string => ago(count * 86_400);

/** A template that makes an image and is sold for 2.50 dollars. */
export const template = (code: string, change: Fields = {}): Fields => ({
  code,
  name: `The ${code}`,
  description: `makes a ${code}`,
  workflow: 'image',
  creditCost: 3,
  price: null,
  currency: null,
  version: '1.0.0',
  templateType: 'IMAGE',
  tags: [`tag of ${code}`],
  imageModel: null,
  imagePrompt: null,
  parameters: { prompt: { type: 'string', required: true } },
  isActive: true,
  createdAt: daysAgo(9),
  salePrice: { amount: 250, currency: 'usd' },
  ppProductId: null,
  ppSynced: false,
  lastPpSyncAt: null,
  ...change,
});

/** A run of a template by Ben, which has ended well. */
export const execution = (id: string, change: Fields = {}): Fields => ({
  id,
  taskId: `task-${id}`,
  userId: 'usr_ben',
  user: { id: 'usr_ben', name: 'Ben', email: 'ben@example.org' },
  status: 'COMPLETED',
  progress: 100,
  parameters: { prompt: 'a lake', n: 2 },
  createdAt: daysAgo(2),
  endedAt: daysAgo(1),
  error: null,
  template: template('poster'),
  task: null,
  ...change,
});

/** What Ben has paid for a poster. */
export const payment = (id: string, change: Fields = {}): Fields => ({
  id,
  userId: 'usr_ben',
  user: { id: 'usr_ben', name: 'Ben', email: 'ben@example.org' },
  status: 'COMPLETED',
  amount: 1_000,
  amountRefunded: 0,
  currency: 'usd',
  createdAt: daysAgo(3),
  taskId: `task-${id}`,
  disputed: false,
  refunds: [],
  template: template('poster'),
  ...change,
});
