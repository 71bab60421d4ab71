import type { IncomingMessage } from 'node:http';

import busboy from 'busboy';

import { AppError, toError } from '../../../platform/errors.ts';
import { declaredBytes } from '../../../platform/graphql/uploads/request-bytes.ts';
import type { UploadedFile } from '../../route/param.ts';
import { ClientDisconnected, MalformedBody, refuseEncodedBody, requireSender } from './body.ts';
import { limitedBody, isEmpty, type IncomingFile } from './file-part.ts';

/** The text fields and the stored file parts of a form, urlencoded or multipart. */
export interface FormBody {
  /** Of a repeated field the last value. */
  readonly fields: ReadonlyMap<string, string>;
  /** Of a repeated field every value, in order. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** In the order of arrival. Empty file inputs of browsers (no name, no byte) are left out. */
  readonly files: readonly StoredPart[];
  /** False when there was no body, or one of another type, which is not read. */
  readonly isForm: boolean;
}

/** A file part after it was read. */
export interface StoredPart {
  readonly field: string;
  /** Null when the part was not stored, because the request is refused anyway. */
  readonly file: UploadedFile | null;
}

export interface FormOptions {
  readonly request: IncomingMessage;
  /** Largest file part in bytes. */
  readonly fileMaxBytes: number;
  /**
   * Stores one part while it streams; gets the text fields that came before it, and resolves to null when the part is not
   * wanted after all. Null: file parts are discarded.
   */
  readonly store:
    | ((file: IncomingFile, before: ReadonlyMap<string, string>) => Promise<UploadedFile | null>)
    | null;
}

/** Bounds of a form; beyond them the response is 413. Only text is held in memory. */
const limits = {
  fields: 200,
  files: 20,
  parts: 220,
  fieldNameSize: 200,
  fieldSize: 1024 * 1024,
  headerPairs: 100,
} as const;
const textMaxBytes = 4 * 1024 * 1024;

const formType = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\s*(?:;|$)/i;

interface Reader {
  readonly fields: Map<string, string>;
  readonly values: Map<string, string[]>;
  readonly stored: Promise<StoredPart | null>[];
  /** Bytes of text so far. */
  textBytes: number;
  /** Ends the reading with an error; later ones are ignored. */
  readonly fail: (thrown: unknown) => void;
}

/**
 * Reads a form of any order of parts in one pass. Throws MalformedBody, ClientDisconnected, PAYLOAD_TOO_LARGE or whatever `store`
 * throws, as soon as it is known; the caller then responds, and drains the rest of the body.
 */
export async function readFormBody(options: FormOptions): Promise<FormBody> {
  const { request } = options;
  refuseEncodedBody(request);
  if (!hasBody(request) || !formType.test(request.headers['content-type']?.trim() ?? '')) {
    return { fields: new Map(), values: new Map(), files: [], isForm: false };
  }
  requireSender(request);
  const parser = createParser(request);
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      request.off('close', cut).off('error', cut);
      request.unpipe(parser);
    };
    const reader: Reader = {
      fields: new Map(),
      values: new Map(),
      stored: [],
      textBytes: 0,
      fail: (thrown) => {
        stop();
        reject(thrown);
        parser.destroy();
      },
    };
    // `close` also comes after a complete body, perhaps before the parser has finished.
    const cut = (): void => {
      if (!request.complete) reader.fail(new ClientDisconnected());
    };
    listen(parser, reader, options);
    parser.on('finish', () => {
      stop();
      collect(reader).then(resolve, reject);
    });
    request.on('close', cut).on('error', cut);
    request.pipe(parser);
  });
}

/** Many clients set a form's content type and send nothing: that is no form, not a malformed one. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function createParser(request: IncomingMessage): busboy.Busboy {
  try {
    return busboy({ headers: request.headers, defParamCharset: 'utf8', limits });
  } catch (error) {
    throw new MalformedBody(toError(error).message, { cause: error });
  }
}

function listen(parser: busboy.Busboy, reader: Reader, options: FormOptions): void {
  const tooMany = (what: string) => () => reader.fail(tooLarge(`the form has too many ${what}`));
  parser.on('field', (name, value, info) => takeField(reader, { name, value, info }));
  parser.on('file', (field, part, { filename, mimeType, encoding }) => {
    const body = limitedBody(part, options.fileMaxBytes);
    // busboy leaves both undefined when the part does not name them; its types know it of the file name only.
    const file = {
      field: (field as string | undefined) ?? '',
      filename: filename ?? '',
      contentType: mimeType,
      encoding,
      body,
      requestBytes: declaredBytes(options.request),
    };
    const stored = takeFile(file, options.store, reader.fields);
    stored.catch(reader.fail);
    reader.stored.push(stored);
  });
  parser.on('fieldsLimit', tooMany('fields'));
  parser.on('filesLimit', tooMany('files'));
  parser.on('partsLimit', tooMany('parts'));
  // Errors of the parser itself; those of `fail` come back here and are ignored.
  parser.on('error', (error) => reader.fail(new MalformedBody(toError(error).message, { cause: error })));
}

interface Field {
  readonly name: string | undefined;
  readonly value: string;
  readonly info: busboy.FieldInfo;
}

function takeField(reader: Reader, { name, value, info }: Field): void {
  reader.textBytes += Buffer.byteLength(value);
  if (info.valueTruncated || info.nameTruncated || reader.textBytes > textMaxBytes) {
    reader.fail(
      tooLarge(`the text fields of a form may have ${textMaxBytes} bytes, ${limits.fieldSize} each`),
    );
    return;
  }
  if (name === undefined) return;
  reader.fields.set(name, value);
  const values = reader.values.get(name);
  if (values === undefined) reader.values.set(name, [value]);
  else values.push(value);
}

async function takeFile(
  file: IncomingFile,
  store: FormOptions['store'],
  fields: ReadonlyMap<string, string>,
): Promise<StoredPart | null> {
  const before = new Map(fields);
  try {
    if (file.filename === '' && (await isEmpty(file.body))) return null;
    return { field: file.field, file: store === null ? null : await store(file, before) };
  } finally {
    // Discards what was not read, so that the parser reaches the rest of the form.
    file.body.destroy();
  }
}

async function collect(reader: Reader): Promise<FormBody> {
  const parts = await Promise.all(reader.stored);
  const { fields, values } = reader;
  return { fields, values, files: parts.filter((part) => part !== null), isForm: true };
}

function tooLarge(message: string): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', message);
}
