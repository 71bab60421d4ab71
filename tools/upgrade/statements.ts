/**
 * What a statement of a migration may do to the previous release, whose processes go on using the database, and to whoever
 * waits for its locks. Patterns over our own plain SQL, not a parser: in doubt they refuse.
 */

/** Tables that grow with the work: building an index on one, or reading through it, takes too long for a lock. */
export const LARGE: ReadonlySet<string> = new Set([
  'media.tasks',
  'media.task_steps',
  'media.attempts',
  'media.task_events',
  'media.media',
  'media.idempotency',
  'media.usage',
  'media.chat_replies',
  'media.chat_chunks',
  'media.chat_costs',
  'media.budget_holds',
  'media.webhook_deliveries',
  'workflow.executions',
  'workflow.idempotency',
  'workflow.payments',
  'workflow.pay_events',
  'workflow.sessions',
  'audit.entries',
]);

/** What an `alter table` may not do, and why. */
const ALTERATIONS: readonly (readonly [RegExp, string])[] = [
  [/\bdrop (?:column|constraint)\b/, 'takes away what the previous release may use'],
  [/\brename\b/, 'takes away a name that the previous release uses'],
  [
    /\balter(?: column)? \w+(?: set data)? type\b/,
    'rewrites the table, and changes what the previous release reads',
  ],
  [/\bset not null\b/, 'refuses rows as the previous release writes them'],
  [/\bdrop default\b/, 'refuses rows as the previous release writes them'],
  [/\b(?:attach|detach) partition\b/, 'reads through the table under a lock'],
  [/\bgenerated always as\b/, 'rewrites the table under a lock'],
  [/\bdefault (?:gen_random_uuid|clock_timestamp|random|nextval)\b/, 'rewrites the table under a lock'],
  [/\bset (?:logged|unlogged|tablespace|schema)\b/, 'rewrites or moves the table'],
];

/** Why this statement may not be in a new migration; empty when it may. `made` are tables of the same migration. */
export function findDangers(statement: string, made: ReadonlySet<string>): readonly string[] {
  const text = plain(statement);
  const altered = /^alter table (?:if exists )?(?:only )?([\w.]+)/.exec(text)?.[1];
  if (altered !== undefined) return made.has(altered) ? [] : dangersOfAlteration(text);
  const dropped = /^drop (table|index|view|type|function|schema|trigger|sequence)\b/.exec(text)?.[1];
  if (dropped !== undefined) return [`drops a ${dropped} that the previous release may use`];
  if (/^(?:truncate|lock)\b/.test(text)) return ['keeps everybody else out of the table'];
  return [...dangersOfIndex(text, made), ...dangersOfRows(text, made)];
}

/** The tables that these statements make. */
export function tablesMadeBy(statements: readonly string[]): ReadonlySet<string> {
  return new Set(
    statements.flatMap((one) => /^create table (?:if not exists )?([\w.]+)/.exec(plain(one))?.[1] ?? []),
  );
}

function dangersOfAlteration(text: string): readonly string[] {
  const dangers = ALTERATIONS.flatMap(([pattern, why]) => (pattern.test(text) ? [why] : []));
  for (const column of text.split(/\badd column\b/).slice(1)) {
    // Up to the next change of the same statement; commas inside of brackets belong to the type.
    const [definition = ''] = column.split(/,(?![^(]*\))/);
    if (/\bnot null\b/.test(definition) && !/\bdefault\b/.test(definition)) {
      dangers.push('adds a column that the previous release does not fill: give it a default');
    }
    if (/\b(?:unique|primary key)\b/.test(definition)) dangers.push('builds an index under a lock');
  }
  const constraint = /\badd (?:constraint \w+ )?(check|foreign key|unique|primary key|exclude)\b/.exec(
    text,
  )?.[1];
  if (constraint !== undefined && !/\bnot valid\b/.test(text)) {
    dangers.push(
      `adds a ${constraint} that reads through the table under a lock, and may refuse rows of the previous release`,
    );
  }
  return dangers;
}

function dangersOfIndex(text: string, made: ReadonlySet<string>): readonly string[] {
  const found = /^create (unique )?index (?:if not exists )?\w+ on (?:only )?([\w.]+)/.exec(text);
  const table = found?.[2];
  if (table === undefined || made.has(table)) return [];
  return [
    ...(LARGE.has(table)
      ? ['keeps everybody from writing while it is built: name it in `indexes` of the set']
      : []),
    ...(found?.[1] === undefined ? [] : ['refuses rows that the previous release may write']),
  ];
}

function dangersOfRows(text: string, made: ReadonlySet<string>): readonly string[] {
  const table = /^(?:update|delete from) ([\w.]+)/.exec(text)?.[1];
  if (table === undefined || made.has(table) || !LARGE.has(table)) return [];
  return ['holds the rows of a large table until the migration has ended'];
}

/** In one case, without comments, quotes of names and repeated space. */
function plain(statement: string): string {
  return statement
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
