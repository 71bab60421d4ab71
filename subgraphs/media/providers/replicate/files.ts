import { z } from 'zod';

import type { InputFile } from '../../domain/inputs/input.ts';
import type { CallContext } from '../contract/provider.ts';
import { dataUri, readInput, type Exchange } from '../shared/exchange.ts';
import { encodeForm } from '../shared/form.ts';
import { read, throwRefusal } from './wire.ts';

/** Largest file sent as a data: URI, as the vendor recommends. */
const MAX_INLINE = 256 * 1024;
const UPLOAD_TIMEOUT_MS = 120_000;

const uploaded = z.object({ urls: z.object({ get: z.string().min(1) }) });

/** The URL of an input for a model: ours when it is public, a data: URI when it is small, else a file at Replicate. */
export async function addressOfInput(
  exchange: Exchange,
  { file, field }: { readonly file: InputFile; readonly field: string },
  context: CallContext,
): Promise<string> {
  if (file.publicUrl !== null) return file.publicUrl;
  if (file.bytes <= MAX_INLINE) return dataUri(file, field);
  const form = new FormData();
  const bytes = new Uint8Array(await readInput(file, field));
  form.append('content', new Blob([bytes], { type: file.contentType }), file.name);
  const answer = await exchange(context, {
    method: 'POST',
    path: '/files',
    ...(await encodeForm(form)),
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  throwRefusal(answer, 'account');
  return read(uploaded, answer, 'a file').urls.get;
}
