/** What the clients of the old services send, whatever address they have for them. */

/** A secret that no recording may have. */
export const CLIENT_SECRET = 'a-secret-of-a-client-0123456789';

const headers = { authorization: `Bearer ${CLIENT_SECRET}` };

async function json(
  address: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {},
): Promise<Record<string, unknown>> {
  const answer = await fetch(address, { ...init, headers: { ...headers, ...init.headers } });
  return (await answer.json()) as Record<string, unknown>;
}

/** Polls a task once. */
export const pollTask = (media: string, id: string) => json(`${media}/api/task/status/${id}`);

/** An afternoon at the media service: an image from its start to its end, checks, an upload, and events. */
export async function useMedia(media: string): Promise<void> {
  await json(`${media}/api/template/check/task_type?task_type=tea`);
  await json(`${media}/api/file/health`);
  const form = new FormData();
  form.set('ar', '1:1');
  form.set('client_hint', 'v7');
  const start = `${media}/api/agg/imga/async/generate/image?prompt=a%20fox`;
  const { data } = await json(start, { method: 'POST', body: form });
  const poll = () => json(`${media}/api/agg/imga/async/query/status?task_id=${String(data)}`);
  while (typeof (await poll())['status'] === 'string');
  const upload = new FormData();
  upload.set('file', new Blob([Buffer.alloc(9_000_000)]), 'large.bin');
  await json(`${media}/api/file/upload/s3`, { method: 'POST', body: upload });
  await (await fetch(`${media}/events`)).text();
}

/** The same at the workflow service: the catalog, a template that is run, and its result. */
export async function useWorkflow(workflow: string): Promise<void> {
  await json(`${workflow}/templates`);
  await json(`${workflow}/payment/health`);
  const body = JSON.stringify({ userId: 'sub-eve', imageUrl: null });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const { data } = await json(`${workflow}/templates/execute/poster`, init);
  const { taskId } = data as { readonly taskId: string };
  await json(`${workflow}/templates/execution/${taskId}/progress`);
  await json(`${workflow}/task/run-7`);
}
