import { Upload } from 'graphql-upload-minimal';
import type { FileUpload } from 'graphql-upload-minimal';

import type { GraphqlExecutor, RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { Json } from '../../platform/json.ts';
import { dataOf } from '../replies/failures.ts';
import type { Destination, Param, UploadedFile } from '../route/params.ts';
import { operation } from '../route/route.ts';
import type { Operation } from '../route/route.ts';
import { MalformedBody } from './body/failures.ts';
import type { IncomingFile } from './body/file-part.ts';

/** A REST file part becomes a GraphQL `Upload` value: the same mutation, the same rules, nothing held whole. */

/** Stores one file. `cdn` asks for the CDN's address where one is configured. */
const UploadFile = operation<
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

interface ResourceAnswer {
  readonly id: string;
  readonly uri: string | null;
  readonly extra: Json;
  readonly media: Omit<UploadedFile, 'id' | 'resource'>;
}

const resourceAnswer = /* GraphQL */ `
  fragment ResourceAnswer on ProviderResource {
    id
    uri
    extra
    media {
      url
      contentType
      bytes
      sha256
    }
  }
`;

type ToProvider = Operation<
  { readonly upload: ResourceAnswer },
  { readonly generator: string; readonly file: unknown }
>;

/** Stores one file and sends it on to the storage of a generator's provider. */
const UploadToProvider: ToProvider = operation(/* GraphQL */ `
  mutation UploadToProvider($generator: String!, $file: Upload!) {
    upload: uploadToProvider(generator: $generator, file: $file) {
      ...ResourceAnswer
    }
  }
  ${resourceAnswer}
`);

/** The same for a sample of a voice that is to be cloned. */
const UploadVoiceSample: ToProvider = operation(/* GraphQL */ `
  mutation UploadVoiceSample($generator: String!, $file: Upload!) {
    upload: uploadVoiceSample(generator: $generator, file: $file) {
      ...ResourceAnswer
    }
  }
  ${resourceAnswer}
`);

/** The same for a face or a voice of a lip-sync. */
const UploadLipSyncResource: ToProvider = operation(/* GraphQL */ `
  mutation UploadLipSyncResource($generator: String!, $only: [String!], $file: Upload!) {
    upload: uploadLipSyncResource(generator: $generator, only: $only, file: $file) {
      ...ResourceAnswer
    }
  }
  ${resourceAnswer}
`);

/** Removes a file that was stored before a better named part of the same request came. */
const RemoveFile = operation<{ readonly deleteMedia: { readonly id: string } }, { readonly id: string }>(
  /* GraphQL */ `
    mutation RemoveFile($id: ID!) {
      deleteMedia(id: $id) {
        id
      }
    }
  `,
);

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
  const { query, variables } = requestFor(param, uploadOf(file));
  const result = await executor.execute({ query, variables, context });
  // The guard of the part knows best why it broke off; the schema may only have seen a stream that failed.
  const { errored } = file.body;
  if (errored !== null) throw errored.cause instanceof MalformedBody ? errored.cause : errored;
  const data = dataOf(result);
  if (data['uploadFile'] !== undefined) return data['uploadFile'] as UploadedFile;
  const { id, uri, extra, media } = data['upload'] as ResourceAnswer;
  return { ...media, id, resource: { uri, extra } };
}

function requestFor({ destination, accepts }: Param<unknown>, file: Upload) {
  if (destination === undefined || destination.to === 'files') {
    const { keep = false, cdn = false } = destination ?? {};
    return { query: UploadFile.text, variables: { file, temporary: !keep, cdn } };
  }
  const { to, generator } = destination;
  const only = to === 'lip-sync' && accepts !== undefined ? { only: accepts } : {};
  return { query: toProvider[to].text, variables: { generator, file, ...only } };
}

const toProvider = {
  provider: UploadToProvider,
  'voice-samples': UploadVoiceSample,
  'lip-sync': UploadLipSyncResource,
} as const;

/** Whether a file of this parameter stays until somebody removes it. */
export function isPermanent({ destination }: Param<unknown>): boolean {
  return destination !== undefined && (destination.to !== 'files' || destination.keep);
}

/** Every document that storing a part may run. */
export function documentsOfUpload(destination: Destination): readonly string[] {
  if (destination.to !== 'files') return [toProvider[destination.to].text, RemoveFile.text];
  return destination.keep ? [UploadFile.text, RemoveFile.text] : [UploadFile.text];
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
