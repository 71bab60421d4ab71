import type { Tab, Values } from './work.ts';

/** What is in a form of the Studio: which choice (`key`, empty for the first) and what is filled in. */
export interface Draft {
  readonly key: string;
  readonly values: Values;
}

const drafts = new Map<Tab, Draft>();

/** The draft of a tab; undefined when nothing was filled in. */
export function draftOf(tab: Tab): Draft | undefined {
  return drafts.get(tab);
}

/** Keeps a draft while somebody looks at other tabs and pages, or hands one to the Studio. */
export function setDraft(tab: Tab, draft: Draft): void {
  drafts.set(tab, draft);
}
