import { LRUCache } from 'lru-cache';

import type { Problem } from '../../../../platform/errors.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { ComfyWork } from '../../domain/work/comfy.ts';
import type { CallContext } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { at, listNodes } from './handle.ts';
import { type Inventory, parseInventory, listMissing, type Need, listNeeds } from './inventory.ts';
import { parseObjectInfo, throwHttpRefusal } from './wire.ts';

/** What each server has, kept for a while: a real server's answer has some megabytes. */
export type Inventories = ReturnType<typeof createInventories>;

const MAX_SERVERS = 200;
/** How long an inventory is good. */
const FRESH_MS = 60_000;
/** How long a server that did not tell is left alone. */
const SILENT_MS = 15_000;
const TIMEOUT_MS = 15_000;
const MAX_BYTES = 64 << 20;

interface Kept {
  readonly at: number;
  readonly inventory: Promise<Inventory | null>;
  hasFailed: boolean;
}

/** Makes the inventories of one process. */
export function createInventories(exchange: Exchange) {
  const kept = new LRUCache<string, Kept>({ max: MAX_SERVERS });
  return {
    /**
     * The inventory of the server of this context, at most `maxAgeMs` old; null when it does not tell now. A server that did not
     * answer is not asked again for a while.
     */
    read(context: CallContext, maxAgeMs: number = FRESH_MS): Promise<Inventory | null> {
      const server = context.connection.baseUrl;
      const known = kept.get(server);
      const limit = known?.hasFailed === true ? SILENT_MS : maxAgeMs;
      if (known !== undefined && performance.now() - known.at <= limit) return known.inventory;
      // Not the signal of one caller: others wait for the same answer.
      const patient = { ...context, signal: AbortSignal.timeout(TIMEOUT_MS) };
      const entry: Kept = {
        at: performance.now(),
        hasFailed: false,
        inventory: request(exchange, patient).catch((error: unknown) => {
          if (!(error instanceof UpstreamError)) throw error;
          entry.hasFailed = true;
          return null;
        }),
      };
      kept.set(server, entry);
      return entry.inventory;
    },
  };
}

async function request(exchange: Exchange, context: CallContext): Promise<Inventory> {
  const answer = await exchange(context, {
    method: 'GET',
    path: '/object_info',
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  throwHttpRefusal(answer);
  return parseInventory(parseObjectInfo(answer));
}

/** Age in milliseconds beyond which an inventory is read again before work is refused or waits: what is missing may have been installed. */
export const REFUSING_AGE_MS = 2_000;

/**
 * What the server that lacks least does not have of a graph; none when a server has everything, or one does not tell. `node`: the
 * only server that is asked.
 */
export async function missingEverywhere(
  inventories: Inventories,
  { workflow, node }: Pick<ComfyWork<unknown>, 'workflow' | 'node'>,
  context: CallContext,
): Promise<readonly Problem[]> {
  const needs = listNeeds(workflow);
  const servers = node === undefined ? listNodes(context.connection) : [node.replace(/\/+$/, '')];
  const ask = async (maxAgeMs?: number): Promise<readonly Need[]> => {
    const missing = await Promise.all(
      servers.map(async (server) => {
        const inventory = await inventories.read(at(context, server), maxAgeMs);
        return inventory === null ? [] : listMissing(needs, inventory);
      }),
    );
    return missing.toSorted((one, other) => one.length - other.length)[0] ?? [];
  };
  if ((await ask()).length === 0) return [];
  return (await ask(REFUSING_AGE_MS)).map(toProblem);
}

function toProblem({ field, node, classType, model }: Need): Problem {
  const what = model === null ? `the node class ${classType}` : `the model file ${model}`;
  return { field, message: `no machine has ${what} (node ${node}${model === null ? '' : `, ${classType}`})` };
}
