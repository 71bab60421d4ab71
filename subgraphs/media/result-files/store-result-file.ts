import { Readable } from 'node:stream';

import { AppError } from '../../../platform/errors.ts';
import { HttpFailure, type HttpClient } from '../../../platform/http/http-client.ts';
import { type Failure, UpstreamError } from '../domain/failure.ts';
import type { ResultKind } from '../domain/work/kind.ts';
import type { FileService, StoredFile } from '../files/files.ts';
import type { Binding } from '../generators/bindings/binding.ts';
import type { Connection, RemoteFile } from '../providers/contract/provider.ts';
import { isWhole } from './whole-file.ts';

/** What storing result files needs. */
export interface ResultDependencies {
  readonly http: HttpClient;
  readonly files: FileService;
  readonly limits: ResultLimits;
}

/** How large results may be, and how long they may take to come. */
export interface ResultLimits {
  /** Largest one, in bytes. */
  readonly maxOutputBytes: number;
  /** Longest time for one try to fetch one, in milliseconds; the largest ones take minutes. */
  readonly resultTimeoutMs: number;
  /** Wait for the first bytes of a file, then between chunks, in milliseconds. */
  readonly downloadTimeoutMs: number;
}

/** One result file, to be brought into the object store. */
export interface ResultFile {
  readonly file: RemoteFile;
  readonly binding: Binding;
  readonly owner: string;
  /** What it must be, as measured. */
  readonly kind: ResultKind;
  readonly position: number;
  readonly signal: AbortSignal;
}

/** A result that no retry will bring; the message says why. */
export class PermanentResultError extends Error {
  override readonly name = 'PermanentResultError';
}

/** A result whose address no longer works; a fresh one may be fetched. */
class StaleResult extends Error {
  override readonly name = 'StaleResult';
}

/** Stores the file as temporary (the transaction that ends its step claims it). Throws what the storer decides about. */
export async function storeResultFile(
  dependencies: ResultDependencies,
  result: ResultFile,
): Promise<StoredFile> {
  const { file } = result;
  try {
    const stored =
      'content' in file
        ? await store(dependencies, result, { body: Readable.from([file.content]), type: file.contentType })
        : await download(dependencies, result, file);
    const { types, label } = result.kind;
    if (!types.some((type) => stored.contentType.startsWith(type))) {
      throw new StaleResult(`the upstream answered with ${stored.contentType} instead of ${label}`);
    }
    if (!(await isWhole(dependencies.files, stored))) throw new StaleResult('its end is missing');
    return stored;
  } catch (error) {
    // Bytes that were received already do not change.
    if (error instanceof StaleResult && 'content' in file) {
      throw new PermanentResultError(error.message, { cause: error });
    }
    if (isTooLarge(error)) {
      throw new PermanentResultError(`it is larger than ${dependencies.limits.maxOutputBytes} bytes`, {
        cause: error,
      });
    }
    throw error;
  }
}

async function download(
  dependencies: ResultDependencies,
  result: ResultFile,
  file: Extract<RemoteFile, { url: string }>,
): Promise<StoredFile> {
  const { limits } = dependencies;
  const timeout = AbortSignal.timeout(limits.resultTimeoutMs);
  const signal = AbortSignal.any([result.signal, timeout]);
  try {
    return await downloadUntil(dependencies, { ...result, signal }, file);
  } catch (error) {
    if (error instanceof HttpFailure && error.code === 'REFUSED_ADDRESS')
      throw refusedAddress(file.url, error);
    if (!timeout.aborted || result.signal.aborted) throw error;
    throw new StaleResult(`it did not come within ${limits.resultTimeoutMs / 1_000} s`, { cause: error });
  }
}

/** Asking again is no use: only an operator can let this process fetch from there. */
function refusedAddress(url: string, cause: HttpFailure): PermanentResultError {
  const origin = URL.parse(url)?.origin ?? 'there';
  const remedy = `an operator allows it with resultOrigins of the binding in GENERATORS_FILE, or with OUTBOUND_ALLOW`;
  const message = `REFUSED_ADDRESS: its address at ${origin} is not public; ${remedy}`;
  return new PermanentResultError(message, { cause });
}

/** Statuses of a server, or a proxy before it, that has the result and can't give it now. */
const AWAY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

async function downloadUntil(
  dependencies: ResultDependencies,
  result: ResultFile,
  file: Extract<RemoteFile, { url: string }>,
): Promise<StoredFile> {
  const { status, headers, body } = await dependencies.http.download({
    method: 'GET',
    url: file.url,
    headers: file.headers ?? {},
    timeoutMs: dependencies.limits.downloadTimeoutMs,
    maxBytes: dependencies.limits.maxOutputBytes,
    signal: result.signal,
    retry: 'never',
    trustedOrigins: collectOrigins(result.binding.connection),
  });
  if (status !== 200) {
    body.destroy();
    const message = `fetching it answered HTTP ${status}`;
    throw AWAY.has(status) ? new UpstreamError('UNAVAILABLE', message) : new StaleResult(message);
  }
  const stored = await store(dependencies, result, { body, type: headers['content-type'] ?? null });
  const promised = headers['content-encoding'] === undefined ? headers['content-length'] : undefined;
  if (promised !== undefined && Number(promised) !== stored.bytes) {
    throw new StaleResult(`it was cut: ${stored.bytes} of ${promised} bytes came`);
  }
  return stored;
}

function store(
  dependencies: ResultDependencies,
  { owner, kind, position, signal }: ResultFile,
  content: { readonly body: AsyncIterable<Uint8Array>; readonly type: string | null },
): Promise<StoredFile> {
  return dependencies.files.store({
    owner,
    body: content.body,
    name: `${kind.name}-${position + 1}`,
    declaredType: content.type,
    temporary: true,
    maxBytes: dependencies.limits.maxOutputBytes,
    signal,
  });
}

/** The origins that results may come from: the upstream itself, its machines, and the configured ones. */
function collectOrigins({ baseUrl, nodes, endpoints = {}, resultOrigins }: Connection): readonly string[] {
  return [
    ...[baseUrl, ...nodes, ...Object.values(endpoints)].map((url) => new URL(url).origin),
    ...resultOrigins,
  ];
}

/** A result that could not be stored, and why, as far as callers may know. */
export function storageFailure(thrown: unknown): Failure {
  const isSafe = SAFE.some((type) => thrown instanceof type);
  const reason = isSafe ? `: ${(thrown as Error).message}` : '';
  return { code: 'STORAGE_FAILED', message: `the result could not be stored${reason}`, retryable: false };
}

/** The errors whose messages callers may see. */
const SAFE = [AppError, HttpFailure, PermanentResultError, StaleResult, UpstreamError];

/** Whether our own object store is unavailable: nothing is wrong with the result, so it is kept and tried again. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAVAILABLE';
}

/** Whether the upstream that keeps the result can't be reached, or can't give it, for now. */
export function isSourceAway(error: unknown): boolean {
  if (error instanceof HttpFailure) return error.code === 'CONNECT';
  const isAway = error instanceof UpstreamError && ['UNAVAILABLE', 'RATE_LIMITED'].includes(error.code);
  return isAway && error.retryable;
}

function isTooLarge(error: unknown): boolean {
  if (error instanceof HttpFailure) return error.code === 'TOO_LARGE';
  return error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE';
}
