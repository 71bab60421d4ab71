import { AppError } from '../../../platform/errors.ts';

/** A day or a time of the query string. A day begins at midnight UTC. */
export function timeOf(name: string, text: string | undefined): string | undefined {
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
