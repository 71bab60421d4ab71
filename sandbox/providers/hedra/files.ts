import { createHash } from 'node:crypto';

import { bytes, json, type Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import type { WireRequest, WireRoute } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { readText } from '../shared/inputs.ts';
import { createUpload, fileName } from '../shared/uploads.ts';
import { refusal } from './errors.ts';
import type { HedraParts } from './parts.ts';

/** How long the address of an upload is accepted. */
const HOUR_MS = 3_600_000;

/** v3's uploads: a form, answered with the address that jobs take as input. */
export function fileRoutes(parts: HedraParts): WireRoute[] {
  return [
    {
      method: 'POST',
      path: '/v3/files',
      operation: 'uploadFile',
      handle: (request) => upload(parts, request),
    },
    {
      method: 'GET',
      path: '/uploads/:id',
      operation: 'uploaded',
      async handle({ params, query }) {
        const job = parts.runner.get(params['id'] ?? '');
        const isOurs = job?.operation === 'file' && query.get('signature') === signUpload(job.id);
        const content = isOurs ? await parts.journal.readImage(fileName(job.id)) : null;
        return content === null
          ? refusal(403, 'PERMISSION_DENIED', { message: 'SignatureDoesNotMatch' })
          : bytes(content, readText(job?.input['contentType']) ?? '');
      },
    },
  ];
}

async function upload(parts: HedraParts, request: WireRequest): Promise<Answer> {
  const file = (await readForm(request))?.files.find(({ field }) => field === 'file');
  if (file === undefined) {
    const details = [{ field: 'file', message: 'Field required', reason: 'required' }];
    return refusal(400, 'INVALID_ARGUMENT', { message: 'Invalid upload.', details });
  }
  // The real one looks at the bytes; what it would call them, the tests' own callers say.
  const contentType = file.type ?? 'application/octet-stream';
  const id = await createUpload(parts, { contentType });
  await parts.journal.writeImage(fileName(id), file.bytes);
  return json({
    url: toUploadUrl(id, request.baseUrl),
    content_type: contentType,
    expires_at: new Date(Date.now() + HOUR_MS).toISOString(),
  });
}

function toUploadUrl(id: string, baseUrl: string): string {
  return `${baseUrl}/uploads/${id}?signature=${signUpload(id)}`;
}

function signUpload(id: string): string {
  return createHash('sha256').update(`hedra-upload:${id}`).digest('hex');
}

/** The upload behind an address, which must be word for word what was answered; `expired` after an hour. */
export function uploadAt(
  { runner }: HedraParts,
  url: string,
  baseUrl: string,
): { readonly job: Job } | 'expired' | 'external' {
  const [, id = ''] = /\/uploads\/([0-9a-f-]{36})\?/.exec(url) ?? [];
  const job = runner.get(id);
  if (job?.operation !== 'file' || url !== toUploadUrl(id, baseUrl)) return 'external';
  return Date.now() - job.submittedAt > HOUR_MS ? 'expired' : { job };
}
