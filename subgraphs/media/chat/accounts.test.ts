import { sql, type RawBuilder } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Caller } from '../../../platform/access/caller.ts';
import { newId } from '../../../platform/ids.ts';
import { createBudgets, type Budgets } from '../budgets/budgets.ts';
import { UpstreamError } from '../domain/failure.ts';
import type { BindingPrices } from '../domain/price.ts';
import type { ChatPiece, Provider } from '../providers/contract/provider.ts';
import { me, toRegistry, startEngine, type TestEngine } from '../tasks/testing/engine.ts';
import { testBinding } from '../tasks/testing/provider.ts';
import { PNG } from '../tasks/testing/upstream.ts';
import { createUsageService } from '../usage/service.ts';
import type { ChatService } from './chat.ts';
import type { ChatInput } from './conversation/input.ts';
import { createChatService } from './service.ts';

let engine: TestEngine;
let chats: ChatService;
let budgets: Budgets;
/** Ends the replies that wait. */
let answer: PromiseWithResolvers<void>;

const PRICES: BindingPrices = {
  currency: 'USD',
  of: () => ({
    prices: [
      { unit: 'inputToken', amount: 0.001 },
      { unit: 'cachedToken', amount: 0.0001 },
      { unit: 'outputToken', amount: 0.01 },
    ],
  }),
};

const provider: Provider = {
  name: 'talker',
  chat: () => Promise.reject(new Error('only streams')),
  async *chatStream({ messages }): AsyncIterable<ChatPiece> {
    yield { delta: 'ab' };
    if (JSON.stringify(messages).includes('breaks')) throw new UpstreamError('UNAVAILABLE', 'it broke off');
    await answer.promise;
    yield {
      outcome: { text: 'ab', model: 'm-1', usage: { inputTokens: 12, outputTokens: 2, cachedTokens: 10 } },
    };
  },
};

beforeAll(async () => {
  engine = await startEngine();
  budgets = createBudgets({ ...engine, currency: 'USD', expectedParts: () => [] });
  const registry = toRegistry(testBinding('llm#0', provider, 'http://127.0.0.1:1', { prices: PRICES }));
  chats = createChatService({
    ...engine,
    registry,
    budgetGate: budgets.gate,
    budgetWarnings: budgets.warnings,
  });
});
afterAll(async () => {
  await chats.close();
  budgets.close();
  await engine.stop();
});

const robot: Caller = { ...me, kind: 'key', id: 'key_talker' };
const ask = (content: string): ChatInput => ({
  generator: 'llm',
  messages: [{ role: 'user', content }],
  maxTokens: 8,
});
const options = (idempotencyKey: string | null = null) => ({
  idempotencyKey,
  signal: new AbortController().signal,
});

/** How many rows there are, of a table and a condition. */
async function count(from: RawBuilder<unknown>): Promise<number | undefined> {
  const counted = sql<{ rows: number }>`select count(*)::integer as rows from ${from}`;
  return (await counted.execute(engine.database)).rows[0]?.rows;
}

it('reserves a chat, charges its tokens once, and counts it as used', async () => {
  answer = Promise.withResolvers();
  await budgets.service.create('KEY', robot.id, { amount: 0.1 });
  const first = chats.chat(robot, ask('hello'), options());
  await expect.poll(() => budgets.service.own(robot)).toMatchObject([{ reserved: 82_000, running: 1 }]);
  const refusal = await chats.chat(robot, ask('hello'), options('kept')).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'BUDGET_EXCEEDED', limit: { left: 0.018 } });
  answer.resolve();
  expect((await first).text).toBe('ab');
  // 2 tokens read anew, 10 from the cache, 2 written.
  expect(await budgets.service.own(robot)).toMatchObject([{ spent: 23_000, reserved: 0, running: 0 }]);
  await budgets.service.update((await budgets.service.own(robot))[0]?.id ?? '', { amount: 1 });
  for (const _ of [1, 2]) await chats.chat(robot, ask('hello'), options('kept'));
  await expect(chats.chat(robot, ask('breaks'), options())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect
    .poll(() => budgets.service.own(robot))
    .toMatchObject([{ spent: 46_000, reserved: 0, running: 0 }]);
  const usage = createUsageService({ database: engine.database, authMode: 'compat' });
  expect(await usage.usage(robot, { by: ['KEY'] })).toMatchObject([
    { key: robot.id, chats: 3, attempts: 0, unpriced: 1, microUnits: 46_000, currency: 'USD' },
  ]);
  expect(await engine.count('media.chat_costs')).toBe(3);
});

it('takes back what a chat reserved whose process was lost, for the next one', async () => {
  answer = Promise.withResolvers();
  const caller: Caller = { ...robot, id: 'key_lost' };
  await budgets.service.create('KEY', caller.id, { amount: 0.15 });
  const lost = chats.chat(caller, ask('hello'), options());
  await expect.poll(() => budgets.service.own(caller)).toMatchObject([{ running: 1 }]);
  await sql`update media.budget_holds set expires_at = now() - interval '1 second'`.execute(engine.database);
  const next = chats.chat(caller, ask('hello'), options());
  // Until it has reserved, the one that was lost looks the same.
  await expect.poll(() => count(sql`media.budget_holds where expires_at > now()`)).toBe(1);
  // One that is made now has reserved nothing for them.
  await budgets.service.create('TOTAL', null, { amount: 1 });
  answer.resolve();
  await Promise.all([lost, next]);
  await expect
    .poll(async () => (await budgets.service.all()).filter(({ subject }) => subject !== robot.id))
    .toMatchObject([
      { subject: caller.id, spent: 46_000, reserved: 0, running: 0 },
      { scope: 'TOTAL', spent: 92_000, reserved: 0, running: 0 },
    ]);
  // As releases before could leave it.
  await sql`update media.budgets set reserved = -1`.execute(engine.database);
  answer = Promise.withResolvers();
  const last = chats.chat(caller, ask('hello'), options());
  await expect.poll(() => budgets.service.own(caller)).toMatchObject([{ reserved: 82_000, running: 1 }]);
  answer.resolve();
  await last;
});

it('charges what a chat cost alone when its reservation is released as it ends', async () => {
  answer = Promise.withResolvers();
  const caller: Caller = { ...robot, id: 'key_late' };
  await budgets.service.create('KEY', caller.id, { amount: 0.15 });
  const late = chats.chat(caller, ask('hello'), options());
  await expect.poll(() => budgets.service.own(caller)).toMatchObject([{ running: 1 }]);
  await sql`update media.budget_holds set expires_at = now() - interval '1 second'`.execute(engine.database);
  const cost = { units: {}, microUnits: 82_000, currency: 'USD', estimated: false };
  const reserve = await budgets.gate.open({
    id: newId(),
    owner: caller.id,
    parts: () => [{ generator: 'llm', cost }],
  });
  await engine.database.transaction().execute(async (transaction) => {
    await reserve?.(transaction);
    answer.resolve();
    await expect
      .poll(() => count(sql`pg_stat_activity where wait_event_type = 'Lock' and query like '%budget%'`))
      .toBe(1);
  });
  await late;
  expect(await budgets.service.own(caller)).toMatchObject([{ spent: 23_000, reserved: 82_000, running: 1 }]);
});

it('charges each image that the model made beside its words, and reserves one', async () => {
  const usage = { inputTokens: 2, outputTokens: 1_292, imageTokens: 1_290 };
  const files = [1, 2].map(() => ({ content: PNG, contentType: 'image/png' }));
  const drawing: Provider = {
    name: 'drawing',
    chat: async () => ({ text: 'here', model: 'm-1', usage, files }),
  };
  const prices = [
    { unit: 'picture', amount: 0.05 },
    { unit: 'inputToken', amount: 0.001, when: { kind: 'CHAT' } },
    { unit: 'outputToken', amount: 0.01, when: { kind: 'CHAT' } },
  ] as const;
  const binding = { prices: { currency: 'USD', of: () => ({ prices }) } };
  const service = createChatService({
    ...engine,
    registry: toRegistry(testBinding('llm#0', drawing, 'http://127.0.0.1:1', binding)),
    budgetGate: budgets.gate,
  });
  const caller: Caller = { ...robot, id: 'key_drawer' };
  await budgets.service.create('KEY', caller.id, { amount: 0.131 });
  await expect(service.chat(caller, ask('hello'), options())).rejects.toMatchObject({
    code: 'BUDGET_EXCEEDED',
    limit: { left: 0.131 },
  });
  await budgets.service.update((await budgets.service.own(caller))[0]?.id ?? '', { amount: 0.132 });
  expect((await service.chat(caller, ask('hello'), options())).mediaIds).toHaveLength(2);
  // Two images, two tokens read and two written.
  await expect.poll(() => budgets.service.own(caller)).toMatchObject([{ spent: 122_000, reserved: 0 }]);
  await service.close();
});

it('warns of what a chat reserves, and of what it costs where that is more', async () => {
  answer = Promise.withResolvers();
  const caller: Caller = { ...robot, id: 'key_soft' };
  const { id } = await budgets.service.create('KEY', caller.id, { softAmount: 0.082 });
  const hasWarned = () => count(sql`media.budgets where id = ${id} and warned_period is not null`);
  const first = chats.chat(caller, ask('hello'), options());
  await expect.poll(() => budgets.service.own(caller)).toMatchObject([{ running: 1 }]);
  expect(await hasWarned()).toBe(1);
  await sql`update media.budgets set warned_period = null where id = ${id}`.execute(engine.database);
  await budgets.service.update(id, { softAmount: 0.023 });
  answer.resolve();
  await first;
  expect(await hasWarned()).toBe(1);
});
