import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';

import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** Formats of settings as zod schemas. Each error message is the remedy. */

/** Any text. */
export const text = z.string();

/** A day, YYYY-MM-DD. */
export const day = z.iso.date({ error: 'must be a day, such as 2026-12-31' });

/** One of the listed values. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be ${listed(words)}` });
}

/** true or false. */
export const trueOrFalse = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true');

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Whether this is an ISO 4217 currency code, in any case. */
export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code.toUpperCase());
}

/** What is said of any other text. */
export const mustBeCurrency = 'must be the ISO 4217 code of a currency, in upper or lower case, such as usd';

/** An ISO 4217 currency code, in any case. */
export const currency = z
  .string()
  .refine(isCurrency, { error: mustBeCurrency })
  .transform((value) => value.toLowerCase());

/** A whole number within bounds. */
export function integer(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
}

/** A number of processes, or `auto`: one for each core that may be used. */
export const processCount = z
  .string()
  .regex(/^(auto|[1-9]\d?)$/, { error: 'must be auto or a whole number from 1 to 99' })
  .transform((value) => (value === 'auto' ? availableParallelism() : Number(value)));

/** A number from 0 to 1. */
export const fraction = z
  .string()
  .regex(/^(0(\.\d+)?|1(\.0+)?)$/, { error: 'must be a number from 0 to 1' })
  .transform(Number);

/** `name=value` pairs separated by commas, names and values percent-encoded. */
export const namedValues = z.string().transform((value, context) => {
  const entries = value.split(',').filter((entry) => entry.trim() !== '');
  try {
    return Object.fromEntries(entries.map(decodedEntry));
  } catch {
    context.addIssue({ code: 'custom', message: 'must be name=value, separated by commas' });
    return z.NEVER;
  }
});

function decodedEntry(entry: string): readonly [string, string] {
  const [name = '', ...rest] = entry.trim().split('=');
  if (name === '' || rest.length === 0) throw new Error('no pair');
  return [decodeURIComponent(name.trim()), decodeURIComponent(rest.join('=').trim())];
}

/** An http or https address without user name, query or fragment; a trailing slash is removed. */
export const httpAddress = z
  .string()
  .refine(isHttpAddress, {
    error: 'must be an http:// or https:// address without user name, query or fragment',
  })
  .transform((value) => value.replace(/\/+$/, ''));

function isHttpAddress(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** A PostgreSQL address; a unix socket as `postgresql:///name?host=/var/run/postgresql` or `postgres://user@/name?host=/...`. */
export const postgresAddress = z.string().refine(
  // `user@/name` (a socket in the query) is no valid URL, although pg accepts it.
  (value) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value.replace('@/', '@localhost/')),
  { error: 'must be a postgres:// or postgresql:// address' },
);

/** A Redis address: redis:// or rediss:// (TLS), at most the number of a database as path. */
export const redisAddress = z.string().refine(
  (value) => {
    const url = URL.parse(value);
    if (url === null || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') return false;
    return /^(?:\/\d{0,4})?$/.test(url.pathname) && url.search === '' && url.hash === '';
  },
  { error: 'must be a redis:// or rediss:// address such as redis://host:6379/0' },
);

/** A name of an S3 bucket, as AWS allows them. */
export const bucketName = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, {
  error: 'must be the name of a bucket: 3 to 63 lower-case letters, digits, dots and dashes',
});

/** A secret of at least 32 characters. */
export const longSecret = z.string().min(32, {
  error: 'must be at least 32 characters long (for example the output of: openssl rand -hex 32)',
});

/** A secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
export const signingSecret = z
  .string()
  .refine((value) => /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(value) && hasKeyLength(value.slice(6)), {
    error:
      'must be whsec_ and 24 to 64 bytes in base64 (for example whsec_ and the output of: openssl rand -base64 32)',
  });

function hasKeyLength(base64: string): boolean {
  const key = Buffer.from(base64, 'base64');
  return key.length >= 24 && key.length <= 64 && key.toString('base64') === base64;
}

/** A list separated by commas; each entry must parse, and the message names its format. */
export function list<Item>(read: (entry: string) => Item | null, form: string) {
  return z.string().transform((value, context): readonly Item[] => {
    const items: Item[] = [];
    for (const entry of splitEntries(value)) {
      const item = read(entry);
      if (item === null) {
        context.addIssue({ code: 'custom', message: `must be a list of ${form}, separated by commas` });
        return z.NEVER;
      }
      items.push(item);
    }
    return items;
  });
}

/** on (every name), off (none), or patterns of names in which * stands for anything. */
export const anyModel = z
  .string()
  .refine((value) => /^[\w.*/:-]+(\s*,\s*[\w.*/:-]+)*$/.test(value) && value.length <= 4_000, {
    error: 'must be on, off, or names of models separated by commas, in which * stands for anything',
  })
  .transform((value): readonly string[] => {
    if (value === 'on') return ['*'];
    return value === 'off' ? [] : splitEntries(value);
  });

function splitEntries(value: string): string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** An IP address or a CIDR range. */
export function addressOrRange(entry: string): string | null {
  return isIP(entry) !== 0 || ipaddr.isValidCIDR(entry) ? entry : null;
}

/** `host:port` in lower case, an IPv6 host in brackets. */
export function hostAndPort(entry: string): string | null {
  const port = /:(\d{1,5})$/.exec(entry)?.[1];
  const url = port === undefined ? null : URL.parse(`http://${entry}`);
  if (url === null || url.hostname === '' || url.pathname !== '/' || url.username !== '') return null;
  return `${url.hostname}:${Number(port)}`;
}

/** A browser origin such as https://studio.example.org. */
export function browserOrigin(entry: string): string | null {
  const origin = URL.parse(entry)?.origin;
  return origin !== undefined && origin !== 'null' && origin === entry.replace(/\/$/, '').toLowerCase()
    ? origin
    : null;
}

/** The address of a ComfyUI server, without a trailing slash. */
export function comfyuiAddress(entry: string): string | null {
  return httpAddress.safeParse(entry).data ?? null;
}

/** Addresses of one service, separated by commas: all with the same path. */
export const httpAddresses = list(comfyuiAddress, 'http:// or https:// addresses').refine(
  (urls) => new Set(urls.map((url) => new URL(url).pathname)).size === 1,
  { error: 'must have the same path in every address' },
);

/** Addresses of NATS servers of one cluster: nats:// or tls://, at most a name as path, the same in all. */
export const natsAddresses = list(natsAddress, 'nats://host:4222 or tls://host:4222').refine(
  (urls) => new Set(urls.map((url) => new URL(url).pathname)).size === 1,
  { error: 'must have the same path in every address' },
);

function natsAddress(entry: string): string | null {
  const url = URL.parse(entry);
  if (url === null || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') return null;
  return /^\/?[\w-]{0,64}$/.test(url.pathname) && url.search === '' && url.hash === '' ? entry : null;
}

/** `name=sha256 of the secret` in 64 hexadecimal digits. */
export function serviceKey(entry: string): { name: string; sha256: string } | null {
  const found = /^([\w-]{1,64})=([0-9a-f]{64})$/i.exec(entry);
  if (found?.[1] === undefined || found[2] === undefined) return null;
  return { name: found[1], sha256: found[2].toLowerCase() };
}

/** `issuer|subject`. */
export function adminSubject(entry: string): { issuer: string; subject: string } | null {
  const [issuer, subject, ...rest] = entry.split('|').map((part) => part.trim());
  if (!issuer || !subject || rest.length > 0) return null;
  return { issuer, subject };
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
