import { sql, type Kysely } from 'kysely';

/** A walk through the rows of a table in the order of a time of theirs, each passed once by whichever process gets to it. */
interface Walk {
  /** The table of marks: what text primary key, until timestamptz, id text. */
  readonly marks: string;
  /** Its row there. */
  readonly name: string;
  /** Table with an index over (column, id); `condition` is SQL of our own. */
  readonly table: string;
  readonly column: string;
  /** Rows whose time is older than so many days. */
  readonly days: number;
  readonly limit: number;
}

/** The ids of the next rows, which count as passed when the transaction commits. Null while another process is at it. */
export async function nextPassed<Tables>(
  transaction: Kysely<Tables>,
  { marks, name, table, column, days, limit }: Walk,
): Promise<readonly string[] | null> {
  const [markTable, rowTable, at] = [sql.table(marks), sql.table(table), sql.ref(column)];
  // Where it is there nothing is inserted: that would wait for whoever moves it.
  await sql`insert into ${markTable} (what) select ${name}::text
    where not exists (select from ${markTable} where what = ${name}) on conflict do nothing`.execute(
    transaction,
  );
  // As text: the beginning is before every date.
  const { rows: held } = await sql<{ until: string; id: string }>`/* passed-rows.hold */
    select until::text, id from ${markTable} where what = ${name} for update skip locked`.execute(
    transaction,
  );
  const [mark] = held;
  if (mark === undefined) return null;
  // With the mark's own values PostgreSQL knows how much is left.
  const { rows } = await sql<{ id: string }>`/* passed-rows.next */
    with passed as (
      select row.id::text as id, row.${at} as at from ${rowTable} as row
      where row.${at} >= ${mark.until}::timestamptz and row.${at} < now() - make_interval(days => ${days})
        and (row.${at}, row.id::text) > (${mark.until}::timestamptz, ${mark.id})
      order by row.${at}, row.id::text limit ${limit}
    ), moved as (
      update ${markTable} mark set until = last.at, id = last.id
      from (select at, id from passed order by at desc, id desc limit 1) last where mark.what = ${name}
    )
    select id from passed`.execute(transaction);
  return rows.map(({ id }) => id);
}
