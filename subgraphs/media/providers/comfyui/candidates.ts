import { refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { CallContext, NodeLoad } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { at, listNodes } from './handle.ts';
import { type Inventories, REFUSING_AGE_MS } from './inventories.ts';
import { listMissing, type Need, listNeeds, type Candidate, lastModels } from './inventory.ts';
import { graphIn, parseHistories, type QueueItem, parseQueue, throwHttpRefusal } from './wire.ts';

/** Which servers of a pool may take a graph. */

/** Most jobs a server should hold: one runs, the others wait. */
const CAPACITY = 10;
/** The queue contains the graphs of all pending prompts. */
const MAX_QUEUE = 32 << 20;
const PROBE_TIMEOUT_MS = 4_000;
/** Ended prompts among which the last model is looked for. */
const LAST_PROMPTS = 4;
const MAX_HISTORY = 16 << 20;
/** Seconds after which work is tried again that only servers could take which get none now. */
const CLOSED_SECONDS = 15;
/** The same where others get some. */
const ELSEWHERE_SECONDS = 2;

/** What a server answers about its queue. */
export type QueueAnswer = { readonly node: string } & (
  | {
      readonly queue: { readonly running: readonly QueueItem[]; readonly pending: readonly QueueItem[] };
    }
  | { readonly error: unknown }
);

/** The load of a server; null when it does not answer. */
export function readLoad(answer: QueueAnswer): NodeLoad | null {
  if ('error' in answer) return null;
  const { running, pending } = answer.queue;
  return { node: answer.node, running: running.length, pending: pending.length, capacity: CAPACITY };
}

/** Asks every server for its queue. */
export function queryAll(exchange: Exchange, context: CallContext): Promise<readonly QueueAnswer[]> {
  return Promise.all(
    listNodes(context.connection).map(async (node) => {
      try {
        const answer = await exchange(at(context, node), {
          method: 'GET',
          path: '/queue',
          timeoutMs: PROBE_TIMEOUT_MS,
          maxBytes: MAX_QUEUE,
        });
        throwHttpRefusal(answer);
        return { node, queue: parseQueue(answer) };
      } catch (error) {
        context.signal.throwIfAborted();
        return { node, error };
      }
    }),
  );
}

interface Parts {
  readonly exchange: Exchange;
  readonly inventories: Inventories;
  /** The models of starts that are on their way, by server. */
  readonly starting: ReadonlyMap<string, readonly ReadonlySet<string>[]>;
}

/** A graph that is to be placed. */
export interface PlacedGraph {
  readonly workflow: Readonly<Record<string, unknown>>;
  /** The server that it has to be. */
  readonly node?: string | undefined;
}

interface Placing extends PlacedGraph {
  /** Servers that may be taken. */
  readonly nodes: readonly string[];
  readonly models: ReadonlySet<string>;
}

/**
 * Makes the function that finds the servers which may take a graph. It throws when none of them answers, takes work or has what the
 * graph needs. The only server of a pool is asked for nothing but its queue: it says itself what it lacks.
 */
export function createCandidates({ exchange, inventories, starting }: Parts) {
  return async (
    context: CallContext,
    { nodes, models, workflow }: Placing,
  ): Promise<readonly Candidate[]> => {
    const open = nodes.filter((node) => context.connection.closedNodes?.().has(node) !== true);
    if (open.length === 0) throw closed();
    const all = (await queryAll(exchange, context)).filter(({ node }) => open.includes(node));
    const answers = all.flatMap((answer) => ('queue' in answer ? [answer] : []));
    if (answers.length === 0) throw noServerAnswers(all);
    const others = nodes.filter((node) => !answers.some((answer) => answer.node === node));
    const isAlone = listNodes(context.connection).length === 1;
    const needs = isAlone ? [] : listNeeds(workflow);
    const findMissing = async (node: string, maxAgeMs?: number): Promise<readonly Need[]> => {
      const inventory = isAlone ? null : await inventories.read(at(context, node), maxAgeMs);
      return inventory === null ? [] : listMissing(needs, inventory);
    };
    const found = await Promise.all(
      answers.map(async ({ node, queue }) => {
        const own = starting.get(node) ?? [];
        const items = [...queue.running, ...queue.pending];
        const known = own.findLast(({ size }) => size > 0) ?? lastModels(items);
        const isAsked = !isAlone && models.size > 0 && known === null;
        const loaded = isAsked ? await lastRun(exchange, at(context, node)) : (known ?? new Set<string>());
        return { node, lacks: await findMissing(node), loaded, busy: items.length + own.length };
      }),
    );
    const able = found.filter(({ lacks }) => lacks.length === 0);
    if (able.length > 0) return able;
    const renewed = await Promise.all(
      found.map(async (one) => ({ ...one, lacks: await findMissing(one.node, REFUSING_AGE_MS) })),
    );
    const ableNow = renewed.filter(({ lacks }) => lacks.length === 0);
    if (ableNow.length > 0) return ableNow;
    const [closest] = renewed.toSorted((one, other) => one.lacks.length - other.lacks.length);
    for (const node of others) {
      const inventory = await inventories.read(at(context, node));
      if (inventory === null || listMissing(needs, inventory).length === 0)
        throw onlyElsewhere(closest?.lacks);
    }
    // None has everything: the one that lacks least says itself what it does not take.
    return closest === undefined ? [] : [closest];
  };
}

/** Most names in a message. */
const MOST_NAMED = 5;

/** A machine that is silent or closed has what a graph needs, or may have it: the graph waits for it, other work goes on. */
function onlyElsewhere(lacks: readonly Need[] = []): UpstreamError {
  const names = lacks.slice(0, MOST_NAMED).map(({ classType, model }) => model ?? classType);
  const message = `comfyui: waits for a machine that does not answer, or is closed: the others do not have ${names.join(', ')}`;
  return new UpstreamError('UNAVAILABLE', message, { retryAfter: ELSEWHERE_SECONDS, isPartial: true });
}

/** The models of the last prompt that a server has run; none when it does not tell. */
async function lastRun(exchange: Exchange, context: CallContext): Promise<ReadonlySet<string>> {
  try {
    const answer = await exchange(context, {
      method: 'GET',
      path: `/history?max_items=${LAST_PROMPTS}`,
      timeoutMs: PROBE_TIMEOUT_MS,
      maxBytes: MAX_HISTORY,
    });
    throwHttpRefusal(answer);
    const graphs = parseHistories(answer).map(({ prompt }) => ({ graph: graphIn(prompt[2]) }));
    return lastModels(graphs) ?? new Set();
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof UpstreamError)) throw error;
    return new Set(); // it only would have been better
  }
}

function closed(): UpstreamError {
  const message = 'comfyui: an administrator gives these machines no new work now';
  return new UpstreamError('RATE_LIMITED', message, { retryAfter: CLOSED_SECONDS });
}

function noServerAnswers(answers: readonly QueueAnswer[]): UpstreamError {
  const [first] = answers.flatMap((one) => ('error' in one ? [one.error] : []));
  const known = first instanceof UpstreamError ? first : null;
  if (known?.refusedCredentials === true) return refusedCredentials(known.message);
  return new UpstreamError('UNAVAILABLE', known?.message ?? 'comfyui: no machine answers', { cause: first });
}
