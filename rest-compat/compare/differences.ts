import type { Headers } from '../traffic/exchange.ts';

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

/** Fields whose texts are words that clients compare with. */
const ENUMERATIONS = new Set(['status', 'state', 'templateType', 'currency', 'operation', 'reason']);
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
  if (old.json !== undefined && now.json !== undefined) compareValues('', old.json, now.json, found);
  return [...new Set(found)].slice(0, MAX_DIFFERENCES);
}

function mediaType({ headers }: ComparedAnswer): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** A field that is null there promises nothing; additional fields here are harmless. */
function compareValues(path: string, old: unknown, now: unknown, found: string[]): void {
  if (old === null || old === undefined) return;
  const [oldKind, nowKind] = [kindOf(old), kindOf(now)];
  const place = path === '' ? 'the body' : path;
  if (oldKind !== nowKind) {
    found.push(`${place} is ${nowKind} here, ${oldKind} there`);
  } else if (Array.isArray(old) && Array.isArray(now)) {
    compareLists(path, old, now, found);
  } else if (isObject(old) && isObject(now)) {
    for (const [name, value] of Object.entries(old)) {
      const inner = path === '' ? name : `${path}.${name}`;
      if (!(name in now)) found.push(`${inner} is absent here`);
      else compareValues(inner, value, now[name], found);
    }
  } else {
    compareLeaves(path, old, now, found);
  }
}

/** Lists may have other lengths: each item there is like some item here, so the first one stands for them. */
function compareLists(path: string, old: readonly unknown[], now: readonly unknown[], found: string[]): void {
  const [first] = now;
  if (first === undefined) return;
  for (const item of old) compareValues(`${path}[]`, item, first, found);
}

function compareLeaves(path: string, old: unknown, now: unknown, found: string[]): void {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const isWord = ENUMERATIONS.has(name) || (typeof old === 'boolean' && path === 'status');
  if (isWord && !path.includes('[]') && old !== now) {
    found.push(`${path} is ${JSON.stringify(now)} here, ${JSON.stringify(old)} there`);
  }
}

/** Texts of one shape count as alike, whatever they say. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `a ${typeof value}`;
  if (/^https?:\/\//.test(value)) return 'an address';
  return /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(value) ? 'a time' : 'a text';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
