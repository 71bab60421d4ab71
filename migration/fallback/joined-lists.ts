import type { Json, JsonObject } from '../../platform/json.ts';
import { dataOf } from './ended.ts';

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
  const total = Number(dataOf(ours)['total'] ?? own.length) + added.length;
  return { ...ours, data: { ...dataOf(ours), [items]: all, total } };
}

function readItems(body: JsonObject, name: string): readonly JsonObject[] {
  const list: Json | undefined = dataOf(body)[name];
  return Array.isArray(list) ? (list as JsonObject[]) : [];
}

function parseTime({ createdAt }: JsonObject): number {
  const time = typeof createdAt === 'string' ? Date.parse(createdAt) : 0;
  return Number.isNaN(time) ? 0 : time;
}
