/**
 * JSON that PostgreSQL's jsonb takes: it refuses NUL characters and half surrogate pairs, and upstream texts have been
 * seen to contain both.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'string' ? entry.toWellFormed().replaceAll('\0', '') : entry,
  );
}
