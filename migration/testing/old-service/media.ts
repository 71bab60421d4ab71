import type { OldDatabase } from './database.ts';
import type { OldAnswer, OldRequest } from './http.ts';

/** The old media service, as its document says; what that leaves open differs from Kiln in places. */
export function answerMedia(database: OldDatabase, request: OldRequest): OldAnswer | null {
  const { method, path, query, origin } = request;
  if (method === 'GET' && path === '/') return { body: { status: true, data: 'gateway', msg: 'ok' } };
  // Differs: no envelope.
  if (method === 'GET' && path === '/api/file/health') return { body: { ok: true } };
  if (path === '/api/file/upload/s3') {
    return { body: { status: true, data: `${origin}/storage/upload.png`, msg: 'stored' } };
  }
  if (method === 'GET' && path === '/api/template/default') return { body: templatePage(database, query) };
  if (method === 'GET' && path === '/api/template/check/task_type') {
    const isTaken = database
      .documents('video_templates')
      .some(({ task_type }) => task_type === query.get('task_type'));
    // Differs: the name of the field.
    return { body: { status: true, data: { is_available: !isTaken }, msg: 'ok' } };
  }
  if (path === '/api/agg/imga/async/generate/image' || path === '/api/task/create/task') {
    const id = `task-${database.documents('tasks').length + 41}`;
    database.addTask(id, { kind: 'video' });
    return { body: { status: true, data: id, msg: 'submitted' } };
  }
  const taskId =
    /^\/api\/task\/status\/([^/]+)$/.exec(path)?.[1] ??
    (path === '/api/agg/imga/async/query/status' ? query.get('task_id') : undefined);
  return taskId === undefined || taskId === null ? null : { body: taskStatus(database, taskId, origin) };
}

function templatePage(database: OldDatabase, query: URLSearchParams): object {
  const page = Number(query.get('page') ?? 1);
  const size = Number(query.get('page_size') ?? 100);
  const all = database.documents('video_templates').sort((a, b) => Number(a['id']) - Number(b['id']));
  const data = all.slice((page - 1) * size, page * size);
  const total_pages = Math.ceil(all.length / size);
  return { status: true, data, page, page_size: size, total: all.length, total_pages };
}

function taskStatus(database: OldDatabase, id: string, origin: string): object {
  const left = database.poll(id);
  if (id === 'task-odd')
    return { status: true, data: { task_id: id, urls: oddResults(origin) }, msg: 'done' };
  if (left === null) return { status: false, data: null, msg: 'no such task' };
  // Differs: the name of the state.
  if (left > 0) return { status: 'processing', data: { task_id: id, percent: 50 }, msg: 'wait' };
  const url = `${origin}/storage/${id}.mp4`;
  return { status: true, data: { task_id: id, url, urls: [url] }, msg: 'done' };
}

/** Addresses that no copy can be made of, and one after them. */
const oddResults = (origin: string) => [
  `${origin}/storage/gone.mp4`,
  `${origin}/storage/empty.mp4`,
  'http://10.1.2.3/private.mp4',
  `${origin}/storage/fine.mp4`,
];
