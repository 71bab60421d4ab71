import { MOST_COUNTED } from '../../platform/paging.ts';
import type { PlanNode, RunStatement } from './plan-relay.ts';

/** What of a statement grows with the history: tables that are read through, and what does not fit into memory. */

/** A large table, or an index of one, of which a statement has read more than it may. */
export interface Finding {
  readonly statement: string;
  readonly what: string;
  readonly milliseconds: number;
}

/** Most rows that one step of a plan reads: as far as lists are counted, and some that their filter leaves out. */
const MOST_ROWS = MOST_COUNTED + 1_000;

/** Rows after which a scan that its limit ends has read nothing through, such as that of the jobs that are there to claim. */
const FEW_ROWS = 100;

/** The faults of one statement; `large` are tables as `schema.table`. */
export function listFindings(
  { text, milliseconds, plan }: RunStatement,
  large: ReadonlySet<string>,
): Finding[] {
  const statement = readName(text);
  return listNodes(plan)
    .flatMap((node) => findFaults(node, large))
    .map((what) => ({ statement, what, milliseconds }));
}

/** The name that a statement begins with, else the statement itself, short and without its own values. */
export function readName(text: string): string {
  const name = /^\s*\/\* (?:prepared: )?([^*]+?) \*\//.exec(text)?.[1];
  const short = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\$\d+(?:, \$\d+)*/g, '$')
    .trim();
  return name === undefined || name.startsWith('kept-records') ? short.slice(0, 400) : name;
}

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}

function findFaults(node: PlanNode, large: ReadonlySet<string>): string[] {
  const type = node['Node Type'];
  const faults: string[] = [];
  if (node['Sort Space Type'] === 'Disk') faults.push('a sort that does not fit into memory');
  if ((node['Hash Batches'] ?? 1) > 1 || (node['HashAgg Batches'] ?? 1) > 1)
    faults.push('a hash that does not fit into memory');
  if (!type.endsWith('Scan')) return faults;
  const table = `${node.Schema ?? ''}.${node['Relation Name'] ?? ''}`;
  const read = Math.round(countRows(node) * (node['Actual Loops'] ?? 1));
  const source = node['Relation Name'] === undefined ? (node['Index Name'] ?? type) : table;
  if (type === 'Seq Scan' && large.has(table) && read > FEW_ROWS)
    faults.push(`a scan of ${table}, ${read} rows`);
  else if (read > MOST_ROWS && (large.has(table) || type === 'Bitmap Index Scan'))
    faults.push(`${read} rows of ${source} by ${node['Index Name'] ?? type}`);
  return faults;
}

function countRows(node: PlanNode): number {
  return (
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  );
}
