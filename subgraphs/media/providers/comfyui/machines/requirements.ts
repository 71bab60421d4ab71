import type { Problem } from '../../../../../platform/errors.ts';
import type { ComfyWork } from '../../../domain/work/comfy.ts';
import type { CallContext } from '../../contract/provider.ts';
import { at, nodesOf } from '../handle.ts';
import type { Inventories } from './inventories.ts';
import { missingOf, type Need, needsOf } from './inventory.ts';

/** Whether some server of a pool has what a graph needs. */

/** Age in milliseconds beyond which an inventory is read again before work is refused: what is missing may have been installed. */
const REFUSING_AGE_MS = 2_000;

/**
 * What the server that lacks least does not have of a graph; none when a server has everything, or one does not tell. `node`: the
 * only server that is asked.
 */
export async function missingEverywhere(
  inventories: Inventories,
  { workflow, node }: Pick<ComfyWork<unknown>, 'workflow' | 'node'>,
  context: CallContext,
): Promise<readonly Problem[]> {
  const needs = needsOf(workflow);
  const servers = node === undefined ? nodesOf(context.connection) : [node.replace(/\/+$/, '')];
  const ask = async (maxAgeMs?: number): Promise<readonly Need[]> => {
    const missing = await Promise.all(
      servers.map(async (server) => {
        const inventory = await inventories.read(at(context, server), maxAgeMs);
        return inventory === null ? [] : missingOf(needs, inventory);
      }),
    );
    return missing.toSorted((one, other) => one.length - other.length)[0] ?? [];
  };
  if ((await ask()).length === 0) return [];
  return (await ask(REFUSING_AGE_MS)).map(problemOf);
}

function problemOf({ field, node, classType, model }: Need): Problem {
  const what = model === null ? `the node class ${classType}` : `the model file ${model}`;
  return { field, message: `no machine has ${what} (node ${node}${model === null ? '' : `, ${classType}`})` };
}
