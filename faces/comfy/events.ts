import { runDocument } from '../../rest-compat/replies/results.ts';
import { isEnded } from '../../rest-compat/replies/task.ts';
import { followTask, type Progress } from '../../rest-compat/wait.ts';
import { fileAddress } from '../shared/request.ts';
import type { ComfyCall, ComfyEvent } from './call.ts';
import { type ComfyTask, ComfyTaskById } from './documents.ts';
import { listOutputs, toProgress, toStatus } from './reply.ts';

/** The events of a job, from the log of its task: every entry is numbered, so a stream that broke goes on where it was. */

/** A job's events: what is so now and then what follows, or all that follows the entry that `Last-Event-ID` names; until `stop`. */
export async function* jobEvents(
  call: ComfyCall,
  task: ComfyTask,
  stop: AbortSignal,
): AsyncGenerator<ComfyEvent> {
  const seen = lastSeen(call);
  const shown: Shown = { status: '', log: '', nodes: new Set() };
  if (seen === null) {
    if (isEnded(task)) {
      yield* endingEvents(call, task);
      return;
    }
    shown.status = toStatus(task.state, task.cancelRequestedAt !== null);
    yield { name: 'status', data: { status: shown.status, queue_position: task.queuePosition } };
    yield* readPreview(call, task.stageInfo);
    yield { name: 'progress', data: toProgress(task, task), id: task.lastSeq };
  }
  const from = { id: task.id, state: 'RUNNING', lastSeq: seen ?? task.lastSeq } as const;
  const stopped = AbortSignal.any([stop, call.context.signal, call.stopping]);
  for await (const entry of followTask({ ...call, task: from, stop: stopped })) {
    if (isEnded(entry)) break;
    yield* changesAt(entry, shown);
    yield* readPreview(call, entry.stageInfo);
    yield { name: 'progress', data: toProgress(task, entry), id: entry.seq };
  }
  if (stopped.aborted) return;
  const { task: last } = await runDocument(call, ComfyTaskById, { id: task.id });
  if (last !== null && isEnded(last)) yield* endingEvents(call, last);
}

/** What a stream has told last. */
interface Shown {
  status: string;
  log: string;
  /** Ids of nodes: as many as the graph has at most. */
  readonly nodes: Set<string>;
}

/** A status or a line of the log that is new; nodes are told once, not at each of their steps. */
function* changesAt(entry: Progress, shown: Shown): Generator<ComfyEvent> {
  const status = statusAt(entry);
  if (status !== shown.status) yield { name: 'status', data: { status, queue_position: null } };
  shown.status = status;
  const { code, node } = entry.stageInfo;
  const log = node === null ? entry.stage : `node ${node.nodeId} (${node.classType ?? 'unknown'})`;
  const level = TROUBLES.has(code) ? 'warning' : 'info';
  // A preview is stored while the next node may begin already.
  const isTold = node === null ? log === shown.log : shown.nodes.has(node.nodeId);
  if (!isTold) yield { name: 'log', data: { level, message: log } };
  shown.log = log;
  if (node !== null) shown.nodes.add(node.nodeId);
}

const TROUBLES: ReadonlySet<Progress['stageInfo']['code']> = new Set([
  'PROVIDER_AWAY',
  'PROVIDER_BUSY',
  'TRYING_AGAIN',
]);

/** Largest preview in bytes: ComfyUI's own have at most 512 pixels a side. */
const MAX_PREVIEW = 1 << 20;

/** The image so far, where there is one; they are kept for an hour. */
async function* readPreview(
  call: ComfyCall,
  { node, preview }: Pick<Progress['stageInfo'], 'node' | 'preview'>,
): AsyncGenerator<ComfyEvent> {
  if (node === null || preview === null || preview.bytes > MAX_PREVIEW) return;
  const file = await call.openFile(fileAddress(preview.url));
  if (file === null) return;
  const bytes = Buffer.concat(await file.toArray());
  const data = {
    node_id: node.nodeId,
    content_type: preview.contentType,
    data_base64: bytes.toString('base64'),
  };
  yield { name: 'preview', data };
}

function statusAt({ state, stageInfo }: Progress): string {
  return toStatus(state, stageInfo.code === 'CANCELLING');
}

/** What a job has made, and that it has ended. */
function* endingEvents({ settings }: ComfyCall, task: ComfyTask): Generator<ComfyEvent> {
  for (const output of listOutputs(task, settings)) yield { name: 'output', data: output };
  if (task.state === 'SUCCEEDED') yield { name: 'progress', data: toProgress(task, task) };
  const status = toStatus(task.state, false);
  const { error } = task;
  if (task.state === 'FAILED' && error !== null)
    yield { name: 'log', data: { level: 'error', message: error.message } };
  yield { name: 'status', data: { status, queue_position: null }, id: task.lastSeq };
}

/** The number that the client has seen last; null where it has none, or none of ours. */
function lastSeen({ request }: ComfyCall): number | null {
  const id = request.headers['last-event-id'];
  return typeof id === 'string' && /^\d{1,9}$/.test(id) ? Number(id) : null;
}
