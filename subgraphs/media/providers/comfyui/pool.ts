import type { Problem } from '../../../../platform/errors.ts';
import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Connection, Handle, NodeLoad } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { createCandidates, readLoad, type PlacedGraph, queryAll } from './candidates.ts';
import { at, listNodes, readHandle } from './handle.ts';
import type { Inventories } from './inventories.ts';
import { listMissing, listGraphModels, listNeeds, chooseServer } from './inventory.ts';

/** The servers of a pool: which of them answer, and which is best for a graph. */
export interface Pool {
  /** The servers that answer, with their load. */
  loads(context: CallContext): Promise<readonly NodeLoad[]>;
  /**
   * Runs `start` on the requested server, or on the best: one that has what the graph needs and takes work, with its models loaded
   * if possible, else the least busy. Throws when none answers or none may take it; nothing has been started then.
   */
  onBestServer<Value>(
    context: CallContext,
    request: PlacedGraph,
    start: (node: string) => Promise<Value>,
  ): Promise<Value>;
  /**
   * Runs a status request. In a pool of several, a server that has not answered for some seconds counts as LOST, so
   * that another one does the work. The only server of a pool is waited for.
   */
  watchingHealth<Value>(
    handle: Handle,
    context: CallContext,
    readStatus: () => Promise<Value>,
  ): Promise<Value>;
}

const PROBE_TIMEOUT_MS = 4_000;
/** Milliseconds without an answer after which a server is given up. */
const GIVE_UP_AFTER_MS = 4_000;

/** Creates a pool. */
export function createPool(exchange: Exchange, inventories: Inventories): Pool {
  /** Starts in progress here, which the servers' queues do not show yet: the models of each. */
  const starting = new Map<string, readonly ReadonlySet<string>[]>();
  const downSince = new Map<string, number>();
  const candidatesFor = createCandidates({ exchange, inventories, starting });
  const startingAt = async <Value>(
    node: string,
    models: ReadonlySet<string>,
    start: () => Promise<Value>,
  ): Promise<Value> => {
    starting.set(node, [...(starting.get(node) ?? []), models]);
    try {
      return await start();
    } finally {
      const open = starting.get(node) ?? [];
      starting.set(node, open.toSpliced(open.indexOf(models), 1));
    }
  };
  return {
    loads: async (context) => (await queryAll(exchange, context)).flatMap((one) => readLoad(one) ?? []),
    async onBestServer(context, request, start) {
      const nodes = requestedNodes(context, request.node);
      const models = listGraphModels(request.workflow);
      for (let tries = 1; ; tries += 1) {
        const best = chooseServer(await candidatesFor(context, { ...request, nodes, models }), models);
        if (best === undefined) throw new UpstreamError('UNAVAILABLE', 'comfyui: no machine answers');
        const sentAt = performance.now();
        try {
          return await startingAt(best.node, models, () => start(best.node));
        } catch (error) {
          // It may have lost what it had when it was last asked: then another one gets the graph.
          const isLast = tries >= nodes.length || !isRefusal(error);
          if (isLast || !(await lacksNow(inventories, at(context, best.node), { ...request, sentAt })))
            throw error;
        }
      }
    },
    async watchingHealth(handle, context, readStatus) {
      const { node } = readHandle(handle, context.connection);
      try {
        const answer = await readStatus();
        downSince.delete(node);
        return answer;
      } catch (error) {
        context.signal.throwIfAborted();
        const isSilent = isNoAnswer(error) && !(await isAlive(exchange, at(context, node)));
        if (!isSilent) downSince.delete(node);
        if (!isSilent || listNodes(context.connection).length === 1) throw error;
        const since = downSince.get(node) ?? Date.now();
        downSince.set(node, since);
        if (Date.now() - since < GIVE_UP_AFTER_MS) throw error;
        const message = 'comfyui: the machine that worked on it does not answer';
        throw new UpstreamError('LOST', message, { cause: error });
      }
    },
  };
}

function requestedNodes({ connection }: CallContext, requested: string | undefined): readonly string[] {
  const nodes = listNodes(connection);
  if (requested === undefined) return nodes;
  const [problem] = nodeProblems(requested, connection);
  if (problem !== undefined) throw invalidInput(problem.field, problem.message);
  return [withoutSlash(requested)];
}

/** A requested machine that is none of the pool. */
export function nodeProblems(requested: string | undefined, connection: Connection): readonly Problem[] {
  if (requested === undefined || listNodes(connection).includes(withoutSlash(requested))) return [];
  return [{ field: 'node', message: 'there is no such machine' }];
}

function withoutSlash(node: string): string {
  return node.replace(/\/+$/, '');
}

function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'INVALID_INPUT' && !error.startUnknown;
}

/** Whether a server, asked again, does not have all that a graph needs. */
async function lacksNow(
  inventories: Inventories,
  context: CallContext,
  { workflow, sentAt }: PlacedGraph & { readonly sentAt: number },
): Promise<boolean> {
  // What was read before the graph was sent says nothing about the refusal.
  const inventory = await inventories.read(context, performance.now() - sentAt);
  return inventory !== null && listMissing(listNeeds(workflow), inventory).length > 0;
}

/** Whether no answer came, as opposed to an answer that reports a problem. */
function isNoAnswer(error: unknown): boolean {
  return error instanceof UpstreamError && (error.code === 'UNAVAILABLE' || error.code === 'TIMED_OUT');
}

async function isAlive(exchange: Exchange, context: CallContext): Promise<boolean> {
  try {
    const { status } = await exchange(context, {
      method: 'GET',
      path: '/system_stats',
      timeoutMs: PROBE_TIMEOUT_MS,
      mayBePage: true,
    });
    return status < 500;
  } catch {
    context.signal.throwIfAborted();
    return false; // no answer means not alive
  }
}
