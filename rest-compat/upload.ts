import { Upload } from 'graphql-upload-minimal';
import type { FileUpload } from 'graphql-upload-minimal';

import type { GraphqlExecutor, RequestContext } from '../platform/graphql/executor.ts';
import type { IncomingFile } from './body/file-part.ts';
import type { Param, UploadedFile } from './params.ts';
import { dataOf } from './replies/failures.ts';
import { operation } from './route.ts';

/** A REST file part becomes a GraphQL `Upload` value: the same mutation, the same rules, nothing held whole. */

/** Stores one file. `cdn` asks for the CDN's address where one is configured. */
export const UploadFile = operation<
  { readonly uploadFile: UploadedFile },
  { readonly file: unknown; readonly temporary: boolean; readonly cdn: boolean }
>(/* GraphQL */ `
  mutation UploadFile($file: Upload!, $temporary: Boolean!, $cdn: Boolean!) {
    uploadFile(file: $file, temporary: $temporary) {
      id
      url(cdn: $cdn)
      contentType
      bytes
      sha256
    }
  }
`);

/** Removes a file that was stored before a better named part of the same request came. */
export const RemoveFile = operation<
  { readonly deleteMedia: { readonly id: string } },
  { readonly id: string }
>(/* GraphQL */ `
  mutation RemoveFile($id: ID!) {
    deleteMedia(id: $id) {
      id
    }
  }
`);

interface Asking {
  readonly executor: GraphqlExecutor;
  readonly context: RequestContext;
}

/** Sends a part while it arrives. Throws what the schema answers, PAYLOAD_TOO_LARGE among it. */
export async function uploadPart(
  { executor, context }: Asking,
  file: IncomingFile,
  param: Param<unknown>,
): Promise<UploadedFile> {
  const { keep } = param;
  const variables = { file: uploadOf(file), temporary: keep === undefined, cdn: keep?.cdn ?? false };
  const result = await executor.execute({ query: UploadFile.text, variables, context });
  // The guard of the part knows best why it broke off; the schema may only have seen a stream that failed.
  if (file.body.errored !== null) throw file.body.errored;
  return dataOf(result)['uploadFile'] as UploadedFile;
}

/** Removes a stored part again. */
export async function removeFile({ executor, context }: Asking, id: string): Promise<void> {
  dataOf(await executor.execute({ query: RemoveFile.text, variables: { id }, context }));
}

/** The class has these methods; its types leave them out. */
type Settled = Upload & { resolve(file: object): void };

function uploadOf(file: IncomingFile): Upload {
  const upload = new Upload() as Settled;
  const value: Omit<FileUpload, 'createReadStream'> & { createReadStream(): IncomingFile['body'] } = {
    filename: file.filename,
    fieldName: file.field,
    mimetype: file.contentType,
    encoding: file.encoding,
    createReadStream: () => file.body,
  };
  upload.resolve(value);
  return upload;
}
