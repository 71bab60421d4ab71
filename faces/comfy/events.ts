import { runDocument } from '../../rest-compat/replies/results.ts';
import { isEnded } from '../../rest-compat/replies/task.ts';
import { followTask, type Progress } from '../../rest-compat/wait.ts';
import type { ComfyCall, ComfyEvent } from './call.ts';
import { type ComfyTask, ComfyTaskById } from './documents.ts';
import { outputsOf, progressOf, statusOf } from './reply.ts';

/** The events of a job, from the log of its task: every entry is numbered, so a stream that broke goes on where it was. */

/** A job's events: what is so now and then what follows, or all that follows the entry that `Last-Event-ID` names. */
export async function* jobEvents(call: ComfyCall, task: ComfyTask): AsyncGenerator<ComfyEvent> {
  const seen = lastSeen(call);
  let status = '';
  if (seen === null) {
    if (isEnded(task)) {
      yield* endOf(call, task);
      return;
    }
    status = statusOf(task.state, task.cancelRequestedAt !== null);
    yield { name: 'status', data: { status, queue_position: task.queuePosition } };
    yield { name: 'progress', data: progressOf(task, task), id: task.lastSeq };
  }
  const stop = AbortSignal.any([call.context.signal, call.stopping]);
  const from = { id: task.id, state: 'RUNNING', lastSeq: seen ?? task.lastSeq } as const;
  for await (const entry of followTask({ ...call, task: from, stop })) {
    if (isEnded(entry)) break;
    const now = statusAt(entry);
    if (now !== status) yield { name: 'status', data: { status: now, queue_position: null } };
    status = now;
    yield { name: 'progress', data: progressOf(task, entry), id: entry.seq };
  }
  const { task: last } = await runDocument(call, ComfyTaskById, { id: task.id });
  if (last !== null && isEnded(last)) yield* endOf(call, last);
}

function statusAt({ state, stageInfo }: Progress): string {
  return statusOf(state, stageInfo.code === 'CANCELLING');
}

/** What a job has made, and that it has ended. */
function* endOf({ settings }: ComfyCall, task: ComfyTask): Generator<ComfyEvent> {
  for (const output of outputsOf(task, settings)) yield { name: 'output', data: output };
  if (task.state === 'SUCCEEDED') yield { name: 'progress', data: progressOf(task, task) };
  const status = statusOf(task.state, false);
  yield { name: 'status', data: { status, queue_position: null }, id: task.lastSeq };
}

/** The number that the client has seen last; null where it has none, or none of ours. */
function lastSeen({ request }: ComfyCall): number | null {
  const id = request.headers['last-event-id'];
  return typeof id === 'string' && /^\d{1,9}$/.test(id) ? Number(id) : null;
}
