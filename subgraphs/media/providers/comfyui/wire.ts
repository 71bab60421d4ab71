import { z } from 'zod';

import { errorOfStatus, type ExchangeAnswer } from '../shared/exchange.ts';
import { createReader, listOf, text } from '../shared/reader.ts';

/** The bodies of the ComfyUI server, read leniently: only what Kiln uses. */

const { read, unreadable } = createReader('comfyui');

/** [number, prompt_id, graph, extra_data, outputs, ...] */
const queueItem = z.tuple([z.number(), z.string()]).rest(z.unknown());
const queue = z.object({ queue_running: z.array(queueItem), queue_pending: z.array(queueItem) });

/** One pending or running prompt. */
export interface QueueItem {
  readonly promptId: string;
  readonly clientId: string | null;
  readonly graph: Readonly<Record<string, unknown>>;
  /** The nodes whose outputs count, as Kiln has sent them along; undefined: all. */
  readonly outputs: readonly string[] | undefined;
}

/** The queue of a server: the running prompts, and the pending ones in the order in which they will run. */
export function parseQueue(answer: ExchangeAnswer): {
  readonly running: readonly QueueItem[];
  readonly pending: readonly QueueItem[];
} {
  const { queue_running: running, queue_pending: pending } = read(queue, answer);
  // Pending items come in heap order; the number is the real order.
  const inOrder = pending.toSorted(([one], [other]) => one - other);
  return { running: running.map(readItem), pending: inOrder.map(readItem) };
}

function readItem([, promptId, graph, extra]: z.output<typeof queueItem>): QueueItem {
  const clientId = graphIn(extra)['client_id'];
  return {
    promptId,
    clientId: typeof clientId === 'string' ? clientId : null,
    graph: graphIn(graph),
    outputs: outputsIn(extra),
  };
}

/** The name under which a prompt carries the nodes whose outputs count, so that one that is found again knows them. */
export const OUTPUTS_FIELD = 'kiln_outputs';

/** Those nodes, of the data that came with a prompt. */
export function outputsIn(extra: unknown): readonly string[] | undefined {
  const outputs = graphIn(extra)[OUTPUTS_FIELD];
  return Array.isArray(outputs) ? outputs.map(String) : undefined;
}

/** The graph of an answer; empty when there is none. */
export function graphIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const entry = z.object({
  /** As in the queue. */
  prompt: z.array(z.unknown()).default([]),
  outputs: z.record(z.string(), z.record(z.string(), z.unknown()).nullable().catch(null)).default({}),
  status: z
    .object({
      status_str: z.string().nullish(),
      completed: z.boolean().nullish(),
      messages: listOf(z.tuple([z.string(), z.unknown()]).rest(z.unknown())).default([]),
    })
    .nullish(),
});

/** The history entry of a prompt. */
export type HistoryEntry = z.output<typeof entry>;

/** The entry of a prompt; null while it is pending or running, and when the server does not know it. */
export function parseHistory(answer: ExchangeAnswer, promptId: string): HistoryEntry | null {
  const all = read(z.record(z.string(), z.unknown()), answer);
  if (!Object.hasOwn(all, promptId)) return null;
  return read(entry, { ...answer, json: all[promptId] });
}

const histories = z.record(z.string(), entry.nullable().catch(null));

/** The entries of the last prompts, in the order in which they ran; those that can't be read are left out. */
export function parseHistories(answer: ExchangeAnswer): readonly HistoryEntry[] {
  return Object.values(read(histories, answer)).filter((one) => one !== null);
}

/** Node class -> what the server says of it. */
export function parseObjectInfo(answer: ExchangeAnswer): Readonly<Record<string, unknown>> {
  return read(z.record(z.string(), z.unknown()), answer);
}

/** A node that is named here is refused, however that is told. */
const nodeError = z
  .object({
    class_type: text,
    errors: listOf(
      z.object({
        message: text,
        details: text,
        extra_info: z.object({ input_name: text }).nullish().catch(null),
      }),
    ).catch([]),
  })
  .catch({ class_type: null, errors: [] });
const nodeErrors = z.record(z.string(), nodeError).catch({});

/** The errors of each node of a graph. */
export type NodeErrors = z.output<typeof nodeErrors>;

const accepted = z.object({ prompt_id: z.string().min(1), node_errors: nodeErrors.default({}) });

/** The answer to an accepted graph; some of its outputs may have been refused. */
export function parseAccepted(answer: ExchangeAnswer): z.output<typeof accepted> {
  return read(accepted, answer);
}

const refused = z.object({
  error: z.union([
    z.string().transform((message) => ({ type: null, message, details: null, extra_info: null })),
    z.object({
      type: z.string().nullish(),
      message: z.string().nullish(),
      details: z.string().nullish(),
      extra_info: z
        .object({ node_id: z.coerce.string().nullish(), class_type: z.string().nullish() })
        .nullish()
        .catch(null),
    }),
  ]),
  node_errors: nodeErrors.default({}),
});

/** Why a graph was refused; null when the answer does not say. */
export function parseRefusal(answer: ExchangeAnswer): z.output<typeof refused> | null {
  const parsed = refused.safeParse(answer.json);
  return parsed.success ? parsed.data : null;
}

const uploaded = z.object({
  name: z.string().min(1),
  subfolder: z.string().nullish(),
  type: z.string().nullish(),
});

/** The name of an uploaded file in a graph: the server may have renamed it. */
export function uploadedName(answer: ExchangeAnswer): string {
  const { name, subfolder, type } = read(uploaded, answer);
  const path = subfolder ? `${subfolder}/${name}` : name;
  return type === undefined || type === null || type === 'input' ? path : `${path} [${type}]`;
}

/** Throws the error of an HTTP status; callers tell an empty object and 404 apart. */
export function throwHttpRefusal(answer: ExchangeAnswer): void {
  const error = errorOfStatus(answer, `comfyui: HTTP ${answer.status}`);
  if (error !== undefined) throw error;
  if (answer.status >= 300) throw unreadable(new Error(`HTTP ${answer.status}`));
}
