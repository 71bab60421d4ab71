import { Readable } from 'node:stream';

import { computeFingerprint } from '../../../platform/access/idempotency.ts';
import { badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import { readFormBody } from '../../../rest-compat/request/body/form.ts';
import { uploadPart } from '../../../rest-compat/request/upload.ts';
import type { FaceCall } from '../table/route.ts';
import { readJson, isObject } from './fields.ts';
import { nestFields } from './form-fields.ts';

/** Files of calls: parts of a form, or in JSON addresses, ids of our files, and data: addresses. */

/** A file among the inputs, and what tells it from another when the call comes again. */
export interface InputFile {
  /** As the graph takes it. */
  readonly media: { readonly fileId: string } | { readonly url: string };
  /** Of its bytes, or of its address. */
  readonly identity: string;
}

/** A body with its files by field; `image[]` counts as `image`. */
export interface BodyWithFiles {
  readonly body: JsonObject;
  readonly files: ReadonlyMap<string, readonly InputFile[]>;
}

/** Reads a form, whose file parts are stored for an hour, or a JSON body. */
export async function readBody(call: FaceCall): Promise<BodyWithFiles> {
  const { request, settings } = call;
  if (!/^multipart\/form-data/i.test(request.headers['content-type'] ?? '')) {
    return { body: await readJson(call), files: new Map() };
  }
  const form = await readFormBody({
    request,
    fileMaxBytes: settings.uploadMaxBytes,
    store: (file) => uploadPart(call, file, {}),
  });
  const parts = form.files.flatMap(({ field, file }) =>
    file === null ? [] : [{ field: toInput(field), media: { fileId: file.id }, identity: file.sha256 }],
  );
  const files = Map.groupBy(parts, ({ field }) => field);
  return { body: nestFields(form.values), files };
}

/** The input of a file part: `image[]` is one of `image`, `options[last_frame]` is `last_frame`. */
function toInput(field: string): string {
  return field.replace(/^options\[(\w+)\]/, '$1').replace(/\[\d*\]$/, '');
}

/** A file that a JSON field names: an address, or `{ image_url | url | file_id }`. */
export async function fileIn(call: FaceCall, value: Json, field: string): Promise<InputFile> {
  const { image_url: image = null, url = image, file_id: id } = isObject(value) ? value : { url: value };
  const address = isObject(url) ? url['url'] : url;
  if (typeof id === 'string') return { media: { fileId: id }, identity: id };
  if (typeof address !== 'string' || address === '') {
    throw badInput(field, `${field} must be an address, or an object with image_url or file_id`);
  }
  if (!address.startsWith('data:')) return { media: { url: address }, identity: address };
  return storeData(call, address, field);
}

async function storeData(call: FaceCall, address: string, field: string): Promise<InputFile> {
  const [, contentType = '', base64] = /^data:([\w.+-]+\/[\w.+-]+);base64,([\s\S]*)$/.exec(address) ?? [];
  if (base64 === undefined) throw badInput(field, `${field} must be data:TYPE;base64,... or another address`);
  const bytes = Buffer.from(base64, 'base64');
  const { id, sha256 } = await uploadPart(
    call,
    {
      field,
      filename: '',
      contentType,
      encoding: '7bit',
      body: Readable.from([bytes], { objectMode: false }),
      requestBytes: bytes.length,
    },
    {},
  );
  return { media: { fileId: id }, identity: sha256 };
}

/** What makes two calls the same: what was sent, and files by their bytes. */
export function identifyCall(
  kind: string,
  body: JsonObject,
  { files = [], ...facts }: { readonly files?: readonly InputFile[]; readonly model: string },
): string {
  return computeFingerprint({ kind, body, files: files.map(({ identity }) => identity), ...facts });
}
