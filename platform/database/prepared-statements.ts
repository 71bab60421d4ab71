import type { PoolClient } from 'pg';

/**
 * Statements that begin with `/* prepared: NAME *\/` are parsed and planned once per connection, not at every call: for the most
 * frequent ones, whose planning costs more than their work. They name the columns that they return: `*` would break on the
 * connections that know it when another release adds a column.
 */
const MARK = '/* prepared: ';
/** Most texts of all names together, and of one; more (a list of another length each time) are planned at every call. */
const MAX_TEXTS = 200;
const MAX_TEXTS_OF_NAME = 50;

type Query = (...words: readonly unknown[]) => unknown;

/** Makes what gives marked statements of a pool's connections their names. */
export function createStatementNames(): (client: PoolClient) => void {
  const names = new Map<string, string>();
  const amounts = new Map<string, number>();
  const assignName = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_TEXTS) return known;
    const mark = text.slice(MARK.length, text.indexOf(' ', MARK.length));
    const amount = amounts.get(mark) ?? 0;
    if (amount >= MAX_TEXTS_OF_NAME) return undefined;
    amounts.set(mark, amount + 1);
    const name = `${mark}#${names.size}`;
    names.set(text, name);
    return name;
  };
  return (client) => {
    const query = client.query.bind(client) as Query;
    const named: Query = (text, values, ...rest) => {
      if (typeof text !== 'string' || !text.startsWith(MARK)) return query(text, values, ...rest);
      return query({ name: assignName(text), text, values }, ...rest);
    };
    client.query = named as typeof client.query;
  };
}
