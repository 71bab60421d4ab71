import { startQueue } from '../../subgraphs/media/tasks/rules/queues.ts';
import { BINDINGS, type ModelProcess } from './process.ts';
import type { World } from './world.ts';

/** How actions choose among what there is. */

/** How long a wait may last. */
export const SECONDS = [2, 16, 25, 60, 150, 400, 2_000];

/** The queues of starts. */
export const STARTS = BINDINGS.map(startQueue);

/** A caller that may do everything. */
export const INTERNAL = {
  kind: 'internal',
  id: 'model',
  scopes: [],
  traceId: 'model',
  address: null,
} as never;

/** One of these; undefined when there is none. */
export const pick = <Item>(items: readonly Item[], choice: number): Item | undefined =>
  items[choice % items.length];

/** One of the processes. */
export function pickProcess(world: World, choice: number): ModelProcess {
  const process = pick(world.processes, choice);
  if (process === undefined) throw new Error('no process');
  return process;
}

/** Begins something in one of the processes. */
export function run(world: World, choice: number, body: (process: ModelProcess) => Promise<unknown>): void {
  const process = pickProcess(world, choice);
  process.begin(() => body(process));
}
