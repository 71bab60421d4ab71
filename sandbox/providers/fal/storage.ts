import { createHash, randomUUID } from 'node:crypto';

import type { Logger } from '../../../platform/process/logger.ts';
import { bytes, empty, json, type Answer } from '../../http/answer.ts';
import { jsonObject, type Wire, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { LatencyProfile } from '../../jobs/latency-profile.ts';
import { readText } from '../shared/inputs.ts';
import type { StandIn } from '../shared/stand-in.ts';
import { invalid, platformError } from './answers.ts';
import { answerOpenapi } from './schemas.ts';

/** The name of fal's other services in faults and latencies, and their mount: storage, the keys of its webhooks, and what describes its models. */
export const FAL_REST = 'fal-rest';

export interface FalStorageOptions {
  readonly journal: Journal;
  readonly latency: () => LatencyProfile;
  /** The key required for starting an upload. */
  readonly secret: string | null;
  /** The public key of webhooks, as a JWK. */
  readonly publicKey: object;
  readonly logger: Logger;
}

/** Uploaded files, with URLs that need no key, and the key set. An upload is stored as a job without work, so that it is deleted like one. */
export function createFalStorage(options: FalStorageOptions): StandIn {
  const { journal } = options;
  const runner = createJobRunner({
    wire: FAL_REST,
    journal,
    latency: options.latency,
    perform: () => Promise.resolve({ files: [], texts: [], facts: {} }),
    words: { moderate: '', fail: '' },
    logger: options.logger,
  });
  const wire: Wire = {
    name: FAL_REST,
    mount: 'fal-rest',
    refuse: (status, message) => platformError(status, message),
    routes: [
      ...fileRoutes(runner, options),
      {
        method: 'GET',
        path: '/api/openapi/queue/openapi.json',
        operation: 'schema',
        handle: answerOpenapi,
      },
      {
        method: 'GET',
        path: '/.well-known/jwks.json',
        operation: 'keys',
        handle: () => json({ keys: [options.publicKey] }),
      },
    ],
  };
  return { wire, runner };
}

function fileRoutes(runner: JobRunner, { journal, secret }: FalStorageOptions): WireRoute[] {
  return [
    ...['/storage/upload/initiate', '/storage/upload/initiate-multipart'].map((path): WireRoute => ({
      method: 'POST',
      path,
      operation: 'initiate',
      handle: (request) => initiate(runner, secret, request),
    })),
    {
      method: 'POST',
      path: '/storage/auth/token',
      operation: 'initiate',
      handle: (request) => storageToken(secret, request),
    },
    {
      method: 'POST',
      path: '/files/upload',
      operation: 'put',
      handle: (request) => putWhole(runner, journal, request),
    },
    {
      method: 'GET',
      path: '/files/:id',
      operation: 'file',
      handle: (request) => fetchFile(runner, journal, request),
    },
    {
      method: 'PUT',
      path: '/upload/:id/:part',
      operation: 'put',
      handle: (request) => putPart(runner, journal, request),
    },
    {
      method: 'POST',
      path: '/upload/:id/complete',
      operation: 'complete',
      handle: (request) => complete(runner, journal, request),
    },
    {
      method: 'PUT',
      path: '/upload/:id',
      operation: 'put',
      handle: (request) => put(runner, journal, request),
    },
  ];
}

function unauthorized(secret: string | null, { headers }: WireRequest): Answer | null {
  const credential = headers['authorization'];
  return credential === undefined || (secret !== null && credential !== `Key ${secret}`)
    ? platformError(401, 'Cannot access storage. Authentication is required.')
    : null;
}

const TOKEN_MS = 3_600_000;

/** What fal's Python client uploads with: a token for the host of the files. */
function storageToken(secret: string | null, request: WireRequest): Answer {
  return (
    unauthorized(secret, request) ??
    json({
      token: randomUUID(),
      token_type: 'Bearer',
      base_url: request.baseUrl,
      expires_at: new Date(Date.now() + TOKEN_MS).toISOString().replace('Z', '+00:00'),
    })
  );
}

/** A whole file in one request. */
async function putWhole(runner: JobRunner, journal: Journal, request: WireRequest): Promise<Answer> {
  if (request.headers['authorization']?.startsWith('Bearer ') !== true) return empty(401);
  const id = randomUUID();
  const input = {
    contentType: request.headers['content-type'] ?? 'application/octet-stream',
    pictures: [`${id}-input-0`],
  };
  await runner.submit({ id, operation: 'upload', reference: null, input, fault: null });
  await journal.writeImage(`${id}-input-0`, request.body);
  return json({ access_url: `${request.baseUrl}/files/${id}` });
}

async function initiate(runner: JobRunner, secret: string | null, request: WireRequest): Promise<Answer> {
  const refusal = unauthorized(secret, request);
  if (refusal !== null) return refusal;
  const requested = jsonObject(request);
  const contentType = readText(requested?.['content_type']);
  const name = readText(requested?.['file_name']);
  if (contentType === null) return invalid(['content_type'], 'Field required', 'missing');
  if (name === null) return invalid(['file_name'], 'Field required', 'missing');
  const id = randomUUID();
  const input = { contentType, pictures: [`${id}-input-0`] };
  await runner.submit({ id, operation: 'upload', reference: null, input, fault: null });
  return json({ file_url: `${request.baseUrl}/files/${id}`, upload_url: `${request.baseUrl}/upload/${id}` });
}

async function put(runner: JobRunner, journal: Journal, request: WireRequest): Promise<Answer> {
  const { id = '' } = request.params;
  if (runner.get(id) === null) return empty(403);
  await journal.writeImage(`${id}-input-0`, request.body);
  return empty(200);
}

/** Parts are numbered from 1. */
const toPartName = (id: string, part: number) => `${id}-part-${part}`;
const MAX_PARTS = 1_000;

async function putPart(runner: JobRunner, journal: Journal, { params, body }: WireRequest): Promise<Answer> {
  const { id = '' } = params;
  const part = Number(params['part']);
  if (runner.get(id) === null) return empty(403);
  if (!(part >= 1 && part <= MAX_PARTS)) return empty(400);
  await journal.writeImage(toPartName(id, part), body);
  const etag = createHash('md5').update(body).digest('hex');
  return json({ partNumber: part, etag });
}

async function complete(runner: JobRunner, journal: Journal, request: WireRequest): Promise<Answer> {
  const { id = '' } = request.params;
  if (runner.get(id) === null) return empty(403);
  const named: unknown = jsonObject(request)?.['parts'];
  const numbers = (Array.isArray(named) ? named : []).map((part: { readonly partNumber?: unknown }) =>
    Number(part.partNumber),
  );
  const parts = await Promise.all(numbers.map((part) => journal.readImage(toPartName(id, part))));
  if (parts.length === 0 || parts.includes(null))
    return platformError(400, 'A part of the upload is missing');
  await journal.writeImage(`${id}-input-0`, Buffer.concat(parts.filter((part) => part !== null)));
  return empty(200);
}

async function fetchFile(runner: JobRunner, journal: Journal, { params }: WireRequest): Promise<Answer> {
  const job = runner.get(params['id'] ?? '');
  const content = job === null ? null : await journal.readImage(`${job.id}-input-0`);
  return content === null ? empty(404) : bytes(content, readText(job?.input['contentType']) ?? '');
}
