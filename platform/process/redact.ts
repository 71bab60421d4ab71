/**
 * Removes secrets from logs. Values of keys that name a secret are replaced; tokens, signatures and passwords inside
 * texts as well; everything is bounded, so that one line can't fill a disk.
 */

/** Written in place of removed values. */
export const REDACTED = '[redacted]';

const SECRET_KEY =
  /authorization|cookie|apikey|secret|password|passwd|credential|privatekey|accesskey|internalkey|servicekey|idempotencykey|signature|connectionstring|databaseurl|tokens?$|^sig$|^xkilncaller$|^(login)?code$|^codeverifier$/;
const SECRET_PARAMETER =
  /([?&#;\s"']|^)((?:[\w-]*(?:token|signature|secret|password|api[_-]?key|access[_-]?key|credential)|sig|key|(?:login_)?code|code_verifier)=)[^&\s"'#]+/gi;
const BEARER = /\b(bearer|basic)\s+[\w+/=.~-]{8,}/gi;
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*):[^/\s@]+@/gi;
/** Under any key: JWTs and encrypted values, refresh tokens, our service keys (sign-in of the workflow subgraph). */
const TOKEN = /\b(?:eyJ[\w-]{8,}(?:\.[\w-]*){2,4}|ses_[\w-]+\.\d+\.[\w-]{20,}|kiln_[0-9a-f]{16,})/g;
const VENDOR_KEY = /\b(sk|pk|rk|whsec)([-_])[\w-]{12,}/g;

/**
 * Ids of what Kiln stores (UUID v7) open what nobody owns. A log keeps their time and a few digits: enough to find lines
 * by an id, not to use it.
 */
const STORED_ID = /\b([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3})-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/gi;

const MAX_DEPTH = 6;
const MAX_ITEMS = 50;
const MAX_TEXT = 4_000;

/** The text without tokens, signatures, passwords, bearer credentials and whole ids, at most 4,000 characters long. */
export function redactText(text: string): string {
  const bounded = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}... (${text.length} characters)` : text;
  return withoutSecrets(bounded).replace(STORED_ID, '$1-...');
}

/** The same of a text of any length. */
export function withoutSecrets(text: string): string {
  return text
    .replace(URL_PASSWORD, `$1:${REDACTED}@`)
    .replace(SECRET_PARAMETER, `$1$2${REDACTED}`)
    .replace(TOKEN, REDACTED)
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(VENDOR_KEY, `$1$2${REDACTED}`);
}

/** A copy of a value for the log: without secrets, errors as plain objects with their causes, six levels deep. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value;
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (depth >= MAX_DEPTH) return '(deeper)';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redact(item, depth + 1));
  return redactObject(value, depth);
}

function redactObject(value: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value).slice(0, MAX_ITEMS)) {
    copy[key] = isSecret(key, item) ? REDACTED : redact(item, depth + 1);
  }
  return copy;
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  return {
    ...redactObject(error, depth),
    name: error.name,
    message: redactText(error.message),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
    ...(error instanceof AggregateError ? { errors: redact(error.errors, depth + 1) } : {}),
  };
}

/** Numbers and booleans are kept (`maxTokens: 100`), and so are error codes, whose key is also that of login codes. */
function isSecret(key: string, item: unknown): boolean {
  if (item === null || item === undefined || typeof item === 'number' || typeof item === 'boolean')
    return false;
  const name = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (name === 'code') return typeof item === 'string' && !/^([A-Z][A-Z0-9_]*|[0-9A-Z]{1,6})$/.test(item);
  return SECRET_KEY.test(name);
}
