/** Tables for spreadsheets, by RFC 4180. */

/** A value of a table; null is an empty cell. */
export type Cell = string | number | null;

/** A table with the names of its columns in its first line. */
export function csvOf(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [columns, ...rows].map((cells) => `${cells.map(formatCell).join(',')}\r\n`).join('');
}

/** Callers choose some of the names: one that a spreadsheet would take for a formula gets an apostrophe. */
function formatCell(value: Cell): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value ?? '') ? `'${value}` : (value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
