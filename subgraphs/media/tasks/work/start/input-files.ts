import type { Readable } from 'node:stream';

import { internalCaller } from '../../../../../platform/access/caller.ts';
import { AppError } from '../../../../../platform/errors.ts';
import { HttpFailure, type HttpClient } from '../../../../../platform/http/http-client.ts';
import { withErrors } from '../../../../../platform/object-store/streams.ts';
import { invalidInput, UpstreamError } from '../../../domain/failure.ts';
import {
  wrongFormat,
  type FileKind,
  type InputRef,
  type InputFile,
} from '../../../domain/inputs/input-files.ts';
import { joinWork, listWorkFiles, placeFiles, splitWork } from '../../../domain/work/files.ts';
import { toWorkRequest, type WorkRequest } from '../../../domain/work/request.ts';
import type { StepInput } from '../../../domain/work/work.ts';
import type { FileService, StoredFile } from '../../../files/files.ts';
import type { InputAddress } from '../../../files/input-addresses.ts';
import type { ProviderResources } from '../../../files/provider-resources.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { modelFor } from '../../../generators/limits/limits.ts';
import { isStoreUnavailable } from '../../../result-files/store-result-file.ts';
import { type WorkerLimits, DEFAULT_LIMITS } from '../attempts/dependencies.ts';

/** What preparing inputs needs. */
export interface InputDependencies {
  readonly http: HttpClient;
  readonly files: FileService;
  readonly resources: ProviderResources;
  readonly limits: WorkerLimits;
  /** Where the upstream of a binding can fetch an input file; null when it could not reach us. */
  readonly inputAddress: InputAddress;
}

/**
 * An input file as its provider takes it. Files of ours are opened in the object store; a foreign URL is fetched by the
 * worker, under the outbound rule and a size limit, and stored as a temporary file.
 */
export interface InputOptions {
  readonly owner: string;
  /** The binding that will do the work: a copy that its provider already has is not sent again. */
  readonly binding: Binding;
  readonly signal: AbortSignal;
  /** Aborts fetches that are too slow: a host that sends byte by byte must not hold the slot for hours. */
  readonly timeout: AbortSignal;
}

interface FieldOfInput {
  readonly field: string;
  readonly kind: FileKind;
}

const GONE = 'the file is gone; upload it again';

/** Throws UpstreamError INVALID_INPUT, naming the field, when the file can't be had or is of the wrong kind. */
export async function prepareFile(
  dependencies: InputDependencies,
  ref: InputRef,
  { field, kind }: FieldOfInput,
  options: InputOptions,
): Promise<InputFile> {
  const file =
    'fileId' in ref
      ? await ownFile(dependencies, ref.fileId)
      : await fetchFile(dependencies, ref.url, field, options);
  if (file === null) throw invalidInput(field, GONE);
  // Files of ours were checked when the work came in; what must be MP4 is so costly that it is checked again.
  const wrong = 'url' in ref || kind === 'mp4' ? wrongFormat(kind, file.contentType) : null;
  if (wrong !== null) throw invalidInput(field, wrong);
  return {
    name: file.name,
    contentType: file.contentType,
    bytes: file.bytes,
    publicUrl: await dependencies.inputAddress(file, options.binding),
    uploaded: await uploadedCopy(dependencies, file, options),
    open: () => openInput(dependencies.files, file.id, field),
  };
}

/**
 * A file of ours as a provider reads it. Where it can't be read the request was not sent whole, so that nothing has started:
 * it is tried again while our store is away.
 */
async function openInput(files: Pick<FileService, 'open'>, id: string, field: string): Promise<Readable> {
  const toFailure = (error: unknown): UpstreamError => {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return invalidInput(field, GONE, error);
    // The provider is not at fault.
    const options = { isPartial: true, field, cause: error };
    return new UpstreamError('UNAVAILABLE', `${field}: the file can't be read now`, options);
  };
  const body = await files.open(id).catch((error: unknown) => {
    throw toFailure(error);
  });
  return withErrors(body, toFailure);
}

/** The copy of the file that the binding's provider still has, where it stores files. */
async function uploadedCopy(
  { resources }: InputDependencies,
  { id }: StoredFile,
  { binding }: InputOptions,
): Promise<InputFile['uploaded']> {
  if (binding.provider.upload === undefined) return null;
  const [uploaded] = await resources.ofMedia([id], binding);
  return uploaded ? { id: uploaded.resourceId, uri: uploaded.uri } : null;
}

async function ownFile(dependencies: InputDependencies, id: string): Promise<StoredFile | null> {
  const [file] = await dependencies.files.byIds([id]);
  return file ?? null;
}

/** Fetches a file from a caller's URL and stores it for a while. Throws UpstreamError INVALID_INPUT naming the field. */
async function fetchFile(
  { http, files, limits }: Pick<InputDependencies, 'http' | 'files' | 'limits'>,
  url: string,
  field: string,
  { owner, signal, timeout }: Omit<InputOptions, 'binding'>,
): Promise<StoredFile> {
  const ending = AbortSignal.any([signal, timeout]);
  try {
    const { status, headers, body } = await http.download({
      method: 'GET',
      url,
      timeoutMs: limits.downloadTimeoutMs,
      maxBytes: limits.maxInputBytes,
      signal: ending,
      retry: 'safe',
    });
    if (status !== 200) {
      body.destroy();
      throw invalidInput(field, `fetching it answered HTTP ${status}`);
    }
    return await files.store({
      owner,
      body,
      name: readName(url),
      declaredType: headers['content-type'] ?? null,
      temporary: true,
      maxBytes: limits.maxInputBytes,
      signal: ending,
    });
  } catch (error) {
    if (signal.aborted || error instanceof UpstreamError) throw error;
    // Not the caller's fault: the start is tried again.
    if (isStoreUnavailable(error)) throw error;
    if (timeout.aborted) {
      throw invalidInput(field, `it could not be fetched within ${limits.inputsTimeoutMs / 1_000} s`, error);
    }
    if (error instanceof HttpFailure || error instanceof AppError) {
      throw invalidInput(field, `it could not be fetched: ${error.message}`, error);
    }
    throw error;
  }
}

function readName(url: string): string {
  return new URL(url).pathname.split('/').at(-1) || 'input';
}

interface ForeignInput {
  readonly url: string;
  readonly field: string;
  /** What it must be. */
  readonly kind: FileKind;
  readonly signal: AbortSignal;
}

/** Milliseconds for one input: somebody waits for the check. */
const TIMEOUT_MS = 30_000;

/** Fetches inputs as the worker will, for checks before anything is paid. What was fetched is deleted after a while. */
export function createInputFetcher(parts: Pick<InputDependencies, 'http' | 'files'>) {
  const { id: owner } = internalCaller('');
  const dependencies = { ...parts, limits: { ...DEFAULT_LIMITS, inputsTimeoutMs: TIMEOUT_MS } };
  /** Throws UpstreamError INVALID_INPUT, naming the field, when the file can't be had or is of the wrong kind. */
  return async ({ url, field, kind, signal }: ForeignInput): Promise<void> => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const { contentType } = await fetchFile(dependencies, url, field, { owner, signal, timeout });
    const wrong = wrongFormat(kind, contentType);
    if (wrong !== null) throw invalidInput(field, wrong);
  };
}

/** A step's input as its provider takes it. Throws UpstreamError INVALID_INPUT, naming the field, when an input can't be had. */
export async function prepareRequest(
  dependencies: InputDependencies,
  input: StepInput,
  options: Omit<InputOptions, 'timeout'>,
): Promise<WorkRequest> {
  const timeout = AbortSignal.timeout(dependencies.limits.inputsTimeoutMs);
  const files: InputFile[] = [];
  const parts = splitWork(input);
  // In sequence: a foreign host gets one request at a time.
  for (const { file, ...field } of parts.files) {
    files.push(await prepareFile(dependencies, file, field, { ...options, timeout }));
  }
  const prepared = joinWork({ ...parts, files: placeFiles(parts.files, files) });
  const request = toWorkRequest(prepared, modelFor(options.binding, input));
  if (request !== null) return request;
  throw new UpstreamError('INVALID_INPUT', 'audio: is needed', { field: 'audio' });
}

/** Whether preparing this input fetches something first. */
export function fetchesInput(input: StepInput): boolean {
  return listWorkFiles(input).some(({ file }) => 'url' in file);
}
