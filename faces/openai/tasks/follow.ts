import { enforceScope } from '../../../platform/access/policy.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import type { Immutable, Operation } from '../../../rest-compat/documents/graphql.ts';
import { CancelTask } from '../../../rest-compat/documents/media/task.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { isEnded } from '../../../rest-compat/replies/task.ts';
import { ClientDisconnected } from '../../../rest-compat/request/body/body.ts';
import { type Progress, waitForEnd } from '../../../rest-compat/wait.ts';
import { type FaceTask, FaceTaskById } from '../documents/task.ts';
import type { FaceCall } from '../table/route.ts';

/** A task that has ended without result: the answer says why, and that trying again would ask for the same one. */
export class TaskFailed extends Error {
  readonly task: FaceTask;

  constructor(task: FaceTask) {
    super(task.error?.message ?? 'the work was cancelled');
    this.name = 'TaskFailed';
    this.task = task;
  }
}

/** Starts work as a task, and waits for it as long as the caller and the settings want. */

/** `true`: a caller that goes away takes its work with it, where the provider can stop. */
const CANCEL_HEADER = 'x-kiln-cancel-on-disconnect';

/** Names the task in every answer about it, refusals included. */
const TASK_HEADER = 'x-kiln-task';

/** Starts work, and names its task in the answer. */
export async function startTask<Data extends object, Variables extends object>(
  call: FaceCall,
  document: Operation<Data, Variables>,
  variables: Immutable<Variables>,
): Promise<FaceTask> {
  const all = { ...(variables as object), ...readCallback(call) } as Immutable<Variables>;
  const [task] = Object.values(await runDocument(call, document, all)) as readonly FaceTask[];
  if (task === undefined) throw new AppError('INTERNAL', 'a mutation that starts work answered nothing');
  nameTask(call, task);
  if (task.manageToken !== null) call.response.setHeader('X-Manage-Token', task.manageToken);
  return task;
}

/** Where the end of the task is told, as on every way in. */
function readCallback({ request }: FaceCall): { readonly callbackUrl?: string } {
  const url = request.headers['x-callback-url'];
  return typeof url === 'string' && url.trim() !== '' ? { callbackUrl: url.trim() } : {};
}

/** Refuses a key that may not read what it would wait for, before that is started and paid for. Throws FORBIDDEN. */
export function enforceWait({ context }: Pick<FaceCall, 'context'>): void {
  enforceScope(context.caller, 'read');
}

/** Names a task in the answer, unless it has begun. */
export function nameTask({ response }: FaceCall, { id, cost }: FaceTask): void {
  if (response.headersSent) return;
  response.setHeader(TASK_HEADER, id);
  if (cost !== null && cost.amount !== null && !cost.estimated) {
    response.setHeader('x-kiln-cost', `${cost.amount} ${cost.currency ?? ''}`.trim());
  }
}

/** Names what the model has nothing for, which was not sent on. */
export function nameIgnored({ response }: FaceCall, names: readonly string[]): void {
  if (names.length > 0) response.setHeader('X-Ignored-Fields', names.join(', '));
}

/** Waits for the end of a task: it as it is then, or as it is when the time is up. Throws TaskFailed when it failed. */
export async function finished(
  call: FaceCall,
  started: FaceTask,
  wantsAsync: boolean,
  onProgress?: (progress: Progress) => void,
): Promise<FaceTask> {
  const seconds = wantsAsync ? 0 : readWaitSeconds(call);
  const { context, stopping } = call;
  if (seconds > 0 && !isEnded(started)) {
    const stopCancelling = cancelWithCaller(call, started);
    await waitForEnd({ ...call, task: started, maxWaitSeconds: seconds, stopping, onProgress });
    stopCancelling();
    if (context.signal.aborted) throw new ClientDisconnected();
  }
  const task = isEnded(started) || wantsAsync ? started : await readTask(call, started.id);
  nameTask(call, task);
  if (task.state === 'FAILED' || task.state === 'CANCELLED') throw new TaskFailed(task);
  if (!isEnded(task) && !wantsAsync && stopping.aborted) {
    throw new AppError('UNAVAILABLE', 'this server stops, and the work goes on: send the request again', {
      retryAfter: 5,
    });
  }
  return task;
}

/** A task that the caller may read. Throws NOT_FOUND. */
export async function readTask(call: FaceCall, id: string): Promise<FaceTask> {
  const { task } = await runDocument(call, FaceTaskById, { id });
  if (task === null) throw notFound('task', id);
  return task;
}

/** Whether the caller wants to be answered at once: `async` of the body, or Prefer: respond-async. */
export function wantsAsync({ request }: FaceCall, asked: boolean | undefined): boolean {
  return asked ?? /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(String(request.headers['prefer'] ?? ''));
}

/** Prefer: wait=N within the setting. */
function readWaitSeconds({ request, settings }: FaceCall): number {
  const preferred = /(?:^|[,;\s])wait=(\d{1,6})/i.exec(String(request.headers['prefer'] ?? ''))?.[1];
  return Math.min(settings.waitSeconds, preferred === undefined ? Infinity : Number(preferred));
}

/** Cancels the task when its caller hangs up, where that was asked for. */
function cancelWithCaller(call: FaceCall, { id }: FaceTask): () => void {
  const { context, request } = call;
  if (request.headers[CANCEL_HEADER] !== 'true') return () => undefined;
  const cancel = (): void => {
    void cancelTask(call, { ...context, signal: new AbortController().signal }, id);
  };
  context.signal.addEventListener('abort', cancel, { once: true });
  return () => context.signal.removeEventListener('abort', cancel);
}

/** Cancels a task for its owner. Never throws: where it can't be, it goes on. */
export async function cancelTask(
  { executor, logger }: Pick<FaceCall, 'executor' | 'logger'>,
  context: FaceCall['context'],
  id: string,
): Promise<void> {
  try {
    await runDocument({ executor, context }, CancelTask, { id });
  } catch (error) {
    // Too late is no failure: the work has ended.
    if (!(error instanceof AppError)) logger.warn({ error, task: id }, 'a task that is not wanted goes on');
  }
}
