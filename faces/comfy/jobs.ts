import { computeFingerprint, MAX_KEY_LENGTH } from '../../platform/access/idempotency.ts';
import { AppError, notFound } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import { CancelTask } from '../../rest-compat/documents/media/task.ts';
import { withFieldName } from '../../rest-compat/replies/field-names.ts';
import { runDocument } from '../../rest-compat/replies/results.ts';
import { readJson, type ComfyAnswer, type ComfyCall, ComfyRefusal, type ComfyRoute } from './call.ts';
import { ComfyRun, type ComfyTask, ComfyTaskById } from './documents.ts';
import { jobEvents } from './events.ts';
import { listProblems } from './failures.ts';
import { toJob } from './reply.ts';
import { readWorkflow, type ReadWorkflow, submittedWorkflow } from './workflow.ts';

/** Jobs: tasks of ours that run a graph. */
export const jobRoutes: readonly ComfyRoute[] = [
  {
    method: 'POST',
    path: '/jobs',
    summary: 'Starts running a graph on a machine of the pool that has what it needs.',
    rateClass: 'start',
    documents: [ComfyRun],
    run: submit,
  },
  {
    method: 'GET',
    path: '/jobs/{id}',
    summary: 'A job, how far it is, and what it has made.',
    rateClass: 'status',
    documents: [ComfyTaskById],
    run: async (call) => ({ body: toJob(await readTask(call), call.settings) }),
  },
  {
    method: 'GET',
    path: '/jobs/{id}/workflow',
    summary: 'The graph of a job, as it was submitted.',
    rateClass: 'read',
    documents: [ComfyTaskById],
    async run(call) {
      const task = await readTask(call);
      const workflow = submittedWorkflow(task);
      if (workflow === null) throw notFound('workflow of the job', task.id);
      return { body: { workflow, format: 'api' } };
    },
  },
  {
    method: 'GET',
    path: '/jobs/{id}/events',
    summary: 'What happens to a job: from now on, or after the entry that Last-Event-ID names.',
    rateClass: 'status',
    documents: [ComfyTaskById],
    async run(call) {
      const task = await readTask(call);
      return { events: (stop) => jobEvents(call, task, stop) };
    },
  },
  {
    method: 'POST',
    path: '/jobs/{id}/cancel',
    summary: 'Asks a job to stop; one that has ended stays as it is.',
    rateClass: 'write',
    documents: [ComfyTaskById, CancelTask],
    async run(call) {
      const { id } = await readTask(call);
      try {
        await runDocument(call, CancelTask, { id });
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'TOO_LATE')) throw error;
      }
      return { body: toJob(await readTask(call), call.settings) };
    },
  },
];

const FIELDS: readonly string[] = ['workflow', 'extra_data', 'webhook_url'];

async function submit(call: ComfyCall): Promise<ComfyAnswer> {
  const body = await readJson(call);
  refuseUnknown(body);
  const workflow = readWorkflow(body['workflow']);
  const key = call.request.headers['idempotency-key'];
  const webhook = body['webhook_url'] ?? undefined;
  if (webhook !== undefined && typeof webhook !== 'string') {
    throw new ComfyRefusal(422, 'invalid_request', 'webhook_url must be an address');
  }
  const variables = {
    input: workflow.input,
    ...(typeof key === 'string' && key !== '' && { idempotencyKey: toGraphKey(key) }),
    ...(webhook !== undefined && { callbackUrl: webhook }),
  };
  const started = await runDocument(call, ComfyRun, variables).catch((error: unknown) => {
    throw toAssetRefusal(error, workflow);
  });
  return answerStarted(call, started.runComfyWorkflow);
}

/** A key as the graph has it, apart from those of other APIs; one that is too long for it goes by its hash. */
function toGraphKey(key: string): string {
  const own = `comfy:${key}`;
  return own.length > MAX_KEY_LENGTH ? `comfy:${computeFingerprint(key)}` : own;
}

/** A key is good for one submission: whoever repeats it is told of the job that it has started. */
function answerStarted(call: ComfyCall, task: ComfyTask): ComfyAnswer {
  if (task.traceId !== call.context.caller.traceId) {
    const message = `this Idempotency-Key has started the job ${task.id}`;
    throw new ComfyRefusal(422, 'idempotency_key_reuse', message, { job_id: task.id });
  }
  if (task.manageToken !== null) call.response.setHeader('X-Manage-Token', task.manageToken);
  return { status: 201, body: toJob(task, call.settings) };
}

function refuseUnknown(body: JsonObject): void {
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const message = `${unknown.slice(0, 100)} is not taken here: ${FIELDS.join(', ')} are`;
    throw new ComfyRefusal(422, 'invalid_request', message);
  }
  if (Object.keys(Object(body['extra_data']) as object).length > 0) {
    // It would have to be kept until the job starts, and the contract promises that it never is.
    const message = 'extra_data is not taken: set the key of partner nodes at the machines themselves';
    throw new ComfyRefusal(422, 'invalid_request', message);
  }
}

/** What is not of the graph, as callers of this API name it. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['callbackUrl', 'webhook_url'],
  ['idempotencyKey', 'Idempotency-Key'],
]);

/** What is wrong with a submission is wrong with its graph, or with one of its assets. */
function toAssetRefusal(thrown: unknown, { assets, node }: ReadWorkflow): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  const named = NAMES.get(thrown.field ?? '');
  if (named !== undefined) return withFieldName(thrown, named);
  if (thrown.code !== 'BAD_USER_INPUT' && thrown.code !== 'NOT_INSTALLED') return thrown;
  const error = node === null ? thrown : atNode(thrown, node);
  const place = error.field?.replace(/^inputs\./, '').replace(/\.fileId$/, '') ?? '';
  const isOfAsset = place === 'fileId' || assets.has(place);
  const code = isOfAsset && assets.size > 0 ? 'missing_asset' : 'invalid_workflow';
  return new ComfyRefusal(422, code, error.message, listProblems(error));
}

/** What is wrong with the inputs of a saved graph, at the node that stands for it. */
function atNode(cause: AppError, node: string): AppError {
  const { code, message, field } = cause;
  const at = (name: string) =>
    name === 'workflowName'
      ? `workflow.${node}.class_type`
      : name.replace(/^inputs\./, () => `inputs.${node}.`);
  const problems = cause.problems.map((problem) => ({ ...problem, field: at(problem.field) }));
  return new AppError(code, message, { cause, problems, ...(field !== undefined && { field: at(field) }) });
}

async function readTask(call: ComfyCall): Promise<ComfyTask> {
  const id = call.pathParams['id'] ?? '';
  const { task } = await runDocument(call, ComfyTaskById, { id });
  if (task?.kind !== 'COMFY_WORKFLOW') throw notFound('job', id);
  return task;
}
