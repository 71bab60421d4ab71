import type { Units } from '../../domain/cost.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Handle, JobStatus } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { toPromptError } from './failures.ts';
import { at, createHandle, listNodes, derivePromptId, readHandle } from './handle.ts';
import { readOutcome } from './outputs.ts';
import { graphIn, outputsIn, parseHistory, parseQueue, throwHttpRefusal, type HistoryEntry } from './wire.ts';

/** The status of a prompt: ended ones are in the history, the others in the queue; one in neither is lost. */

/** A history entry contains its graph, and every text that its nodes show. */
const MAX_HISTORY = 32 << 20;
/** The queue contains the graphs of all pending prompts. */
const MAX_QUEUE = 32 << 20;
const TIMEOUT_MS = 10_000;

/** Throws LOST when the server does not know the prompt any more (a restart clears its history). */
export async function promptStatus(
  exchange: Exchange,
  handle: Handle,
  context: CallContext,
): Promise<JobStatus> {
  const { node, promptId, outputs } = readHandle(handle, context.connection);
  const there = at(context, node);
  const ended = await readHistory(exchange, there, promptId);
  if (ended !== null) return readStatus(ended, there, outputs);
  const { running, pending } = await readQueue(exchange, there);
  if (running.some((item) => item.promptId === promptId)) return { state: 'running', progress: null };
  const position = pending.findIndex((item) => item.promptId === promptId);
  if (position !== -1) {
    if (givesBack(node, context.connection)) await giveBack(exchange, there, promptId);
    return { state: 'queued', position: position + 1 };
  }
  // It may have ended between the two requests.
  const late = await readHistory(exchange, there, promptId);
  if (late !== null) return readStatus(late, there, outputs);
  throw new UpstreamError('LOST', 'comfyui: the machine does not know the prompt any more');
}

/** Asks every server. `unknowable` when one of several does not answer: the prompt may be there. */
export async function findPrompt(
  exchange: Exchange,
  reference: string,
  context: CallContext,
): Promise<Handle | 'absent' | 'unknowable'> {
  const promptId = derivePromptId(reference);
  const nodes = listNodes(context.connection);
  const answers = await Promise.allSettled(
    nodes.map((node) => findAt(exchange, at(context, node), { node, promptId })),
  );
  const found = answers.find((answer) => answer.status === 'fulfilled' && answer.value !== null);
  if (found?.status === 'fulfilled' && found.value !== null) return found.value;
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed === undefined) return 'absent';
  if (nodes.length === 1 || !(failed.reason instanceof UpstreamError)) throw failed.reason;
  return 'unknowable';
}

async function findAt(
  exchange: Exchange,
  there: CallContext,
  { node, promptId }: { readonly node: string; readonly promptId: string },
): Promise<Handle | null> {
  const ended = await readHistory(exchange, there, promptId);
  if (ended !== null) return endedHandle({ node, promptId }, ended);
  const { running, pending } = await readQueue(exchange, there);
  const item = [...running, ...pending].find((one) => one.promptId === promptId || one.clientId === promptId);
  if (item !== undefined) {
    return createHandle({ node, promptId: item.promptId, outputs: item.outputs }, item.graph);
  }
  const late = await readHistory(exchange, there, promptId);
  return late === null ? null : endedHandle({ node, promptId }, late);
}

function endedHandle(
  place: { readonly node: string; readonly promptId: string },
  { prompt: [, , graph, extra] }: HistoryEntry,
): Handle {
  return createHandle({ ...place, outputs: outputsIn(extra) }, graphIn(graph));
}

/** The prompt's history entry; null while there is none. */
export async function readHistory(
  exchange: Exchange,
  there: CallContext,
  promptId: string,
): Promise<HistoryEntry | null> {
  const answer = await exchange(there, {
    method: 'GET',
    path: `/history/${encodeURIComponent(promptId)}`,
    retry: 'safe',
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_HISTORY,
  });
  throwHttpRefusal(answer);
  return parseHistory(answer, promptId);
}

/** The running and pending prompts of a server. */
export async function readQueue(exchange: Exchange, there: CallContext) {
  const answer = await exchange(there, {
    method: 'GET',
    path: '/queue',
    retry: 'safe',
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_QUEUE,
  });
  throwHttpRefusal(answer);
  return parseQueue(answer);
}

/** Whether an administrator has paused a server, so that what waits there is for another one that takes work. */
function givesBack(node: string, connection: CallContext['connection']): boolean {
  const closed = connection.closedNodes?.();
  return closed?.get(node) === 'paused' && listNodes(connection).some((other) => !closed.has(other));
}

/** Takes a waiting prompt out of its queue: LOST then, so that it starts elsewhere. One that has begun meanwhile goes on. */
async function giveBack(exchange: Exchange, there: CallContext, promptId: string): Promise<void> {
  const answer = await exchange(there, { method: 'POST', path: '/queue', json: { delete: [promptId] } });
  throwHttpRefusal(answer);
  const { running, pending } = await readQueue(exchange, there);
  if ([...running, ...pending].some((item) => item.promptId === promptId)) return;
  if ((await readHistory(exchange, there, promptId)) !== null) return;
  throw new UpstreamError('LOST', 'comfyui: its machine was paused before it began');
}

function readStatus(
  { status, outputs }: HistoryEntry,
  there: CallContext,
  wanted: readonly string[] | undefined,
): JobStatus {
  const isDone = status?.completed === true || status?.status_str === 'success';
  if (isDone || !status) {
    const units = computingTime(status?.messages ?? []);
    return { state: 'finished', outcome: { ...readOutcome(outputs, there, wanted), units } };
  }
  if (status.status_str === 'error') return { state: 'failed', error: toPromptError(status.messages) };
  return { state: 'running', progress: null };
}

/** How long the graph was computed: its first and last messages carry the server's clock in milliseconds. */
function computingTime(messages: readonly (readonly [string, unknown, ...unknown[]])[]): Units {
  const findTime = (wanted: string): number | undefined => {
    const details = messages.findLast(([name]) => name === wanted)?.[1];
    const { timestamp } = (details ?? {}) as { readonly timestamp?: unknown };
    return typeof timestamp === 'number' ? timestamp : undefined;
  };
  const [start, end] = [findTime('execution_start'), findTime('execution_success')];
  return start === undefined || end === undefined
    ? {}
    : { gpuMilliseconds: Math.max(0, Math.round(end - start)) };
}
