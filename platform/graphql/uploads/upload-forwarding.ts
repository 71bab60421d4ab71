import { randomUUID } from 'node:crypto';

import { type DocumentNode, Kind, type TypeNode } from 'graphql';
import { Upload } from 'graphql-upload-minimal';

import { AppError } from '../../errors.ts';

/** Forwards uploads to a subgraph in another process, as a streamed graphql-multipart-request without buffering. */

/** Variables without their uploads, and the places of those. */
export interface ExtractedUploads {
  /** The variables with null in each upload's place. */
  readonly variables: unknown;
  /** The uploads, each with every path it was found at (one may be used twice). */
  readonly uploads: ReadonlyMap<Upload, readonly string[]>;
}

/**
 * Takes the uploads out of variables; the variables are not changed. With the document, only variables are looked through whose
 * type may hold an upload.
 */
export function extractUploads(
  variables: Readonly<Record<string, unknown>>,
  document?: DocumentNode,
): ExtractedUploads {
  const names = document === undefined ? Object.keys(variables) : namesThatMayHold(document);
  const uploads = new Map<Upload, string[]>();
  if (!names.some((name) => holdsUpload(variables[name]))) return { variables, uploads };
  return { variables: extract(variables, 'variables', uploads), uploads };
}

/** No upload fits these types. Representations (`_Any`) are made of answers. */
const WITHOUT_UPLOADS = new Set(['Boolean', 'Float', 'ID', 'Int', 'String', '_Any']);

const known = new WeakMap<DocumentNode, readonly string[]>();

function namesThatMayHold(document: DocumentNode): readonly string[] {
  const before = known.get(document);
  if (before !== undefined) return before;
  const names = document.definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? (definition.variableDefinitions ?? [])
          .filter(({ type }) => !WITHOUT_UPLOADS.has(readTypeName(type)))
          .map(({ variable }) => variable.name.value)
      : [],
  );
  known.set(document, names);
  return names;
}

function readTypeName(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : readTypeName(type.type);
}

function holdsUpload(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Upload || Object.values(value).some(holdsUpload);
}

function extract(value: unknown, path: string, found: Map<Upload, string[]>): unknown {
  if (value instanceof Upload) {
    found.set(value, [...(found.get(value) ?? []), path]);
    return null;
  }
  if (Array.isArray(value)) return value.map((item, index) => extract(item, `${path}.${index}`, found));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, extract(item, `${path}.${key}`, found)]);
  return Object.fromEntries(entries);
}

/** A request with files, written while it is sent. */
export interface MultipartRequest {
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The multipart request of an operation and its uploads. Files are written in the order of their arrival: on the wire
 * they come one after the other, so waiting for a later one first would never end. A file that exceeds the size limit
 * fails the request (PAYLOAD_TOO_LARGE).
 */
export function multipartRequest(
  operation: { readonly query: string; readonly operationName?: string | undefined },
  { variables, uploads }: ExtractedUploads,
): MultipartRequest {
  const boundary = `kiln-${randomUUID()}`;
  const files = [...uploads.keys()];
  const map = Object.fromEntries(files.map((file, index) => [String(index), uploads.get(file)]));
  const head = [
    formField(boundary, 'operations', JSON.stringify({ ...operation, variables })),
    formField(boundary, 'map', JSON.stringify(map)),
  ].join('');
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: multipartBody({ boundary, head, files }),
  };
}

async function* multipartBody(parts: {
  boundary: string;
  head: string;
  files: readonly Upload[];
}): AsyncGenerator<Uint8Array> {
  yield Buffer.from(parts.head);
  const awaited = new Map(
    parts.files.map((upload, index) => [index, upload.promise.then((file) => ({ index, file }))] as const),
  );
  while (awaited.size > 0) {
    const { index, file } = await Promise.race(awaited.values());
    awaited.delete(index);
    yield Buffer.from(fileHead({ boundary: parts.boundary, name: String(index), file }));
    const stream = file.createReadStream();
    for await (const chunk of stream) yield chunk as Uint8Array;
    if ('truncated' in stream && stream.truncated === true) {
      throw new AppError(
        'PAYLOAD_TOO_LARGE',
        `the file ${JSON.stringify(file.filename)} is larger than allowed`,
      );
    }
    yield Buffer.from('\r\n');
  }
  yield Buffer.from(`--${parts.boundary}--\r\n`);
}

function formField(boundary: string, name: string, value: string): string {
  return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function fileHead({ boundary, name, file }: { boundary: string; name: string; file: UploadedFile }): string {
  return (
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${quoted(file.filename)}"\r\n` +
    `content-type: ${file.mimetype.replace(/[\r\n]/g, ' ')}\r\n\r\n`
  );
}

type UploadedFile = Awaited<Upload['promise']>;

// As in the WHATWG form data encoding: a file name can't break out of its header.
function quoted(fileName: string): string {
  return fileName.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
