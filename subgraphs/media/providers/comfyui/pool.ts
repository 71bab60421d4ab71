import type { Problem } from '../../../../platform/errors.ts';
import { invalidInput, refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Connection, Handle, NodeLoad } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { at, nodesOf, readHandle } from './handle.ts';
import { queueOf, throwHttpRefusal } from './wire.ts';

/** The servers of a pool: which of them answer, and which is least busy. */
export interface Pool {
  /** The servers that answer, with their load. */
  loads(context: CallContext): Promise<readonly NodeLoad[]>;
  /**
   * Runs `start` on the least busy server, or on the requested one. Throws when none answers; nothing has been started
   * then.
   */
  onLeastLoaded<Value>(
    context: CallContext,
    requested: string | undefined,
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

/** Most jobs a server should hold: one runs, the others wait. */
const CAPACITY = 10;
/** The queue contains the graphs of all pending prompts. */
const MAX_QUEUE = 32 << 20;
const PROBE_TIMEOUT_MS = 4_000;
/** Milliseconds without an answer after which a server is given up. */
const GIVE_UP_AFTER_MS = 4_000;

/** Creates a pool. */
export function createPool(exchange: Exchange): Pool {
  /** Starts in progress here, which the servers' queues do not show yet. */
  const starting = new Map<string, number>();
  const downSince = new Map<string, number>();
  const readStatus = (context: CallContext) => queryAll(exchange, context);
  return {
    loads: async (context) => (await readStatus(context)).flatMap((one) => ('load' in one ? [one.load] : [])),
    async onLeastLoaded(context, requested, start) {
      const nodes = candidates(context, requested);
      const answers = (await readStatus(context)).filter(({ node }) => nodes.includes(node));
      const loads = answers.flatMap((one) => ('load' in one ? [one.load] : []));
      const busy = ({ node, running, pending }: NodeLoad) => running + pending + (starting.get(node) ?? 0);
      const [best] = loads.toSorted((one, other) => busy(one) - busy(other));
      if (best === undefined) throw noServerAnswers(answers);
      starting.set(best.node, (starting.get(best.node) ?? 0) + 1);
      try {
        return await start(best.node);
      } finally {
        starting.set(best.node, (starting.get(best.node) ?? 1) - 1);
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
        if (!isSilent || nodesOf(context.connection).length === 1) throw error;
        const since = downSince.get(node) ?? Date.now();
        downSince.set(node, since);
        if (Date.now() - since < GIVE_UP_AFTER_MS) throw error;
        const message = 'comfyui: the machine that worked on it does not answer';
        throw new UpstreamError('LOST', message, { cause: error });
      }
    },
  };
}

function candidates({ connection }: CallContext, requested: string | undefined): readonly string[] {
  const nodes = nodesOf(connection);
  if (requested === undefined) return nodes;
  const [problem] = nodeProblems(requested, connection);
  if (problem !== undefined) throw invalidInput(problem.field, problem.message);
  return [withoutSlash(requested)];
}

/** A requested machine that is none of the pool. */
export function nodeProblems(requested: string | undefined, connection: Connection): readonly Problem[] {
  if (requested === undefined || nodesOf(connection).includes(withoutSlash(requested))) return [];
  return [{ field: 'node', message: 'there is no such machine' }];
}

function withoutSlash(node: string): string {
  return node.replace(/\/+$/, '');
}

type Answer = { readonly node: string } & ({ readonly load: NodeLoad } | { readonly error: unknown });

function queryAll(exchange: Exchange, context: CallContext): Promise<readonly Answer[]> {
  return Promise.all(
    nodesOf(context.connection).map(async (node) => {
      try {
        const answer = await exchange(at(context, node), {
          method: 'GET',
          path: '/queue',
          timeoutMs: PROBE_TIMEOUT_MS,
          maxBytes: MAX_QUEUE,
        });
        throwHttpRefusal(answer);
        const { running, pending } = queueOf(answer);
        const load = { node, running: running.length, pending: pending.length, capacity: CAPACITY };
        return { node, load };
      } catch (error) {
        context.signal.throwIfAborted();
        return { node, error };
      }
    }),
  );
}

function noServerAnswers(answers: readonly Answer[]): UpstreamError {
  const [first] = answers.flatMap((one) => ('error' in one ? [one.error] : []));
  const known = first instanceof UpstreamError ? first : null;
  if (known?.refusedCredentials === true) return refusedCredentials(known.message);
  return new UpstreamError('UNAVAILABLE', known?.message ?? 'comfyui: no machine answers', { cause: first });
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
