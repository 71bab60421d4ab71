import { Client, type ClientConfig } from 'pg';

/** Filling a database with finished tasks: copies of one that Kiln has finished itself, over the last four weeks. */

/** Tables of a task, the parent first, with the column that names it. */
const TABLES = [
  ['tasks', 'id'],
  ['task_steps', 'task_id'],
  ['attempts', 'task_id'],
  ['task_events', 'task_id'],
] as const;
/** Rows of one statement. */
const CHUNK = 100_000;
/** Every other copy belongs to others, so many of them. */
const OWNERS = 1_000;

/**
 * Copies the task so many times, each with its log repeated to about `events` entries; answers the ids of some, how many
 * rows there are of each table, and the size of the database.
 */
export async function fillWithCopies(connection: string, taskId: string, count: number, events: number) {
  const client = new Client(JSON.parse(connection) as ClientConfig);
  await client.connect();
  try {
    const repeats = await countRepeats(client, taskId, events);
    for (let from = 0; from < count; from += CHUNK) {
      await client.query('begin');
      await client.query(copiesSql(from, Math.min(count, from + CHUNK)));
      for (const [table, key] of TABLES)
        await client.query(await copySql(client, table, key, repeats), [taskId]);
      await client.query('drop table copies');
      await client.query('commit');
    }
    await client.query('vacuum analyze');
    const { rows: some } = await client.query<{ id: string }>(
      `select id from media.tasks where owner = (select owner from media.tasks where id = $1)
        order by random() limit 200`,
      [taskId],
    );
    const { rows } = await client.query<{ name: string; rows: string; size: string }>(
      `select relname as name, reltuples::bigint as rows, pg_size_pretty(pg_total_relation_size(oid)) as size
        from pg_class where oid = any (array['media.tasks', 'media.task_events']::regclass[])`,
    );
    return {
      ids: some.map(({ id }) => id),
      rows: rows.map((row) => `${row.rows} ${row.name} (${row.size})`).join(', '),
    };
  } finally {
    await client.end();
  }
}

/** How often the log of the task is repeated in its copies. */
async function countRepeats(client: Client, taskId: string, events: number): Promise<number> {
  const { rows } = await client.query<{ last: number }>(
    'select last_seq as last from media.tasks where id = $1',
    [taskId],
  );
  return Math.max(1, Math.round(events / (rows[0]?.last ?? events)));
}

/** Ids of a time, as Kiln makes them (version 7). */
function copiesSql(from: number, until: number): string {
  return `create temp table copies as select number, (
      lpad(to_hex(((extract(epoch from now()) - 2419200 + number % 2419200) * 1000)::bigint), 12, '0')
      || '7' || substr(md5(number::text), 1, 3) || '8' || substr(md5(number::text), 4, 15))::uuid as copy
    from generate_series(${from}, ${until - 1}) number`;
}

/** Inserts a copy of each row of the task for each id. */
async function copySql(client: Client, table: string, key: string, repeats: number): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_schema = 'media' and table_name = $1`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const writeValue = (name: string): string => {
    if (name === key) return 'copies.copy';
    if (name === 'reference') return `copies.copy || '/' || original.reference`;
    if (name === 'last_seq') return `original.last_seq * ${repeats}`;
    if (name === 'seq') return `original.seq + again * (select last_seq from media.tasks where id = $1)`;
    if (name === 'owner')
      return `case when number % 2 = 0 then owner else 'key_other' || number % ${OWNERS} end`;
    if (/(?:_at|_until|_since|^at)$/.test(name)) return `original.${name} - interval '1 day'`;
    return `original.${name}`;
  };
  return `insert into media.${table} (${names.join(', ')}) select ${names.map(writeValue).join(', ')}
    from media.${table} original, copies${table === 'task_events' ? `, generate_series(0, ${repeats - 1}) again` : ''}
    where original.${key} = $1`;
}
