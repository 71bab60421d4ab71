import type { HttpClient } from '../../../platform/http/http-client.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { type Metrics, noMetrics } from '../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { createLoop } from '../../../platform/process/loop.ts';
import type { JobHandler, Queue, QueueWorker } from '../../../platform/queue/queue.ts';
import { withSpan, type Tracer } from '../../../platform/tracing/span.ts';
import type { DeliveryRow, MediaDatabase } from '../database/database.ts';
import type { Task } from '../domain/task.ts';
import type { FileService, StoredFile } from '../files/files.ts';
import { readTasks } from '../tasks/storage/task-store.ts';
import {
  type AttemptEnd,
  beginAttempt,
  endAttempt,
  secondsUntilDue,
  type WebhookJob,
  defineWebhookQueue,
  WEBHOOK_QUEUE,
} from './delivery-store.ts';
import { readEndpoint, signingSecrets } from './endpoint-store.ts';
import { enqueueLostDeliveries } from './enqueue.ts';
import { createSender, type OutgoingMessage, type Sender, type Verdict } from './send.ts';

export interface WebhookWorkerOptions {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly http: HttpClient;
  readonly files: Pick<FileService, 'byIds' | 'formatUrl'>;
  /** `whsec_` and base64: signs every attempt. */
  readonly secret: string;
  /** Seconds between attempts; one attempt more than there are pauses (default 5 s to 6 h, 12 attempts). */
  readonly pauses?: readonly number[];
  /** Of this process (default: none). */
  readonly metrics?: Metrics;
  /** Of this process (default: nothing is traced). */
  readonly tracer?: Tracer;
  /** Longest time of one attempt, answer included (default 15,000). */
  readonly timeoutMs?: number;
  readonly logger: Logger;
  /** Pause between sweeps for deliveries whose job was lost (default 60,000). */
  readonly sweepPauseMs?: number;
  /** Seconds without an attempt from which a sweep looks for a delivery's job (default 120). */
  readonly untouchedSeconds?: number;
}

/** Attempts at once in this process. A receiver that hangs holds one for no longer than the time-out. */
const SLOTS = 16;
const TIMEOUT_MS = 15_000;
const HOUR = 3_600;
/** About 31 hours in all. */
const PAUSES = [5, 20, 80, 320, 1_280, 5_120, ...Array.from({ length: 5 }, () => 6 * HOUR)];

/**
 * Delivers the ends of tasks to their callback addresses. Any number of processes may run one over the same database.
 * Makes the worker; it does nothing until it is started.
 */
export function createWebhookWorker(options: WebhookWorkerOptions) {
  const { queue, http, secret, timeoutMs = TIMEOUT_MS, metrics = noMetrics } = options;
  const counted = metrics.counter('kiln_webhook_attempts_total', 'Attempts to deliver a webhook.', ['state']);
  // Prometheus sees a counter grow only from a value before: the first that is given up would raise no alert.
  counted({ state: 'GIVEN_UP' }, 0);
  const sender = createSender({ http, secret, timeoutMs });
  const parts: Parts = { pauses: PAUSES, ...options, sender, counted };
  const { logger, sweepPauseMs: everyMs = 60_000 } = options;
  const tick = () => enqueueLostDeliveries(options);
  const sweep = createLoop({ tick, everyMs, logger, name: 'sweep of webhooks' });
  let worker: QueueWorker | null = null;
  return {
    async start(): Promise<void> {
      await defineWebhookQueue(queue);
      worker = await queue.work(WEBHOOK_QUEUE, { slots: SLOTS }, createHandler(parts));
      sweep.start();
    },
    /** Takes no new jobs, lets running ones finish within `graceSeconds`, and leaves the rest to other workers. */
    async stop(graceSeconds: number): Promise<void> {
      await Promise.all([sweep.stop(), worker?.stop(graceSeconds)]);
    },
  };
}

interface Parts extends Omit<WebhookWorkerOptions, 'pauses'> {
  readonly pauses: readonly number[];
  readonly sender: Sender;
  readonly counted: (labels: { readonly state: string }) => void;
}

/**
 * The row says what is due; the job only triggers a look at it. A worker that dies between sending and storing leaves a
 * row that is still pending: it is sent again under the same id.
 */
function createHandler(parts: Parts): JobHandler {
  const { database, sender } = parts;
  return async ({ data, signal }) => {
    const job = data as WebhookJob;
    const delivery = await beginAttempt(database, job);
    if (delivery === null) {
      const seconds = await secondsUntilDue(database, job);
      return seconds === null ? undefined : { againInSeconds: seconds };
    }
    const message = await outgoing(parts, delivery);
    if (message === null) return undefined;
    const { traceparent = null } = message;
    const span = parts.tracer?.start('deliver webhook', { kind: 'consumer', traceparent }) ?? null;
    const verdict = await withSpan(span, () => sender.send(message, signal));
    const end = toEnd(verdict, delivery.tries, parts.pauses);
    await endAttempt(database, delivery, end);
    parts.counted({ state: end.state });
    return end.pauseSeconds === null ? undefined : { againInSeconds: end.pauseSeconds };
  };
}

/** What a delivery sends; null when its task or endpoint is gone. */
async function outgoing(
  { database, files, secret }: Parts,
  { id, url, taskId, endpointId, event }: DeliveryRow,
): Promise<(OutgoingMessage & { readonly traceparent?: string | null }) | null> {
  const endpoint = endpointId === null ? null : await readEndpoint(database, endpointId);
  if (endpointId !== null && endpoint === null) return null;
  const receiver =
    endpoint === null
      ? { url }
      : { url: endpoint.url, secrets: signingSecrets(secret, endpoint, new Date()) };
  if (event !== null) return { id, ...receiver, body: JSON.stringify(event) };
  const [task] = taskId === null ? [] : await readTasks(database, [taskId]);
  if (task === undefined) return null;
  return { id, ...receiver, body: await createMessage(task, files), traceparent: task.traceparent };
}

/** Delivered, retried after a pause, or given up. */
function toEnd(verdict: Verdict, tries: number, pauses: readonly number[]): AttemptEnd {
  const { status } = verdict;
  if (verdict.kind === 'delivered') return { state: 'DELIVERED', status, error: null, pauseSeconds: null };
  const pause = pauses[tries - 1];
  if (verdict.gone) return { state: 'GIVEN_UP', status, error: verdict.error, pauseSeconds: null };
  if (pause === undefined) {
    const error = `${verdict.error}; given up after ${tries} attempts`;
    return { state: 'GIVEN_UP', status, error, pauseSeconds: null };
  }
  // Jitter, so that the deliveries of one outage don't all come back at once.
  const pauseSeconds = pause * (0.9 + Math.random() * 0.2);
  return { state: 'PENDING', status, error: verdict.error, pauseSeconds };
}

/**
 * The body of a webhook: the end of a task in JSON. The same at each attempt, but for addresses that expire, which are
 * renewed. `timestamp` is the moment of the end.
 */
async function createMessage(task: Task, files: Pick<FileService, 'byIds' | 'formatUrl'>): Promise<string> {
  const found = await files.byIds(task.result?.mediaIds ?? []);
  const outputs = found.flatMap((file) => (file === null ? [] : [toOutput(file, files)]));
  return JSON.stringify({
    type: `task.${task.state.toLowerCase()}`,
    timestamp: (task.endedAt ?? task.createdAt).toISOString(),
    data: {
      id: task.id,
      kind: task.kind,
      generator: task.generator,
      state: task.state,
      outputs,
      text: task.result?.texts[0] ?? null,
      error: toErrorObject(task),
    },
  });
}

function toOutput(file: StoredFile, files: Pick<FileService, 'formatUrl'>): JsonObject {
  const { contentType, bytes, sha256, width, height, duration } = file;
  return { url: files.formatUrl(file), contentType, bytes, sha256, width, height, duration };
}

function toErrorObject({ error }: Task): JsonObject | null {
  if (error === null) return null;
  const { code, message, retryable } = error;
  return { code, message, retryable };
}
