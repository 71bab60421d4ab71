import type { Json, JsonObject } from '../../platform/json.ts';
import type { FallbackTarget } from './operations.ts';

/** What an old answer says, by the rules of the documents. Pure. */

/** Whether the old service does not know the id. */
export function isUnknown({ status, body }: { readonly status: number; readonly body: JsonObject }): boolean {
  return status === 404 || (body['status'] === false && (body['data'] ?? null) === null);
}

const ENDED = new Set(['completed', 'failed', 'cancelled', 'refunded']);

/** Whether the answer does not change any more: a boolean status of a task, or a final word. */
export function isFinal({ service }: FallbackTarget, body: JsonObject): boolean {
  if (service === 'media') return typeof body['status'] === 'boolean';
  const { status } = readData(body);
  return typeof status === 'string' && ENDED.has(status);
}

/** How old a thing is: day, week, month or older; unknown when the answer does not say. */
export function describeAge(body: JsonObject, now: number): string {
  const data = readData(body);
  const time = data['createdAt'] ?? data['created_at'];
  const created = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(created)) return 'unknown';
  const days = (now - created) / 86_400_000;
  if (days < 1) return 'day';
  if (days < 7) return 'week';
  return days < 31 ? 'month' : 'older';
}

/** The addresses in the payload of an answer. */
export function findAddresses(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return /^https?:\/\//.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return [...new Set(Object.values(value).flatMap((item) => findAddresses(item)))];
}

/** The same answer with other addresses. */
export function withAddresses<Value extends Json>(value: Value, known: ReadonlyMap<string, string>): Value {
  if (typeof value === 'string') return (known.get(value) ?? value) as Value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withAddresses(item, known)) as unknown as Value;
  const entries = Object.entries(value).map(([name, item]) => [name, withAddresses(item, known)]);
  return Object.fromEntries(entries) as Value;
}

/** The payload; empty when it is no object. */
export function readData(body: JsonObject): JsonObject {
  const data = body['data'];
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : {};
}

/** A list of Kiln's and the old service's list of the same user, as one. Pure. */

/** Both lists, newest first, each item once. */
export function joinLists(
  ours: JsonObject,
  theirs: JsonObject,
  { items, id }: { readonly items: string; readonly id: string },
): object {
  const [own, other] = [readItems(ours, items), readItems(theirs, items)];
  const known = new Set(own.map((item) => item[id]));
  const added = other.filter((item) => !known.has(item[id]));
  if (added.length === 0) return ours;
  const all = [...own, ...added].sort((a, b) => parseTime(b) - parseTime(a));
  const total = Number(readData(ours)['total'] ?? own.length) + added.length;
  return { ...ours, data: { ...readData(ours), [items]: all, total } };
}

function readItems(body: JsonObject, name: string): readonly JsonObject[] {
  const list: Json | undefined = readData(body)[name];
  return Array.isArray(list) ? (list as JsonObject[]) : [];
}

function parseTime({ createdAt }: JsonObject): number {
  const time = typeof createdAt === 'string' ? Date.parse(createdAt) : 0;
  return Number.isNaN(time) ? 0 : time;
}
