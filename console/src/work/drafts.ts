import { createKeeper } from './keeper.ts';
import type { Tab, Values } from './work.ts';

/** What is in a form of the Studio: which choice (`key`, empty for the first) and what is filled in. */
export interface Draft {
  readonly key: string;
  readonly values: Values;
}

/** Kept in this browser, so that a form survives a reload, another language and a new build of the console. */
const keeper = createKeeper<Draft>('kiln.drafts');

/** The draft of a tab of the present caller; undefined when nothing was filled in. */
export function draftOf(tab: Tab): Draft | undefined {
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
