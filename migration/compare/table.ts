import type { Comparison } from './tally.ts';

/** A comparison for people. Pure. */
export function tableOf({ operations, notCompared, undocumented, unreadFields }: Comparison): string {
  const rows = operations.map(({ operation, requests, equal, differing, differences }) => [
    operation,
    String(requests),
    String(equal),
    String(differing),
    Object.keys(differences)[0] ?? '',
  ]);
  return [
    ...columns([['operation', 'requests', 'equal', 'differing', 'first difference'], ...rows]),
    ...section(
      'Fields that clients send and Kiln does not read (the move breaks what they ask for):',
      unreadFields.map(({ operation, field, requests }) => `${operation}: ${field} (${requests} requests)`),
    ),
    ...section(
      'Not compared:',
      notCompared.map(({ operation, requests, reason }) => `${operation} (${requests} requests): ${reason}`),
    ),
    ...section(
      'Not documented, so not compared:',
      undocumented.map(({ request, requests }) => `${request} (${requests} requests)`),
    ),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

/** Columns as wide as their widest cell; the last one is not padded. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
