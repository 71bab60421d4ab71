import { AppError, notFound } from '../../platform/errors.ts';
import { RemoveFile } from '../../rest-compat/documents/media/file.ts';
import { runDocument } from '../../rest-compat/replies/results.ts';
import type { IncomingFile } from '../../rest-compat/request/body/file-part.ts';
import { storedWhole, toUpload } from '../../rest-compat/request/upload.ts';
import { readFormOfOneFile } from '../shared/form-file.ts';
import { fileAddress, readManageToken } from '../shared/request.ts';
import { readJson, type ComfyAnswer, type ComfyCall, ComfyRefusal, type ComfyRoute } from './call.ts';
import { ComfyFileByHash, ComfyFileById, ComfyTaskById, ComfyUpload } from './documents.ts';
import { toAsset, textAsset } from './reply.ts';

/** Assets: files of ours, found by their BLAKE3, so that what is here is not sent again. */
export const assetRoutes: readonly ComfyRoute[] = [
  {
    method: 'POST',
    path: '/assets',
    summary: 'Stores a file.',
    rateClass: 'write',
    documents: [ComfyUpload, RemoveFile],
    run: storeAsset,
  },
  {
    method: 'POST',
    path: '/assets/from-hash',
    summary: "The caller's file with these bytes.",
    rateClass: 'write',
    documents: [ComfyFileByHash],
    async run(call) {
      const { hash } = await readJson(call);
      const asset = await assetByHash(call, typeof hash === 'string' ? hash : '');
      return { body: { ...asset, created_new: false } };
    },
  },
  {
    method: 'GET',
    path: '/assets/by-hash/{hash}',
    summary: 'Whether the caller has a file with these bytes; clients ask by HEAD.',
    rateClass: 'status',
    documents: [ComfyFileByHash],
    run: async (call) => ({ body: await assetByHash(call, call.pathParams['hash'] ?? '') }),
  },
  {
    method: 'GET',
    path: '/assets/{id}',
    summary: 'A file.',
    rateClass: 'read',
    documents: [ComfyFileById, ComfyTaskById],
    async run(call) {
      const text = await readText(call);
      if (text !== null) {
        const { name, ...asset } = textAsset(text.task, text, call.settings);
        return { body: { ...asset, file_path: name, created_at: text.task.createdAt, job_id: text.task.id } };
      }
      const { task, ...file } = await readFile(call);
      return { body: { ...toAsset(file, call.settings), ...(task !== null && { job_id: task.id }) } };
    },
  },
  {
    method: 'GET',
    path: '/assets/{id}/content',
    summary: 'The bytes of a file, or a range of them.',
    rateClass: 'read',
    documents: [ComfyFileById, ComfyTaskById],
    async run(call) {
      const text = await readText(call);
      if (text !== null) return { text: text.text };
      call.request.url = fileAddress((await readFile(call)).url);
      await call.serveFile(call.request, call.response);
      return 'sent';
    },
  },
  {
    method: 'DELETE',
    path: '/assets/{id}',
    summary: 'Deletes a file.',
    rateClass: 'write',
    documents: [RemoveFile],
    async run(call) {
      const manageToken = readManageToken(call.request);
      await runDocument(call, RemoveFile, { id: call.pathParams['id'] ?? '', manageToken });
      return { status: 204 };
    },
  },
];

/** Its form has the facts before the file, so that it is stored under its own name. */
async function storeAsset(call: ComfyCall): Promise<ComfyAnswer> {
  return readFormOfOneFile(call, {
    store: (file, before) => uploaded(call, named(file, before)),
    accept: (file, fields) => ({ status: 201, body: acceptAsset(call, file, fields.get('expected_hash')) }),
  });
}

type Stored = Awaited<ReturnType<typeof uploaded>>;

/** A file of a form that was read whole, as an asset. */
function acceptAsset(call: ComfyCall, file: Stored | undefined, expected: string | undefined): object {
  if (file === undefined) {
    throw new ComfyRefusal(422, 'invalid_request', 'file is needed: a part of a multipart form');
  }
  if (expected !== undefined && digestIn(expected) !== file.blake3) {
    const message = `the bytes that came have the hash blake3:${file.blake3}: nothing was stored`;
    throw new ComfyRefusal(409, 'hash_mismatch', message);
  }
  if (file.manageToken !== null) call.response.setHeader('X-Manage-Token', file.manageToken);
  return { ...toAsset(file, call.settings), created_new: true };
}

async function uploaded(call: ComfyCall, file: IncomingFile) {
  const stored = runDocument(call, ComfyUpload, { file: toUpload(file) });
  return (await storedWhole(file, stored)).uploadFile;
}

/** A part under the name and type that its form gives it; what is before the last slash is a place of ComfyUI's. */
function named(file: IncomingFile, before: ReadonlyMap<string, string>): IncomingFile {
  const filename = before.get('file_path')?.split('/').at(-1) || file.filename;
  return { ...file, filename, contentType: before.get('content_type') || file.contentType };
}

async function assetByHash(call: ComfyCall, hash: string): Promise<object> {
  const blake3 = digestIn(hash);
  const found = blake3 === null ? null : (await runDocument(call, ComfyFileByHash, { blake3 })).mediaByBlake3;
  if (found === null)
    throw new ComfyRefusal(404, 'blob_not_found', 'there is no file of yours with this hash');
  return toAsset(found, call.settings);
}

/** The digits of `blake3:<hex>`. */
function digestIn(hash: string): string | null {
  return /^blake3:([0-9a-f]{64})$/i.exec(hash)?.[1]?.toLowerCase() ?? null;
}

async function readFile(call: ComfyCall) {
  const id = call.pathParams['id'] ?? '';
  const { media } = await runDocument(call, ComfyFileById, { id });
  if (media === null) throw notFound('asset', id);
  return media;
}

/** A text of a job; null for an id of anything else. */
async function readText(call: ComfyCall) {
  const [, id, number] = /^([0-9a-f-]{36})\.text\.(\d{1,3})$/i.exec(call.pathParams['id'] ?? '') ?? [];
  if (id === undefined) return null;
  const { task } = await runDocument(call, ComfyTaskById, { id });
  const text = task?.texts[Number(number)];
  if (task === null || text === undefined) throw new AppError('NOT_FOUND', 'there is no such text');
  return { task, text, nth: Number(number) };
}
