import type { Headers } from '../traffic/exchange.ts';
import { compareShapes } from './shapes.ts';

/** Compares two answers as a client reads them: status, fields, types, enumerations and headers. Pure. */

/** An answer with its body parsed, as far as it is JSON. */
export interface ComparedAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the body is no JSON. */
  readonly json: unknown;
}

/** Headers that clients read: what the old side sends must be there. */
const READ_HEADERS = [
  'location',
  'retry-after',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'content-disposition',
  'www-authenticate',
];

const MAX_DIFFERENCES = 20;

/** What differs, as sentences about `here` (the new side) and `there` (the old one); empty when nothing does. */
export function differencesOf(old: ComparedAnswer, now: ComparedAnswer): readonly string[] {
  const found: string[] = [];
  if (old.status !== now.status) found.push(`status is ${now.status} here, ${old.status} there`);
  const [oldType, nowType] = [mediaType(old), mediaType(now)];
  if (oldType !== nowType)
    found.push(`content-type is ${nowType || 'absent'} here, ${oldType || 'absent'} there`);
  for (const name of READ_HEADERS) {
    if (old.headers[name] !== undefined && now.headers[name] === undefined) {
      found.push(`header ${name} is absent here`);
    }
  }
  if (old.json !== undefined && now.json !== undefined) {
    found.push(...compareShapes([old.json], [now.json]));
  }
  return [...new Set(found)].slice(0, MAX_DIFFERENCES);
}

function mediaType({ headers }: ComparedAnswer): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
