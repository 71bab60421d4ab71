import { z } from 'zod';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext } from '../contract/provider.ts';
import { dataUri, type Exchange } from '../shared/exchange.ts';
import { putFile } from '../shared/upload-address.ts';
import { read, throwRefusal } from './wire.ts';

/** Largest file sent as a data: URI; larger ones go to fal's storage. */
const MAX_INLINE = 256 * 1024;
/** Uploads expire after a day: inputs are not needed again, and Kiln stores results at once. */
export const LIFECYCLE = {
  'x-fal-object-lifecycle-preference': JSON.stringify({ expiration_duration_seconds: 86_400 }),
} as const;

const initiated = z.object({ file_url: z.string().min(1), upload_url: z.string().min(1) });

/** The URL of an input for a model: ours when it is public, a data: URI when it is small, else one in fal's storage. */
export async function addressOfInput(
  { http, exchange }: { readonly http: HttpClient; readonly exchange: Exchange },
  { file, field }: { readonly file: InputFile; readonly field: string },
  context: CallContext,
): Promise<string> {
  if (file.publicUrl !== null) return file.publicUrl;
  if (file.bytes <= MAX_INLINE) return dataUri(file, field);
  const answer = await exchange(restContext(context), {
    method: 'POST',
    path: '/storage/upload/initiate?storage_type=fal-cdn-v3',
    json: { content_type: file.contentType, file_name: file.name },
    headers: LIFECYCLE,
  });
  throwRefusal(answer, 'file');
  const parsed = read(initiated, answer, 'an upload URL');
  throwRefusal(await putFile(http, { file, url: parsed.upload_url, context }), 'file');
  return parsed.file_url;
}

/** The same account at fal's REST service: storage, and the keys of its webhooks. */
export function restContext(context: CallContext): CallContext {
  const baseUrl = context.connection.endpoints?.['rest'];
  if (baseUrl === undefined) {
    throw new UpstreamError('UNAVAILABLE', 'the address of fal’s storage is not configured');
  }
  return { ...context, connection: { ...context.connection, baseUrl, pathPrefix: '' } };
}
