import type { OldDatabase } from './database.ts';
import type { OldAnswer, OldRequest } from './http.ts';

/** The old workflow service, as its document says; what that leaves open differs from Kiln in places. */
export function answerWorkflow(database: OldDatabase, request: OldRequest): OldAnswer | null {
  const { method, path, query, origin } = request;
  if (method === 'POST' && path.startsWith('/templates/execute/')) return execute(database, path);
  if (method !== 'GET') return null;
  const [, one = '', two = '', three = '', four = ''] = path.split('/').map(decodeURIComponent);
  if (one === 'templates') return templates(database, two, three, { four, origin });
  if (one === 'payment' && two === 'health')
    return done({ timestamp: new Date().toISOString(), service: 'pay' });
  if (one === 'payment' && two === 'history') {
    return paymentsOf(database, query.get('userId') ?? '');
  }
  if (one === 'payment') return found(database.document('payments', 'id', two));
  if (one !== 'task') return null;
  const execution = database.document('executions', 'task_id', two);
  if (execution === null) return found(null);
  const { status, progress, createdAt, completedAt } = execution;
  return done({ id: two, status, progress, result: toResult(execution, origin), createdAt, completedAt });
}

/** Those of three users are not all listed: one list is shorter than it says, one fails, one is none. */
function paymentsOf(database: OldDatabase, user: string): OldAnswer {
  const failure = { code: 500, message: 'timeout', data: null };
  if (user === 'sub-dora') return { status: 500, body: failure };
  if (user === 'sub-finn') return { body: failure };
  const payments = database.ofUser('payments', user);
  const fields = ['id', 'templateCode', 'status', 'amount', 'currency', 'createdAt'];
  const total = payments.length + (user === 'sub-cleo' ? 1 : 0);
  return done({ payments: payments.map((payment) => picked(payment, fields)), total });
}

function execute(database: OldDatabase, path: string): OldAnswer {
  const ids = { executionId: 'exec-20', taskId: 'run-20' };
  const templateCode = path.split('/').at(-1) ?? '';
  const createdAt = new Date().toISOString();
  const document = {
    ...ids,
    templateCode,
    status: 'completed',
    progress: 100,
    createdAt,
    completedAt: createdAt,
  };
  database.addExecution(ids.taskId, 'sub-eve', document);
  // Differs: the word.
  return done({ ...ids, status: 'started' });
}

function templates(
  database: OldDatabase,
  operation: string,
  argument: string,
  { four, origin }: { readonly four: string; readonly origin: string },
): OldAnswer | null {
  const all = database.documents('templates');
  if (operation === '') {
    const fields = ['code', 'name', 'description', 'creditCost', 'templateType', 'isActive', 'tags'];
    const active = all.filter(({ isActive }) => isActive).map((template) => picked(template, fields));
    return done({ templates: active, total: active.length });
  }
  if (operation === 'health')
    return done({ totalTemplates: all.length, service: 'templates', timestamp: '' });
  if (operation === 'sync-status') {
    const listed = all.map(({ code, name, isActive, productId }) => {
      return { code, name, isActive, hasPpProduct: productId !== undefined, lastPpSyncAt: null };
    });
    return done({ totalTemplates: all.length, templates: listed });
  }
  if (operation === 'executions') {
    // All but Bob's name their tasks, which the document doesn't say.
    const fields = ['executionId', 'templateCode', 'status', 'createdAt'];
    const answered = four === 'sub-bob' ? fields : [...fields, 'taskId'];
    const executions = database.ofUser('executions', four).map((execution) => picked(execution, answered));
    return done({ executions, total: executions.length + (four === 'sub-dora' ? 2 : 0) });
  }
  if (operation === 'execution') {
    // One is also known by its execution's id.
    const execution = database.document('executions', 'task_id', argument.replace('exec-10', 'run-10'));
    if (execution === null) return found(null);
    const facts = picked(execution, ['taskId', 'executionId', 'status', 'progress']);
    return done({ ...facts, result: toResult(execution, origin) });
  }
  const template = all.find(({ code }) => code === argument);
  if (template === undefined) return operation === 'get' || operation === 'verify-sync' ? found(null) : null;
  const { productId: ppProductId = null, priceId: ppPriceId = null } = template;
  if (operation === 'verify-sync') {
    return done({
      templateCode: argument,
      synced: true,
      issues: [],
      ppProductId,
      ppPriceId,
      recommendations: [],
    });
  }
  const fields = [
    'code',
    'name',
    'description',
    'creditCost',
    'templateType',
    'workflow',
    'isActive',
    'createdAt',
  ];
  return operation === 'get' ? done({ ...picked(template, fields), ppProductId }) : null;
}

function toResult({ status, taskId }: Record<string, unknown>, origin: string): object | null {
  return status === 'completed' ? { videoUrl: `${origin}/storage/${String(taskId)}.mp4` } : null;
}

function picked(from: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.filter((field) => field in from).map((field) => [field, from[field]]));
}

function done(data: object): OldAnswer {
  return { body: { code: 200, message: 'success', data } };
}

function found(data: object | null): OldAnswer {
  const traceId = 'trace';
  const timestamp = new Date().toISOString();
  return data === null
    ? { status: 404, body: { code: 404, message: 'not found', timestamp, traceId } }
    : { body: { code: 200, message: 'success', data, timestamp, traceId } };
}
