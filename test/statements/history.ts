import { Client, type ClientConfig } from 'pg';

import { extent } from '../kit/extent.ts';

/** A long history, made by PostgreSQL itself: what a Kiln has after months, nearly all of it ended, in seconds. */

/** Finished tasks (HISTORY_TASKS); other tables have as many rows or a part of it. */
export const TASKS = Number(process.env['HISTORY_TASKS'] ?? extent(14_000, 60_000));
/** Of more tasks than half a million, tables beside those that are asked most have a row for one in so many. */
const EVERY = Math.ceil(TASKS / 500_000);
/** Owners of most rows, with some hundred each. A tenth belongs to one of them, as work that a shop's own server starts does. */
const OWNERS = Math.max(500, Math.round(TASKS / 500));
/** Days over which the tasks are spread. */
const DAYS = 40;

/** Who has a tenth of everything. */
export const SHOP = 'key_shop';
/** Somebody who has a little of everything. */
export const SOMEBODY = 'usr_7';

const owner = (number: string): string =>
  `case when ${number} % 10 = 0 then '${SHOP}' else 'usr_' || (${number} % ${OWNERS}) end`;
const at = (number: string): string => `(now() - ${number} * interval '${DAYS} days' / ${TASKS})`;
/** Ids of a time, as Kiln makes them (version 7). */
const idAt = (
  number: string,
): string => `(lpad(to_hex((extract(epoch from ${at(number)}) * 1000)::bigint), 12, '0')
  || '7' || substr(md5(${number}::text), 1, 3) || '8' || substr(md5(${number}::text), 4, 15))::uuid`;
/** One in thousands has failed: what is rare is what lists look for longest. */
const state = (number: string): string =>
  `case when ${number} % 5000 = 0 then 'FAILED' when ${number} % 5001 = 0 then 'CANCELLED' else 'SUCCEEDED' end`;
/** From the oldest on, so that indexes grow at their end, as they do where time passes. */
const rows = (count: number): string => `generate_series(${count}, 1, -1) as i`;
/** Numbers over the whole of the days, of which sampled tables have a row. */
const sampledRows = `generate_series(1, ${TASKS}, ${EVERY}) as i`;
const isSampled = (id = 'id'): string => `abs(hashtext(${id}::text)) % ${EVERY} = 0`;

const STATEMENTS: readonly string[] = [
  `insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq, error, result, created_at, started_at, ended_at,
      events_pruned)
    select ${idAt('i')}, ${owner('i')}, 'IMAGE', 'agg/imga', '{"kind":"IMAGE","generator":"agg/imga","prompt":"a fox"}', ${state('i')},
      'finished', 3, case when ${state('i')} = 'FAILED' then '{"code":"TIMED_OUT","message":"late","retryable":true}'::jsonb end,
      case when ${state('i')} = 'SUCCEEDED' then jsonb_build_object('mediaIds', jsonb_build_array(${idAt('i')}), 'texts', '[]'::jsonb,
        'notes', '[]'::jsonb, 'facts', '{}'::jsonb) end,
      ${at('i')}, ${at('i')}, ${at('i')} + interval '1 second', ${at('i')} < now() - interval '32 days' from ${rows(TASKS)}`,
  `insert into media.task_steps (task_id, step, label, input, state, binding, started_at, ended_at, waiting_since)
    select id, 1, '', input, state, 'agg/imga#0', started_at, ended_at, created_at from media.tasks`,
  `insert into media.attempts (task_id, step, number, binding, provider, model, reference, state, claim, claimed_at, running_at, error,
      started_at, ended_at, settled_at)
    select id, 1, 1, 'agg/imga#0', 'openai', 'gpt-image-2', id || '/1/1', state, gen_random_uuid(), started_at, started_at, error,
      started_at, ended_at, ended_at from media.tasks`,
  `insert into media.task_events (task_id, seq, state, stage, progress, progress_estimated, at)
    select id, seq, 'RUNNING', 'running', 0, false, ended_at from media.tasks, generate_series(1, ${EVERY === 1 ? 3 : 1}) as seq where not events_pruned`,
  `insert into media.media (id, owner, name, object_key, content_type, bytes, sha256, task_id, state, created_at)
    select id, owner, 'a.png', id || '/a.png', 'image/png', 1000, 'x', id, 'STORED', created_at from media.tasks`,
  // Most of a busy day's keys may not go yet; some may.
  `insert into media.idempotency (owner, key, fingerprint, task_id, created_at)
    select owner, id::text, 'x', id, now() - interval '1 hour' from media.tasks where ${isSampled()}`,
  `insert into media.idempotency (owner, key, fingerprint, task_id, created_at)
    select owner, 'old ' || id, 'x', id, created_at from media.tasks where created_at < now() - interval '2 days' limit 700`,
  `insert into media.usage (day, owner, generator, provider, model, sandbox, currency, shard, tasks_succeeded, cost)
    select current_date - i / ${OWNERS} % ${DAYS}, ${owner('i')}, 'agg/imga', 'openai', 'gpt-image-2', false, 'USD', i / ${OWNERS} / ${DAYS}, 1, 20000
    from ${rows(Math.ceil(TASKS / EVERY))} on conflict do nothing`,
  `insert into media.webhook_deliveries (id, task_id, url, state, created_at, delivered_at)
    select id, id, 'https://shop.example/hook', 'DELIVERED', ended_at, ended_at from media.tasks
    where ended_at > now() - interval '31 days' and ${isSampled()}`,
  `insert into media.chat_costs (id, owner, generator, provider, model, sandbox, units, cost, currency, settled_at)
    select id, owner, 'chat', 'openai', 'gpt', false, '{}', 1000, 'USD', created_at from media.tasks
    where ${isSampled()}`,
  `insert into media.chat_replies (id, owner, key, fingerprint, state, chunks, created_at, ended_at)
    select id, owner, id::text, 'x', 'SUCCEEDED', 1, now() - interval '1 hour', ended_at from media.tasks limit 50000`,
  `insert into media.chat_chunks (reply_id, position, delta) select id, 0, 'fox' from media.chat_replies`,
  `insert into media.shares (id, media_id, owner, ends_at)
    select gen_random_uuid(), id, 'usr_' || row_number() over () % ${OWNERS}, now() + interval '1 year' from media.tasks limit 50000`,
  `insert into media.provider_resources (media_id, provider, account, owner, resource_id, uri, answer, expires_at)
    select id, 'gemini', 'one', owner, id::text, 'https://gemini.example/' || id, '{}', now() + interval '1 day' from media.tasks limit 50000`,
  `insert into workflow.executions (id, task_id, owner, user_id, template_code, status, stage, progress, parameters, start, task_owner,
      fingerprint, created_at, started_at, ended_at)
    select id, id, owner, 'usr_' || (extract(epoch from created_at)::bigint % ${OWNERS}), 'img_fox',
      case when state = 'SUCCEEDED' then 'COMPLETED' else state end, 'finished', 100, '{}', '{}', owner, 'x', created_at, started_at, ended_at
    from media.tasks`,
  `insert into workflow.idempotency (owner, key, fingerprint, execution_id, created_at)
    select owner, id::text, 'x', id, now() - interval '1 hour' from workflow.executions where ${isSampled()}`,
  `insert into workflow.payments (id, owner, user_id, template_code, parameters, start, task_owner, status, amount, currency, price_id,
      expires_at, pp_session_id, pp_payment_intent_id, execution_id, fingerprint, created_at)
    select 'pay_' || id, owner, user_id, template_code, '{}', '{}', task_owner,
      case status when 'COMPLETED' then status when 'FAILED' then 'REFUNDED' else status end,
      100, 'usd', 'price', created_at + interval '1 day', 'cs_' || id, 'pi_' || id, id, 'x', created_at from workflow.executions
    where ${isSampled()}`,
  `insert into workflow.refunds (id, payment_id, pp_refund_id, amount, reason, status)
    select gen_random_uuid(), id, 're_' || id, 100, 'USER_REQUEST', 'succeeded' from workflow.payments limit 50000`,
  `insert into workflow.pay_events (id, type, attempts, received_at, processed_at)
    select 'evt_' || id, 'checkout.session.completed', 1, now() - interval '1 hour', created_at from workflow.payments`,
  `insert into workflow.users (id, email, name, created_at) select 'usr_' || i, i || '@example.com', 'Fox ' || i, ${at(`(i * ${EVERY})`)} from ${rows(Math.ceil(TASKS / EVERY))}`,
  `insert into workflow.platform_users (platform, app_id, subject, user_id)
    select 'idp', 'https://idp.example', id, id from workflow.users`,
  `insert into workflow.sessions (id, user_id, platform, scope, salt, expires_at)
    select 'ses_' || id, id, 'idp', '', 'x', now() + interval '20 days' from workflow.users`,
  `insert into audit.entries (at, caller, what, target, trace_id)
    select ${at('i')}, ${owner('i')}, case when i % 5000 = 0 then 'refund' else 'sign-in' end, 'it', 'x' from ${sampledRows}`,
  `insert into gateway.stored_answers (operation, id, body) select 'GET /task/{taskId}', id::text, '{}' from media.tasks limit 50000`,
  `insert into queue.queues (name, retry_limit, retry_delay, retry_delay_max)
    select name, 5, 1, 300 from unnest(array['media.start.gone.0', 'media.store-result', 'workflow.task-ended']) as name on conflict do nothing`,
  // Work that waits for a binding which left the configuration a moment ago: looked after by the sweep.
  `insert into media.tasks (id, owner, kind, generator, input, stage, last_seq)
    select gen_random_uuid(), 'usr_1', 'IMAGE', 'gone', '{"kind":"IMAGE","generator":"gone","prompt":"a fox"}', 'queued', 1 from ${rows(20)}`,
  `insert into media.task_steps (task_id, step, label, input, binding) select id, 1, '', input, 'gone#0' from media.tasks where generator = 'gone'`,
  `insert into queue.jobs (id, queue, data, owner)
    select gen_random_uuid(), 'media.start.gone.0', jsonb_build_object('taskId', id, 'step', 1), owner from media.tasks where generator = 'gone'`,
];

/** Jobs that have ended and are kept for a day, of every queue that there is. */
const JOBS = `insert into queue.jobs (id, queue, data, state, created_at, ended_at)
    select gen_random_uuid(), queue.name, jsonb_build_object('taskId', gen_random_uuid(), 'step', 1), 'completed', now() - interval '2 hours', now() - interval '2 hours'
    from queue.queues as queue, ${rows(TASKS)} where i % (select count(*) from queue.queues) = 0`;

/** Fills a migrated database. */
export async function fillWithHistory(config: ClientConfig): Promise<void> {
  const client = new Client(config);
  await client.connect();
  try {
    // Keys to other tables are sound by the way in which the rows are made.
    await client.query(
      `set session_replication_role = replica; set work_mem = '256MB'; set maintenance_work_mem = '1GB'`,
    );
    const indexes = EVERY === 1 ? [] : await takeIndexes(client);
    for (const statement of [...STATEMENTS, JOBS, ...indexes]) {
      const from = performance.now();
      // oxlint-disable-next-line eslint/no-await-in-loop -- one table after the other
      await client.query(statement);
      if (EVERY > 1) tell(statement, from);
    }
    const from = performance.now();
    await client.query('vacuum analyze');
    if (EVERY > 1) tell('vacuum analyze', from);
  } finally {
    await client.end();
  }
}

/** What takes minutes says how far it is. */
function tell(statement: string, from: number): void {
  const seconds = ((performance.now() - from) / 1_000).toFixed(1);
  process.stderr.write(`${seconds} s: ${statement.slice(0, 60).replaceAll(/\s+/g, ' ')}\n`);
}

/** Drops the indexes that hold no rule, and answers the statements that make them again: of many rows at once they cost less. */
async function takeIndexes(client: Client): Promise<readonly string[]> {
  const { rows: found } = await client.query<{ name: string; statement: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement
      from pg_index join pg_class on pg_class.oid = indexrelid
      where not indisunique and not relispartition and relnamespace::regnamespace::text = any ($1)`,
    [['media', 'workflow', 'audit', 'queue', 'gateway']],
  );
  if (found.length > 0) await client.query(`drop index ${found.map(({ name }) => name).join(', ')}`);
  // Of a table in partitions the statement as PostgreSQL has it leaves these out.
  return found.map(({ statement }) => statement.replace(' ON ONLY ', ' ON '));
}
