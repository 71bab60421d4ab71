import { json, type Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import { jsonObject, type WireRequest, type WireRoute } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { detail, invalidField } from '../shared/fastapi.ts';
import { readText } from '../shared/inputs.ts';
import { fileName, createUpload, receiveUpload } from '../shared/uploads.ts';

interface Store {
  readonly runner: JobRunner;
  readonly journal: Journal;
}

const TYPES = ['image', 'audio', 'video', 'voice'];

/** Assets: created first, uploaded afterwards; a video is PUT to its own URL. */
export function assetRoutes(store: Store): WireRoute[] {
  return [
    {
      method: 'POST',
      path: '/web-app/public/assets',
      operation: 'createAsset',
      handle: (request) => create(store, request),
    },
    {
      method: 'POST',
      path: '/web-app/public/assets/:id/upload',
      operation: 'uploadAsset',
      handle: (request) => upload(store, request),
    },
    {
      method: 'PUT',
      path: '/upload/:id',
      operation: 'put',
      handle: (request) => receiveUpload(store, request),
    },
  ];
}

async function create(store: Store, request: WireRequest): Promise<Answer> {
  const requested = jsonObject(request);
  const name = readText(requested?.['name']);
  const type = readText(requested?.['type']);
  if (name === null) return invalidField(['name'], 'Field required', 'missing');
  if (type === null || !TYPES.includes(type))
    return invalidField(['type'], `Input should be one of ${TYPES.join(', ')}`, 'enum');
  const id = await createUpload(store, { name, type });
  return json({ id, name, type, upload_url: type === 'video' ? `${request.baseUrl}/upload/${id}` : null });
}

async function upload(store: Store, request: WireRequest): Promise<Answer> {
  const job = findAsset(store.runner, request.params['id']);
  if (job === null) return detail(404, 'Asset not found');
  const file = (await readForm(request))?.files.find(({ field }) => field === 'file');
  if (file === undefined) return invalidField(['file'], 'Field required', 'missing');
  await store.journal.writeImage(fileName(job.id), file.bytes);
  const { name, type } = job.input;
  const created = new Date(job.submittedAt).toISOString();
  const asset = { type: `uploaded_${readText(type) ?? ''}`, url: `${request.baseUrl}/assets/${job.id}` };
  return json({ id: job.id, type, name, created_at: created, asset });
}

/** An asset that exists. */
export function findAsset(runner: JobRunner, id: unknown): Job | null {
  const job = typeof id === 'string' ? runner.get(id) : null;
  return job?.operation === 'file' ? job : null;
}
