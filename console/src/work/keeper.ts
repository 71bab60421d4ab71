import { client } from '../api/client.ts';
import { CallerDocument } from '../api/documents/api.ts';
import type { Tab, Values } from './work.ts';

/** What forms and conversations hold, kept in this browser for each account. */
interface Keeper<Value> {
  /** What the present caller has under this name: their own, or what was begun here before they signed in, if that is newer. */
  read(name: string): Value | undefined;
  /** The same, or what another tab has written under it since. */
  latest(name: string): Value | undefined;
  write(name: string, value: Value): void;
}

/** The id of every visitor without an account. */
const VISITOR = 'anon';
/** Most entries of all accounts together, and characters of one: older ones go first. */
const MOST = 60;
const MOST_CHARACTERS = 100_000;

interface Entry<Value> {
  readonly owner: string;
  readonly name: string;
  readonly at: number;
  readonly value: Value;
}

/** Keeps values in the storage of the browser under this key; what is too large lives as long as the page. */
export function createKeeper<Value>(key: string): Keeper<Value> {
  let entries: readonly Entry<Value>[] = stored<Value>(key);
  const find = (kept: readonly Entry<Value>[], name: string) => {
    const owners = new Set([VISITOR, currentOwner()]);
    const found = kept.filter((entry) => entry.name === name && owners.has(entry.owner));
    return found.toSorted((one, other) => other.at - one.at)[0]?.value;
  };
  return {
    read: (name) => find(entries, name),
    latest: (name) => find(joined(stored<Value>(key), entries), name),
    write(name, value) {
      const owner = currentOwner();
      // Other tabs write too; what a visitor has begun is theirs who has signed in since.
      const others = joined(stored<Value>(key), entries).filter(
        (entry) => entry.name !== name || (entry.owner !== owner && entry.owner !== VISITOR),
      );
      entries = [{ owner, name, at: Date.now(), value }, ...others].slice(0, MOST);
      save(key, entries);
    },
  };
}

function joined<Value>(
  fresh: readonly Entry<Value>[],
  own: readonly Entry<Value>[],
): readonly Entry<Value>[] {
  // The newest of each: what could not be stored is on this page alone.
  const all = [...fresh, ...own].toSorted((one, other) => other.at - one.at);
  return [...Map.groupBy(all, ({ owner, name }) => `${owner} ${name}`).values()].flatMap(([newest]) =>
    newest === undefined ? [] : [newest],
  );
}

function currentOwner(): string {
  return client.cache.readQuery({ query: CallerDocument })?.caller.id ?? VISITOR;
}

function stored<Value>(key: string): readonly Entry<Value>[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(found) ? (found as readonly Entry<Value>[]) : [];
  } catch {
    return [];
  }
}

function save(key: string, entries: readonly Entry<unknown>[]): void {
  const fitting = entries.filter((entry) => JSON.stringify(entry).length <= MOST_CHARACTERS);
  try {
    localStorage.setItem(key, JSON.stringify(fitting));
  } catch {
    // The storage is full or refused: what is written lives as long as the page.
  }
}

/** What is in a form of the Studio: which choice (`key`, empty for the first) and what is filled in. */
export interface Draft {
  readonly key: string;
  readonly values: Values;
}

/** Kept in this browser, so that a form survives a reload, another language and a new build of the console. */
const keeper = createKeeper<Draft>('kiln.drafts');

/** The draft of a tab of the present caller; undefined when nothing was filled in. */
export function readDraft(tab: Tab): Draft | undefined {
  return keeper.read(tab);
}

const listeners = new Set<(tab: Tab, draft: Draft) => void>();

/** Keeps a draft while somebody looks at other tabs and pages, or hands one to the Studio. */
export function setDraft(tab: Tab, draft: Draft): void {
  keeper.write(tab, draft);
  for (const listener of listeners) listener(tab, draft);
}

/** Calls back with each draft that is kept; returns the way to stop that. */
export function onDraft(listener: (tab: Tab, draft: Draft) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
