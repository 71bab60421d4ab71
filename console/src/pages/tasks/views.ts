/** Filters with a name. Pure. */

/** What the list is narrowed by, as its address has it, under a name. */
export interface SavedView {
  readonly name: string;
  readonly search: object;
}

/** Most views of one account. */
const MOST = 20;

/** The views with one more, the newest last; a name stands for one alone. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [...withoutView(views, view.name), view].slice(-MOST);
}

/** The views without that of a name. */
export function withoutView(views: readonly SavedView[], name: string): readonly SavedView[] {
  return views.filter((view) => view.name !== name);
}

/** Whether two narrow a list alike, in whatever order their members stand. */
export function sameView(one: object, other: object): boolean {
  return textOf(one) === textOf(other);
}

function textOf(search: object): string {
  return JSON.stringify(Object.entries(search).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
