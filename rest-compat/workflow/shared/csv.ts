import { AppError } from '../../../platform/errors.ts';

/** Tables for spreadsheets, by RFC 4180. */

/** A value of a table; null is an empty cell. */
export type Cell = string | number | null;

/** A table with the names of its columns in its first line. */
export function toCsv(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [columns, ...rows].map((cells) => `${cells.map(formatCell).join(',')}\r\n`).join('');
}

/** Callers choose some of the names: one that a spreadsheet would take for a formula gets an apostrophe. */
function formatCell(value: Cell): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value ?? '') ? `'${value}` : (value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A day or a time of the query string. A day begins at midnight UTC. */
export function readTime(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isDate = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const time = isDate ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw wrongInput(name, 'must be a day or a time, such as 2026-11-01 or 2026-11-01T08:00:00Z');
}

/** The refusal of a parameter. */
export function wrongInput(name: string, rule: string): AppError {
  const message = `${name} ${rule}`;
  return new AppError('BAD_USER_INPUT', message, { field: name, problems: [{ field: name, message }] });
}
