import { Readable } from 'node:stream';

import { AppError } from '../../../platform/errors.ts';
import { HttpFailure } from '../../../platform/http-client.ts';
import type { StoredFile } from '../files/files.ts';
import type { Binding } from '../generators/binding.ts';
import type { RemoteFile } from '../providers/provider.ts';
import type { Engine } from './engine.ts';
import { isWhole } from './whole-file.ts';

/** Bringing one result file into the object store. */
export interface ResultFile {
  readonly file: RemoteFile;
  readonly binding: Binding;
  readonly owner: string;
  /** `image`: what the measured content must be; anything else (an error page) is refused. */
  readonly expected: 'image';
  readonly position: number;
  readonly signal: AbortSignal;
}

/** A result that no further try will bring: the message says why. */
export class HopelessResult extends Error {
  override readonly name = 'HopelessResult';
}

/** A result whose address answers no longer; a fresh one may be asked for. */
class StaleResult extends Error {
  override readonly name = 'StaleResult';
}

/** Stores the file as temporary (the transaction that ends its step claims it). Throws what the storer decides about. */
export async function storeResultFile(engine: Engine, result: ResultFile): Promise<StoredFile> {
  const { file } = result;
  try {
    const stored =
      'content' in file
        ? await store(engine, result, { body: Readable.from([file.content]), type: file.contentType })
        : await download(engine, result, file);
    if (!stored.contentType.startsWith(`${result.expected}/`)) {
      throw new StaleResult(
        `the upstream answered with ${stored.contentType} instead of an ${result.expected}`,
      );
    }
    if (!(await isWhole(engine.files, stored))) throw new StaleResult('its end is missing');
    return stored;
  } catch (error) {
    // Bytes that are here already will not become others.
    if (error instanceof StaleResult && 'content' in file) {
      throw new HopelessResult(error.message, { cause: error });
    }
    if (isTooLarge(error)) {
      throw new HopelessResult(`it is larger than ${engine.limits.maxOutputBytes} bytes`, { cause: error });
    }
    throw error;
  }
}

async function download(
  engine: Engine,
  result: ResultFile,
  file: Extract<RemoteFile, { url: string }>,
): Promise<StoredFile> {
  const { connection } = result.binding;
  const { status, headers, body } = await engine.http.download({
    method: 'GET',
    url: file.url,
    headers: file.headers ?? {},
    timeoutMs: engine.limits.downloadTimeoutMs,
    maxBytes: engine.limits.maxOutputBytes,
    signal: result.signal,
    retry: 'never',
    trustedOrigins: [new URL(connection.baseUrl).origin, ...connection.resultOrigins],
  });
  if (status !== 200) {
    body.destroy();
    throw new StaleResult(`fetching it answered HTTP ${status}`);
  }
  const stored = await store(engine, result, { body, type: headers['content-type'] ?? null });
  const promised = headers['content-encoding'] === undefined ? headers['content-length'] : undefined;
  if (promised !== undefined && Number(promised) !== stored.bytes) {
    throw new StaleResult(`it was cut: ${stored.bytes} of ${promised} bytes came`);
  }
  return stored;
}

function store(
  engine: Engine,
  { owner, position, signal }: ResultFile,
  content: { readonly body: AsyncIterable<Uint8Array>; readonly type: string | null },
): Promise<StoredFile> {
  return engine.files.store({
    owner,
    body: content.body,
    name: `result-${position + 1}`,
    declaredType: content.type,
    temporary: true,
    maxBytes: engine.limits.maxOutputBytes,
    signal,
  });
}

function isTooLarge(error: unknown): boolean {
  if (error instanceof HttpFailure) return error.code === 'TOO_LARGE';
  return error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE';
}
