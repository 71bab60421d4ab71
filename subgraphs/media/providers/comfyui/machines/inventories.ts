import { LRUCache } from 'lru-cache';

import { UpstreamError } from '../../../domain/failure.ts';
import type { CallContext } from '../../contract/provider.ts';
import type { Exchange } from '../../shared/exchange.ts';
import { objectInfoOf, throwHttpRefusal } from '../wire.ts';
import { type Inventory, inventoryOf } from './inventory.ts';

/** What each server has, kept for a while: a real server's answer has some megabytes. */
export interface Inventories {
  /**
   * The inventory of the server of this context, at most `maxAgeMs` old; null when it does not tell now. A server that did not
   * answer is not asked again for a while.
   */
  read(context: CallContext, maxAgeMs?: number): Promise<Inventory | null>;
}

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
export function createInventories(exchange: Exchange): Inventories {
  const kept = new LRUCache<string, Kept>({ max: MAX_SERVERS });
  return {
    read(context, maxAgeMs = FRESH_MS) {
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
  return inventoryOf(objectInfoOf(answer));
}
