import { useSyncExternalStore } from 'react';

import { useCaller } from '../api/caller.ts';
import { client } from '../api/client.ts';
import { CallerDocument } from '../api/documents/api.ts';
import type { WorkKind } from './kinds.ts';
import { type Choice, toText, type Values } from './work.ts';

/**
 * What this browser has made, newest first: the tasks of each submission with every setting, so that it can be recalled.
 * Kept in the browser, bounded; a visitor without an account finds their work by it.
 */
export interface Batch {
  readonly id: string;
  /** Id of the caller who submitted it: whoever comes to this browser after them does not see it. */
  readonly owner: string;
  readonly kind: WorkKind;
  readonly generator: string;
  readonly model: string;
  readonly modelName: string;
  readonly values: Values;
  readonly tasks: readonly string[];
  readonly at: string;
  /** Code of the template that it ran, when it was one. */
  readonly template?: string;
  /** Its place among several that were started at once to be compared. */
  readonly cell?: Cell;
}

/** The place of a submission in a sheet: what it has in its column, and in its row where there are rows. */
export interface Cell {
  readonly sheet: string;
  readonly x: Varied;
  readonly y?: Varied;
}

/** A submission that is about to be started. */
export interface Run {
  readonly choice: Choice;
  readonly values: Values;
  readonly cell?: Cell;
}

/** What differs between the submissions of a sheet. */
export interface Varied {
  /** `model`, a member of the form, or the path of an option below `options.`. */
  readonly name: string;
  readonly value: unknown;
}

const STORAGE_KEY = 'kiln.batches';
const MOST = 160;
/** The id of every visitor without an account. */
const VISITOR = 'anon';

let batches: readonly Batch[] = read();
const listeners = new Set<() => void>();

function read(): readonly Batch[] {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]') as Batch[];
  } catch {
    return [];
  }
}

function write(next: readonly Batch[]): void {
  batches = next.slice(0, MOST);
  store(batches);
  for (const listener of listeners) listener();
}

/** Keeps these, or the newest of them where the storage is full or refused: their work has begun, and is shown all the same. */
function store(kept: readonly Batch[]): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(kept));
  } catch {
    if (kept.length > 1) store(kept.slice(0, kept.length / 2));
  }
}

// Another tab has made something.
addEventListener('storage', ({ key }) => {
  if (key !== STORAGE_KEY) return;
  batches = read();
  for (const listener of listeners) listener();
});

/** What a submission is called: its own words; undefined when it has none. */
export function readTitle({ values }: Batch): string | undefined {
  return ['prompt', 'text', 'comfy.prompt', 'workflowName']
    .map((name) => toText(values[name]))
    .find((one) => one !== '');
}

/** A submission that is about to be kept. */
export type NewBatch = Omit<Batch, 'owner'>;

/** Adds submissions of the present caller as the newest, in this order. */
export function addBatches(added: readonly NewBatch[]): void {
  const owner = client.cache.readQuery({ query: CallerDocument })?.caller.id ?? VISITOR;
  write([...added.map((batch) => ({ ...batch, owner })), ...batches]);
}

/** Forgets a submission, with all of its sheet; their tasks stay. */
export function removeBatch({ id, cell }: Batch): void {
  write(batches.filter((one) => one.id !== id && (cell === undefined || one.cell?.sheet !== cell.sheet)));
}

/** The submission that has started a task; undefined when another browser did. */
export function findBatch(taskId: string): Batch | undefined {
  return batches.find(({ tasks }) => tasks.includes(taskId));
}

/** Those of the present caller, and what was made in this browser before they signed in; newest first. */
export function useBatches(): readonly Batch[] {
  const caller = useCaller();
  const all = useKept();
  return all.filter(({ owner }) => owner === VISITOR || owner === caller?.id);
}

function useKept(): readonly Batch[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => batches,
  );
}
