import { modelsOf } from './inventory.ts';

/** Which models a server has loaded, as far as its own queue and history tell, and which server a graph goes to. Pure. */

/** A server that may take a graph. */
export interface Candidate {
  readonly node: string;
  /** Jobs that it runs, that wait there, and that are on their way to it. */
  readonly busy: number;
  /** The models that it will have loaded when its queue is empty. */
  readonly loaded: ReadonlySet<string>;
}

/** How many waiting jobs loading a model is worth: a server that has it is preferred until it holds so many more. */
const LOADING_COST = 2;
/** Less where nothing has to be unloaded for it. */
const EMPTY_COST = 1.5;

/** The models of the last graph that has some, in the order in which they run; null when none has. */
export function lastModels(
  items: readonly { readonly graph: Readonly<Record<string, unknown>> }[],
): ReadonlySet<string> | null {
  return items.map(({ graph }) => modelsOf(graph)).findLast((models) => models.size > 0) ?? null;
}

/** The server for a graph that needs these models: the least busy one, where having them loaded counts as some jobs less. */
export function chooseServer<Server extends Candidate>(
  servers: readonly Server[],
  models: ReadonlySet<string>,
): Server | undefined {
  const costOf = ({ busy, loaded }: Candidate): number => {
    if (models.size === 0 || models.isSubsetOf(loaded)) return busy;
    return busy + (loaded.size === 0 ? EMPTY_COST : LOADING_COST);
  };
  return servers.toSorted((one, other) => costOf(one) - costOf(other))[0];
}
