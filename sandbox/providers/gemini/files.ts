import { createHash, randomInt, randomUUID } from 'node:crypto';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import { storeInputs } from '../shared/perform.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { exhausted, googleError, invalid, noFile } from './errors.ts';

/** The Files API: a file is PROCESSING until its job has ended, and gone after two days. */
export interface Files {
  /** POST /upload/v1beta/files: starts an upload. */
  begin(request: WireRequest): Answer;
  /** POST to an upload's URL: the bytes, whole or in chunks. */
  finish(request: WireRequest, fault: Fault | null): Promise<Answer>;
  /** GET /v1beta/files/{id}. */
  show(request: WireRequest, fault: Fault | null): Promise<Answer>;
  /** GET /v1beta/files: newest first, in pages. */
  list(request: WireRequest): Answer;
  /** DELETE /v1beta/files/{id}. */
  remove(request: WireRequest): Promise<Answer>;
  /** The journal's name of the file at a URL, or why it can't be used. */
  findContent(uri: string): { readonly name: string } | { readonly answer: Answer };
}

interface BegunUpload {
  readonly displayName: string | null;
  readonly mimeType: string;
  readonly bytes: number;
  /** What has come so far. */
  readonly chunks: readonly Buffer[];
}

const KEPT_MS = 48 * 3_600_000;
/** Most unfinished uploads; the oldest is dropped beyond it. */
const MAX_BEGUN = 1_000;

interface Shelf {
  readonly runner: JobRunner;
  readonly journal: Journal;
  /** Unfinished uploads by id. */
  readonly begun: Map<string, BegunUpload>;
}

/** Creates the files of one runner. */
export function createFiles(parts: Omit<Shelf, 'begun'>): Files {
  const shelf: Shelf = { ...parts, begun: new Map() };
  return {
    begin: (request) => begin(shelf, request),
    finish: (request, fault) => finish(shelf, request, fault),
    async show({ params, baseUrl }, fault) {
      const { id = '' } = params;
      if (fault?.fault === 'lost' || fault?.fault === 'lost-silently') await shelf.runner.forget(id);
      const file = findFile(shelf, id);
      return file === null ? noFile(id) : json(fileJson(file, baseUrl));
    },
    list: (request) => list(shelf, request),
    async remove({ params }) {
      const { id = '' } = params;
      if (findFile(shelf, id) === null) return noFile(id);
      await shelf.runner.forget(id);
      return json({});
    },
    findContent(uri) {
      const id = /\/files\/([\w-]+)$/.exec(uri)?.[1] ?? '';
      const file = findFile(shelf, id);
      const name = Array.isArray(file?.input['pictures']) ? file.input['pictures'][0] : undefined;
      if (file === null || typeof name !== 'string') return { answer: noFile(id) };
      if (file.state === 'finished') return { name };
      const message = `The File ${id} is not in an ACTIVE state and usage is not allowed.`;
      return { answer: googleError('FAILED_PRECONDITION', message) };
    },
  };
}

function list(shelf: Shelf, { query, baseUrl }: WireRequest): Answer {
  const size = Math.min(100, Number(query.get('pageSize') ?? 10) || 10);
  const from = Number(query.get('pageToken') ?? 0) || 0;
  const all = shelf.runner.list().filter(({ id }) => findFile(shelf, id) !== null);
  const files = all.slice(from, from + size).map((file) => fileJson(file, baseUrl));
  return json({ files, ...(from + size < all.length && { nextPageToken: String(from + size) }) });
}

function findFile({ runner }: Shelf, id: string): Job | null {
  const job = runner.get(id);
  return job?.operation === 'file' && Date.now() - job.submittedAt < KEPT_MS ? job : null;
}

function begin({ begun }: Shelf, request: WireRequest): Answer {
  const { headers, baseUrl } = request;
  const mimeType = headers['x-goog-upload-header-content-type'];
  const isStart =
    headers['x-goog-upload-protocol'] === 'resumable' && headers['x-goog-upload-command'] === 'start';
  if (!isStart || mimeType === undefined) {
    return invalid('This stand-in takes resumable uploads with a type.');
  }
  const uploadId = randomUUID();
  const bytes = Number(headers['x-goog-upload-header-content-length']);
  begun.set(uploadId, { mimeType, bytes, displayName: readDisplayName(request), chunks: [] });
  const [oldest] = begun.keys();
  if (begun.size > MAX_BEGUN && oldest !== undefined) begun.delete(oldest);
  return json({}, 200, {
    'x-goog-upload-status': 'active',
    'x-goog-upload-url': `${baseUrl}/upload/v1beta/files?upload_id=${uploadId}&upload_protocol=resumable`,
  });
}

async function finish(
  { runner, journal, begun }: Shelf,
  { query, headers, body: chunk, baseUrl }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const uploadId = query.get('upload_id') ?? '';
  const begunUpload = begun.get(uploadId);
  if (begunUpload === undefined) return googleError('NOT_FOUND', 'Upload not found.');
  const received = Buffer.concat([...begunUpload.chunks, chunk]);
  const offset = Number(headers['x-goog-upload-offset'] ?? 'NaN');
  if (offset !== received.length - chunk.length) {
    return invalid(`Invalid request. The upload is at offset ${received.length - chunk.length}.`);
  }
  const commands = (headers['x-goog-upload-command'] ?? '').split(/,\s*/);
  if (!commands.includes('upload') || received.length > begunUpload.bytes) {
    return invalid(
      'Invalid request. X-Goog-Upload-Command must be upload, and no more may come than was said.',
    );
  }
  if (!commands.includes('finalize')) {
    begun.set(uploadId, { ...begunUpload, chunks: [received] });
    return json({}, 200, {
      'x-goog-upload-status': 'active',
      'x-goog-upload-size-received': String(received.length),
    });
  }
  if (received.length !== begunUpload.bytes) {
    return invalid('Invalid request. The upload is shorter than was said.');
  }
  begun.delete(uploadId);
  const body = received;
  const id = newFileId();
  const sha256Hash = createHash('sha256').update(body).digest('base64');
  const images = await storeInputs(journal, id, [body]);
  const { mimeType, displayName } = begunUpload;
  const input = { mimeType, displayName, sizeBytes: String(body.length), sha256Hash, pictures: images };
  const jobFault = toJobFault(fault);
  const job = await runner.submit({ id, operation: 'file', reference: null, input, fault: jobFault });
  if (job === null) return exhausted(3);
  return json({ file: fileJson(job, baseUrl) }, 200, { 'x-goog-upload-status': 'final' });
}

function readDisplayName(request: WireRequest): string | null {
  const file = jsonObject(request)?.['file'];
  const name = typeof file === 'object' && file !== null && 'display_name' in file ? file.display_name : null;
  return typeof name === 'string' ? name : null;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A file id in Google's format: twelve lower-case letters and digits. */
function newFileId(): string {
  return Array.from({ length: 12 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

const STATES = {
  queued: 'PROCESSING',
  running: 'PROCESSING',
  finished: 'ACTIVE',
  failed: 'FAILED',
  cancelled: 'FAILED',
} as const;

function fileJson({ id, input, state, submittedAt, endedAt, failure }: Job, baseUrl: string): object {
  return {
    name: `files/${id}`,
    ...(input['displayName'] !== null && { displayName: input['displayName'] }),
    mimeType: input['mimeType'],
    sizeBytes: input['sizeBytes'],
    createTime: new Date(submittedAt).toISOString(),
    updateTime: new Date(endedAt ?? submittedAt).toISOString(),
    expirationTime: new Date(submittedAt + KEPT_MS).toISOString(),
    sha256Hash: input['sha256Hash'],
    uri: `${baseUrl}/v1beta/files/${id}`,
    state: STATES[state],
    source: 'UPLOADED',
    ...(failure !== null && { error: { code: 13, message: failure } }),
  };
}
