import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Json } from '../../../../platform/json.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext, UploadedFile } from '../contract/provider.ts';
import { readInput, type Exchange } from '../shared/exchange.ts';
import { encodeForm } from '../shared/request-body.ts';
import { putFile } from '../shared/upload-address.ts';
import type { SourceFile } from './files.ts';
import { asAsset, throwRefusal } from './web-app-wire.ts';

const UPLOAD_TIMEOUT_MS = 120_000;

/** Uploads a file as an asset: images and audio as a form, videos to an upload URL. Throws UpstreamError. */
export async function createAsset(
  wire: { readonly http: HttpClient; readonly exchange: Exchange },
  { file, field }: SourceFile,
  context: CallContext,
): Promise<UploadedFile> {
  const type = toAssetType(file, field);
  const created = await wire.exchange(context, {
    method: 'POST',
    path: '/public/assets',
    json: { name: file.name, type },
  });
  const { id, upload_url: url } = asAsset(created);
  if (type === 'video' && url) {
    throwRefusal(await putFile(wire.http, { file, url, context }), 'asset');
    return { id, uri: null, expiresAt: null, answer: { id, type, name: file.name } };
  }
  const form = new FormData();
  const bytes = await readInput(file, field);
  form.set('file', new Blob([new Uint8Array(bytes)], { type: file.contentType }), file.name);
  const path = `/public/assets/${encodeURIComponent(id)}/upload`;
  const answer = await wire.exchange(context, {
    method: 'POST',
    path,
    ...(await encodeForm(form)),
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  throwRefusal(answer, 'asset');
  return { id, uri: null, expiresAt: null, answer: (answer.json ?? { id }) as Json };
}

function toAssetType({ contentType }: InputFile, field: string): string {
  const [type = ''] = contentType.split('/');
  if (['image', 'audio', 'video'].includes(type)) return type;
  throw new UpstreamError('INVALID_INPUT', `${field}: hedra takes images, sounds and videos`, { field });
}
