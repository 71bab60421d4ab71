import { type ComfyCall, COMFY_PREFIX } from './call.ts';
import type { ComfyFile, ComfyTask } from './documents.ts';
import { findClass, nodeCount } from './workflow.ts';

/** Tasks and files of ours as jobs, outputs and assets. Pure. */

type Settings = ComfyCall['settings'];

const DAY_MS = 86_400_000;
/** What the contract needs a moment for and we keep forever: a hundred years. */
const FOREVER_MS = 36_525 * DAY_MS;

const STATES = {
  QUEUED: 'queued',
  RUNNING: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'canceled',
} as const;

/** The status of a job, from its state and what it is doing. */
export function toStatus(state: ComfyTask['state'], isCancelling: boolean): string {
  const hasEnded = state !== 'QUEUED' && state !== 'RUNNING';
  return isCancelling && !hasEnded ? 'canceling' : STATES[state];
}

/** A task as a job. */
export function toJob(task: ComfyTask, settings: Settings): object {
  const { id, state, createdAt, startedAt, endedAt, queuePosition } = task;
  const keptMs = settings.taskRetentionDays === 0 ? FOREVER_MS : settings.taskRetentionDays * DAY_MS;
  const self = `${new URL(settings.publicUrl).pathname.replace(/\/$/, '')}${COMFY_PREFIX}/jobs/${id}`;
  return {
    id,
    status: toStatus(state, task.cancelRequestedAt !== null),
    created_at: createdAt,
    started_at: startedAt,
    completed_at: endedAt,
    expires_at: new Date(Date.parse(endedAt ?? createdAt) + keptMs).toISOString(),
    queue_position: queuePosition,
    progress: state === 'QUEUED' ? null : toProgress(task, task),
    outputs: listOutputs(task, settings),
    error: toJobError(task),
    metrics: { queue_ms: between(createdAt, startedAt), execution_ms: between(startedAt, endedAt) },
    urls: { self, events: `${self}/events`, cancel: `${self}/cancel` },
  };
}

function between(start: string | null, end: string | null): number | null {
  return start === null || end === null ? null : Date.parse(end) - Date.parse(start);
}

/** How far a job is: `now` is the task itself or an entry of its log. */
export function toProgress(
  task: ComfyTask,
  now: Pick<ComfyTask, 'state' | 'progress'> & { readonly stageInfo: Pick<ComfyTask['stageInfo'], 'node'> },
): object {
  const total = nodeCount(task);
  const { node } = now.stageInfo;
  const value = now.state === 'SUCCEEDED' ? 1 : Math.min(1, now.progress / 100);
  const counted = node?.steps == null ? '' : ` ${node.step ?? 0}/${node.steps}`;
  return {
    value,
    nodes_done: Math.min(total, Math.floor(value * total)),
    nodes_total: total,
    current_node: node?.nodeId ?? null,
    current_node_class: node?.classType ?? null,
    step: node?.step ?? null,
    steps: node?.steps ?? null,
    message: node === null ? null : `${node.classType ?? node.nodeId}${counted}`,
  };
}

/** What a job has made, node by node. */
export function listOutputs(task: ComfyTask, settings: Settings): readonly object[] {
  const made = task.result?.__typename === 'ComfyResult' ? task.result.outputs : [];
  return made.flatMap(({ node, text, media }, index) => {
    const place = { node_id: node ?? '', job_id: task.id };
    if (text !== null) {
      const nth = index - made.findIndex((one) => one.text !== null);
      return [{ ...place, ...textAsset(task, { text, nth }, settings), type: 'text' }];
    }
    if (media === null) return [];
    const { created_at: _, file_path: name, ...asset } = toAsset(media, settings);
    return [{ ...place, ...asset, name, type: toOutputType(media.contentType) }];
  });
}

/** A text that a job has made, as a file: we keep it with the task. */
export function textAsset(
  { id: task, createdAt }: Pick<ComfyTask, 'id' | 'createdAt'>,
  { text, nth }: { readonly text: string; readonly nth: number },
  { publicUrl }: Settings,
) {
  const id = `${task}.text.${nth}`;
  return {
    id,
    name: `text-${nth + 1}.txt`,
    hash: null,
    size_bytes: Buffer.byteLength(text),
    content_type: 'text/plain; charset=utf-8',
    url: `${publicUrl}${COMFY_PREFIX}/assets/${id}/content`,
    url_expires_at: new Date(Date.parse(createdAt) + FOREVER_MS).toISOString(),
  };
}

function toOutputType(contentType: string): string {
  const [type = ''] = contentType.split('/');
  return ['image', 'video', 'audio', 'text'].includes(type) ? type : 'file';
}

/** A file as an asset. */
export function toAsset(file: ComfyFile, { urlTtlSeconds }: Settings) {
  const validMs = urlTtlSeconds === 0 ? FOREVER_MS : urlTtlSeconds * 1_000;
  return {
    id: file.id,
    hash: file.blake3 === null ? null : `blake3:${file.blake3}`,
    size_bytes: file.bytes,
    content_type: file.contentType,
    file_path: file.name,
    created_at: file.createdAt,
    url: file.url,
    url_expires_at: new Date(Date.now() + validMs).toISOString(),
  };
}

/** Why a job failed, with the node where it is one's fault. */
function toJobError(task: ComfyTask): object | null {
  if (task.state !== 'FAILED' || task.error === null) return null;
  const { code, message, field } = task.error;
  const node = /^workflow\.([^.]+)/.exec(field ?? '')?.[1] ?? null;
  return {
    code: node === null ? code.toLowerCase() : 'node_execution_error',
    message,
    node_id: node,
    class_type: node === null ? null : findClass(task, node),
    traceback: null,
  };
}
