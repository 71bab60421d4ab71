import { isObject } from '../../platform/json.ts';
import type { Headers } from '../traffic/exchange.ts';

/** Compares two answers as a client reads them: status, fields, types, enumerations and headers. Pure; values by their shape, not themselves. */

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
export function findDifferences(old: ComparedAnswer, now: ComparedAnswer): readonly string[] {
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
  } else if (old.json !== undefined && oldType === nowType) found.push('the body is no JSON here');
  return [...new Set(found)].slice(0, MAX_DIFFERENCES);
}

function mediaType({ headers }: ComparedAnswer): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Fields whose texts are words that clients compare with. */
const ENUMERATIONS = new Set(['status', 'state', 'templateType', 'currency', 'operation', 'reason']);

type JsonObject = Readonly<Record<string, unknown>>;

/** One place in both answers, with all values that it has: those of a list's items are at one place. */
interface Place {
  /** Such as `data.payments[].status`; empty for the body. */
  readonly path: string;
  readonly olds: readonly unknown[];
  readonly nows: readonly unknown[];
}

/** What differs, as sentences. A field that is null there promises nothing; additional fields here are harmless. */
function compareShapes(olds: readonly unknown[], nows: readonly unknown[]): readonly string[] {
  return compare({ path: '', olds, nows });
}

function compare({ path, olds: allOlds, nows }: Place): readonly string[] {
  const olds = allOlds.filter((value) => value !== null && value !== undefined);
  if (olds.length === 0 || nows.length === 0) return [];
  const mayBeNull = olds.length < allOlds.length;
  const oldKinds = new Set(olds.map(detectKind));
  const unlike = [...new Set(nows.map(detectKind))].filter(
    (kind) => !oldKinds.has(kind) && !(kind === 'null' && mayBeNull),
  );
  const known = [...oldKinds].join(' or ');
  return [
    ...unlike.map((kind) => `${path || 'the body'} is ${kind} here, ${known} there`),
    ...compareFields({ path, olds, nows }),
    ...compareItems({ path, olds, nows }),
    ...compareWords({ path, olds, nows }),
  ];
}

function compareFields({ path, olds, nows }: Place): readonly string[] {
  const [oldObjects, nowObjects] = [olds.filter(isObject), nows.filter(isObject)];
  if (nowObjects.length === 0) return [];
  const names = new Set(oldObjects.flatMap((value) => Object.keys(value)));
  return [...names].flatMap((name) => {
    const inner = path === '' ? name : `${path}.${name}`;
    const has = (value: JsonObject) => Object.hasOwn(value, name);
    const [withOld, withNow] = [oldObjects.filter(has), nowObjects.filter(has)];
    if (withNow.length === 0) return [`${inner} is absent here`];
    const isSometimesAbsent = withOld.length === oldObjects.length && withNow.length < nowObjects.length;
    const values = { olds: withOld.map((value) => value[name]), nows: withNow.map((value) => value[name]) };
    return [
      ...(isSometimesAbsent ? [`${inner} is absent in some items here`] : []),
      ...compare({ path: inner, ...values }),
    ];
  });
}

/** Lists may have other lengths and contents: what every item there has, every item here must have. */
function compareItems({ path, olds, nows }: Place): readonly string[] {
  const [oldItems, nowItems] = [olds.filter(Array.isArray).flat(), nows.filter(Array.isArray).flat()];
  if (oldItems.length > 0 && nowItems.length === 0 && nows.some(Array.isArray)) {
    return [`${path || 'the body'} is an empty list here, not there`];
  }
  return compare({ path: `${path}[]`, olds: oldItems, nows: nowItems });
}

function compareWords({ path, olds, nows }: Place): readonly string[] {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const isStatus = path === 'status';
  const isWord = (value: unknown) => typeof value === 'string' || (isStatus && typeof value === 'boolean');
  if (!ENUMERATIONS.has(name)) return [];
  const [oldWords, nowWords] = [olds.filter(isWord), nows.filter(isWord)];
  // Items of lists are other things on each side: their words need only be written alike.
  const isAlike = path.includes('[]')
    ? (word: unknown) => oldWords.some((old) => detectCase(old) === detectCase(word))
    : (word: unknown) => oldWords.includes(word);
  if (oldWords.length === 0) return [];
  const others = [...new Set(nowWords.filter((word) => !isAlike(word)))];
  const there = [...new Set(oldWords)].map((word) => JSON.stringify(word)).join(' or ');
  return others.map((word) => `${path} is ${JSON.stringify(word)} here, ${there} there`);
}

function detectCase(word: unknown): string {
  const text = String(word);
  if (text === text.toLowerCase()) return 'lower';
  return text === text.toUpperCase() ? 'upper' : 'mixed';
}

/** Texts of one shape count as alike, whatever they say. */
function detectKind(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `a ${typeof value}`;
  if (/^https?:\/\//.test(value)) return 'an address';
  return /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(value) ? 'a time' : 'a text';
}
