/** A JSON value: what jsonb columns, provider handles and queue jobs hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Whether a value is a JSON object, and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a text says; undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

/**
 * JSON that PostgreSQL's jsonb takes: it refuses NUL characters and half surrogate pairs, and upstream texts have been
 * seen to contain both.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'string' ? storableText(entry) : entry,
  );
}

/** A text as PostgreSQL takes it. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}
