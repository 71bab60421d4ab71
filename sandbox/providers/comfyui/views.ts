import { isObject, type Json, type JsonObject } from '../../../platform/json.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded } from '../../jobs/job.ts';
import type { Job } from '../../jobs/job.ts';
import { orderFrom, readGraph } from './graph/graph.ts';
import { failureText, readFailure } from './node-failure.ts';

/** The message of a job that failed half-way: memory is what a graph runs out of at one time and not at another. */
export const FAILED = failureText({
  node: null,
  type: 'torch.OutOfMemoryError',
  message:
    'Allocation on device 0 would exceed allowed memory.\nThis error means you ran out of memory on your GPU.\n\nTIPS: If the workflow worked before you might have accidentally set the batch_size to a large number.',
});

/** GET /queue: running and waiting jobs, the latter in no particular order. */
export function queueJson(runner: JobRunner): object {
  const open = runner.list().filter((job) => !hasEnded(job));
  return {
    queue_running: open.filter(({ state }) => state === 'running').map(queueItem),
    queue_pending: open.filter(({ state }) => state === 'queued').map(queueItem),
  };
}

function queueItem({ id, submittedAt, input }: Job): Json {
  const sent = isObject(input['extra']) ? input['extra'] : {};
  const extra = { ...sent, client_id: input['clientId'] ?? null, create_time: submittedAt };
  return [submittedAt, id, input['graph'] ?? {}, extra, input['outputs'] ?? []];
}

/** GET /history/{id}: an empty object until the job has ended; always empty when it never started. */
export function historyJson(job: Job | null): object {
  if (job === null || !hasEnded(job)) return {};
  if (job.state === 'cancelled' && job.startedAt === null) return {};
  const isDone = job.state === 'finished';
  const outputs = (job.result?.facts['outputs'] ?? {}) as JsonObject;
  return {
    [job.id]: {
      prompt: queueItem(job),
      outputs,
      status: { status_str: isDone ? 'success' : 'error', completed: isDone, messages: listMessages(job) },
      meta: Object.fromEntries(
        Object.keys(outputs).map((id) => [
          id,
          { node_id: id, display_node: id, parent_node: null, real_node_id: id },
        ]),
      ),
    },
  };
}

/** GET /history: the entries of the prompts that ended last, the oldest first. */
export function historiesJson(runner: JobRunner, most: number): object {
  const ended = runner.list().filter(hasEnded);
  const inOrder = ended.toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0));
  const kept = inOrder.slice(Math.max(0, inOrder.length - most));
  return Object.assign({}, ...kept.map(historyJson)) as object;
}

function listMessages(job: Job): readonly (readonly [string, object])[] {
  const start = ['execution_start', { prompt_id: job.id, timestamp: job.startedAt }] as const;
  const cached = ['execution_cached', { nodes: [], prompt_id: job.id, timestamp: job.startedAt }] as const;
  const { type, data } = endMessage(job);
  return [start, cached, [type, data]];
}

/** The message that ends a job, on the socket and in the history. */
export function endMessage(job: Job): { readonly type: string; readonly data: object } {
  const base = { prompt_id: job.id, timestamp: job.endedAt };
  if (job.state === 'finished') return { type: 'execution_success', data: base };
  if (job.state === 'cancelled') {
    return { type: 'execution_interrupted', data: { ...base, ...nodeAt(job, 50), executed: [] } };
  }
  const failure = readFailure(job.failure ?? FAILED);
  const data = {
    ...base,
    ...(failure.node === null ? nodeAt(job, 50) : nameNode(job, failure.node)),
    executed: [],
    exception_message: failure.message,
    exception_type: failure.type,
    traceback: [],
    current_inputs: {},
    current_outputs: [],
  };
  return { type: 'execution_error', data };
}

/** The running node at this progress. */
function nodeAt(job: Job, percent: number): { readonly node_id: string; readonly node_type: string } {
  const order = executionOrder(job);
  return nameNode(job, order[Math.min(order.length - 1, Math.floor((percent / 100) * order.length))] ?? '');
}

function nameNode(job: Job, id: string): { readonly node_id: string; readonly node_type: string } {
  return { node_id: id, node_type: readGraph(job.input['graph'])?.get(id)?.classType ?? '' };
}

/** The nodes of a job in the order in which they run. */
export function executionOrder({ input }: Job): readonly string[] {
  const graph = readGraph(input['graph']);
  const outputs = Array.isArray(input['outputs']) ? input['outputs'].map(String) : [];
  return graph === null ? [] : orderFrom(graph, outputs);
}
