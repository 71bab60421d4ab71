import { sql, type Kysely, type RawBuilder } from 'kysely';

import { type AppError, badInput } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { isDataException } from './database.ts';

/** What is kept of somebody, section by section, a page at a time. */

/** One thing that is kept. */
export interface KeptRecord {
  /** What it is, as `task`. */
  readonly kind: string;
  readonly data: JsonObject;
  /** Its place: what a later page begins after. */
  readonly cursor: string;
}

/** Things of one kind, in an order that does not change. */
export interface Section {
  readonly name: string;
  /** The next ones after a cursor of this section; fewer than `limit` means that there are no more. */
  read(after: string | null, limit: number): Promise<readonly KeptRecord[]>;
}

/** The next records of all sections. Cursors are those of a section with its name before. BAD_USER_INPUT for any other. */
export async function readSections(
  sections: readonly Section[],
  after: string | null,
  first: number,
): Promise<readonly KeptRecord[]> {
  const [name = '', ...rest] = after?.split(':') ?? [];
  let index = after === null ? 0 : sections.findIndex((section) => section.name === name);
  if (index === -1) throw notACursor();
  const records: KeptRecord[] = [];
  for (let from = after === null ? null : rest.join(':'); index < sections.length; index += 1) {
    const section = sections[index];
    if (section === undefined || records.length >= first) break;
    // oxlint-disable-next-line eslint/no-await-in-loop -- one section after the other
    const found = await section.read(from, first - records.length);
    records.push(...found.map((record) => ({ ...record, cursor: `${section.name}:${record.cursor}` })));
    from = null;
  }
  return records;
}

function notACursor(): AppError {
  return badInput('after', 'after must be a cursor of this list');
}

interface KeptRows {
  /** Also its name among the sections. */
  readonly kind: string;
  /** A table, or a query in parentheses with a name. */
  readonly from: RawBuilder<unknown>;
  /** SQL of our own: which rows are theirs. */
  readonly where: RawBuilder<boolean>;
  /** In camelCase, with spaces between them. */
  readonly columns: string;
  /** What orders the rows, each its own (default: the column id). */
  readonly id?: RawBuilder<unknown>;
}

/** Rows as a section; of each the named columns. */
export function rowsSection<Tables>(database: Kysely<Tables>, rows: KeptRows): Section {
  const { kind, from, where, columns, id = sql.ref('id') } = rows;
  const picked = sql.join(columns.split(' ').map((name) => sql`${sql.ref(name)} as ${sql.raw(`"${name}"`)}`));
  return {
    name: kind,
    async read(after, limit) {
      const next = after === null ? sql`true` : sql`(${id}) > ${after}`;
      const found = await sql<{ cursor: string; data: JsonObject }>`/* kept-records */
        select picked.cursor, to_jsonb(picked) - 'cursor' as data from (
          select (${id})::text as cursor, ${picked} from ${from}
          where ${where} and ${next} order by ${id} limit ${limit}) picked`
        .execute(database)
        .catch((thrown: unknown) => {
          // A cursor that is no id of this kind is refused by the cast.
          throw after !== null && isDataException(thrown) ? notACursor() : thrown;
        });
      return found.rows.map(({ cursor, data }) => ({ kind, cursor, data }));
    },
  };
}
