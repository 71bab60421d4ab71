import type { Deferral, Run } from '../compiled/run.ts';

/** What the parts of one answer have brought. */
export interface PartRuns extends Deferral {
  /** Ends when a part is fetched, with its run: the same data, and errors of its own. Undefined for one that was never begun. */
  of(key: string): Promise<Run> | undefined;
}

/** Makes it for one run of a plan. */
export function createPartRuns(whole: () => Run): PartRuns {
  const runs = new Map<string, Promise<Run>>();
  const fetches = new Map<string, PromiseWithResolvers<void>>();
  const fetched = (id: string): PromiseWithResolvers<void> => {
    const known = fetches.get(id) ?? Promise.withResolvers<void>();
    fetches.set(id, known);
    return known;
  };
  return {
    done: (id) => fetched(id).resolve(),
    begin({ key, depends, primary, run }) {
      const ready = depends.map((id) => fetched(id).promise);
      const begun = async (): Promise<Run> => {
        // A fetch that has nothing to ask is never done; its part's parent is.
        await Promise.race([primary, Promise.all(ready)]);
        const own: Run = Object.assign(Object.create(whole()) as Run, { errors: [] });
        await run(own);
        // Nothing of the parent's may come after a part of it.
        await primary;
        whole().isShared ||= own.isShared;
        return own;
      };
      runs.set(key, begun());
    },
    of: (key) => runs.get(key),
  };
}
