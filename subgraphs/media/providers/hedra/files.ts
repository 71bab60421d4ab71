import { z } from 'zod';

import { invalidInput } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext, UploadedFile } from '../contract/provider.ts';
import { readInput, type Exchange } from '../shared/exchange.ts';
import { encodeForm } from '../shared/request-body.ts';
import { read, throwRefusal } from './wire.ts';

const UPLOAD_TIMEOUT_MS = 120_000;

/** A file for Hedra, and the input field that it came from. */
export interface SourceFile {
  readonly file: InputFile;
  readonly field: string;
}

const stored = z.object({
  url: z.string().min(1),
  content_type: z.string().nullish().catch(null),
  expires_at: z.coerce.date().nullish().catch(null),
});

/**
 * Uploads a file to `/files`. Its id is the presigned URL that jobs take as their input for an hour; whoever has it can
 * read the file, so the answer is kept without it. Throws UpstreamError.
 */
export async function uploadFile(
  exchange: Exchange,
  { file, field }: SourceFile,
  context: CallContext,
): Promise<UploadedFile> {
  const [type = ''] = file.contentType.split('/');
  if (!['image', 'audio', 'video'].includes(type)) {
    throw invalidInput(field, 'hedra takes images, sounds and videos');
  }
  const form = new FormData();
  const bytes = await readInput(file, field);
  form.set('file', new Blob([new Uint8Array(bytes)], { type: file.contentType }), file.name);
  const answer = await exchange(context, {
    method: 'POST',
    path: '/files',
    ...(await encodeForm(form)),
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  throwRefusal(answer, 'file');
  const { url, content_type: contentType, expires_at: expiresAt } = read(stored, answer, 'a file');
  return {
    id: url,
    uri: null,
    expiresAt: expiresAt ?? null,
    answer: { content_type: contentType ?? null, expires_at: expiresAt?.toISOString() ?? null },
  };
}

/** A file as an input of a job: what is there already, or a new upload. */
export async function prepareSource(
  exchange: Exchange,
  source: SourceFile,
  context: CallContext,
): Promise<Record<string, string>> {
  const url = source.file.uploaded?.id ?? (await uploadFile(exchange, source, context)).id;
  return { source: 'url', url };
}
