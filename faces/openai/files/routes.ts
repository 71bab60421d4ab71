import { badInput, notFound } from '../../../platform/errors.ts';
import { RemoveFile } from '../../../rest-compat/documents/media/file.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import type { IncomingFile } from '../../../rest-compat/request/body/file-part.ts';
import { storedWhole, toUpload } from '../../../rest-compat/request/upload.ts';
import { readFormOfOneFile } from '../../shared/form-file.ts';
import { fileAddress, readManageToken } from '../../shared/request.ts';
import { type FaceFile, FaceFileById, FaceFiles, FaceUpload } from '../documents/file.ts';
import { readPage } from '../request/fields.ts';
import { type FaceAnswer, type FaceCall, type FaceRoute, toSeconds } from '../table/route.ts';

/** Files of ours in OpenAI's form: uploads, and what tasks have made. */
export const fileRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/files',
    summary: 'Stores a file, to be named by its id in later calls.',
    rateClass: 'write',
    documents: [FaceUpload, RemoveFile],
    run: storeFile,
  },
  {
    method: 'GET',
    path: '/files',
    summary: "The caller's own files, newest first.",
    rateClass: 'read',
    documents: [FaceFiles],
    async run(call) {
      const { medias } = await runDocument(call, FaceFiles, readPage(call.query));
      const data = medias.edges.map(({ node }) => toFileObject(node));
      const ids = medias.edges.map(({ node }) => node.id);
      const ends = { first_id: ids[0] ?? '', last_id: ids.at(-1) ?? '' };
      return { body: { object: 'list', data, ...ends, has_more: medias.pageInfo.hasNextPage } };
    },
  },
  {
    method: 'GET',
    path: '/files/{id}',
    summary: 'A file.',
    rateClass: 'read',
    documents: [FaceFileById],
    run: async (call) => ({ body: toFileObject(await readFile(call)) }),
  },
  {
    method: 'GET',
    path: '/files/{id}/content',
    summary: 'The bytes of a file.',
    rateClass: 'read',
    documents: [FaceFileById],
    async run(call) {
      const { url } = await readFile(call);
      call.request.url = fileAddress(url);
      await call.serveFile(call.request, call.response);
      return 'sent';
    },
  },
  {
    method: 'DELETE',
    path: '/files/{id}',
    summary: 'Deletes a file.',
    rateClass: 'write',
    documents: [RemoveFile],
    async run(call) {
      const id = call.pathParams['id'] ?? '';
      await runDocument(call, RemoveFile, { id, manageToken: readManageToken(call.request) });
      return { body: { id, object: 'file', deleted: true } };
    },
  },
];

async function storeFile(call: FaceCall): Promise<FaceAnswer> {
  return readFormOfOneFile(call, {
    store: (file) => uploaded(call, file),
    accept(file, fields) {
      if (file === undefined) throw badInput('file', "Missing required parameter: 'file'.");
      if (file.manageToken !== null) call.response.setHeader('X-Manage-Token', file.manageToken);
      return { body: toFileObject(file, fields.get('purpose')) };
    },
  });
}

async function uploaded(call: FaceCall, file: IncomingFile) {
  return (await storedWhole(file, runDocument(call, FaceUpload, { file: toUpload(file) }))).uploadFile;
}

async function readFile(call: FaceCall): Promise<FaceFile> {
  const id = call.pathParams['id'] ?? '';
  const { media } = await runDocument(call, FaceFileById, { id });
  if (media === null) throw notFound('file', id);
  return media;
}

/** A purpose is not kept: any file may be named anywhere. */
function toFileObject({ id, bytes, name, createdAt }: FaceFile, purpose = 'user_data'): object {
  const created = toSeconds(createdAt);
  return { id, object: 'file', bytes, created_at: created, filename: name, purpose, status: 'processed' };
}
