/**
 * What the model does to its whole database, as functions of that database: their statements are planned once for each
 * connection, not for each of many runs.
 */

/** Most milliseconds that the model's clock waits for a lock of a transaction under way. */
const LOCK_WAIT_MS = 500;
const AGED = {
  'media.tasks': ['created_at', 'cancel_requested_at', 'started_at', 'ended_at'],
  'media.task_steps': ['waiting_since', 'unknown_since', 'started_at', 'ended_at'],
  'media.attempts': [
    'unknown_since',
    'running_at',
    'next_poll_at',
    'watched_until',
    'started_at',
    'ended_at',
  ],
  model_jobs: ['start_after'],
};
const AGED_IF_PAID = {
  'workflow.executions': ['created_at', 'started_at'],
  'workflow.payments': ['created_at'],
};

/** Rows that a transaction under way has locked stay as they are: waiting for it would stop the model's clock. */
function aging(table: string, columns: readonly string[], which = 'true'): string {
  const older = columns.map((column) => `${column} = ${column} - make_interval(secs => seconds)`);
  return `update ${table} set ${older.join(', ')}
    where ctid = any (array(select ctid from ${table} where ${which} for update skip locked));`;
}

const writeAging = (tables: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(tables)
    .map(([table, columns]) => aging(table, columns))
    .join('\n');

/**
 * model_age makes everything older, but for claims of `held` steps; model_reset removes what a run has left; model_work
 * says what is to do. model_wrong gathers what must not be at the moment it is: a claim of work that nobody wants.
 */
export const MODEL_FUNCTIONS = `
  create table model_wrong (what text not null);
  create function model_check_claim() returns trigger language plpgsql as $$
  begin
    insert into model_wrong select 'claimed after the cancel or end of its task: ' || new.reference
      from media.tasks where id = new.task_id and (cancel_requested_at is not null or ended_at is not null);
    return null;
  end $$;
  create trigger model_check_claim after update of claim on media.attempts for each row
    when (old.claim is null and new.claim is not null) execute function model_check_claim();
  create function model_age(seconds float8, held text[], has_paid boolean) returns void language plpgsql as $$
  begin
    perform set_config('lock_timeout', '${LOCK_WAIT_MS}', true);
    ${writeAging(AGED)}
    ${aging('media.attempts', ['claimed_at'], `concat_ws('/', task_id, step) <> all (held)`)}
    if has_paid then
      ${writeAging(AGED_IF_PAID)}
    end if;
  end $$;
  create function model_reset() returns void language plpgsql as $$
  begin
    delete from model_wrong;
    delete from media.task_events;
    delete from media.tasks;
    delete from model_jobs;
    delete from workflow.refunds;
    delete from workflow.payments;
    delete from workflow.executions;
  end $$;
  create function model_work(ended text, has_paid boolean,
    out queues text[], out is_polled boolean, out is_claimed boolean, out is_open boolean, out open_tasks text[]) language plpgsql as $$
  begin
    queues := array(select distinct queue from model_jobs where queue <> ended and start_after <= now() order by queue);
    is_polled := exists (select from media.attempts where state = 'RUNNING' and next_poll_at <= now());
    is_claimed := exists (select from media.attempts where state = 'STARTING' and claim is not null);
    open_tasks := array(select id::text from media.tasks where ended_at is null);
    is_open := open_tasks <> '{}' or exists (select from media.attempts where state in ('STARTING', 'RUNNING'));
    if has_paid and not is_open then
      is_open := exists (select from workflow.executions where ended_at is null)
        or exists (select from workflow.payments where status = 'PENDING' or refund_due);
    end if;
  end $$`;
