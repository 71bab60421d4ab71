import { randomUUID } from 'node:crypto';

import { toError } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { bytes, json, type Answer } from '../../http/answer.ts';
import { readForm } from '../../http/multipart.ts';
import { jsonObject, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { type Job, type JobResult, withoutWords } from '../../jobs/job.ts';
import { parseImageDataUrl, readText } from '../shared/inputs.ts';
import { inputImages, storeInputs, type MediaTools } from '../shared/perform.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { invalid, moderated, openaiError, refuse } from './errors.ts';
import { imagesBody, readImageBody } from './images.ts';
import { perform } from './perform.ts';
import { toRefusal, type OpenaiContext } from './start.ts';

/**
 * Files and batches of images: a batch is a job that makes its lines one after the other, each journalled as the start of its
 * `custom_id`, so that a batch of a process that was killed goes on where it was.
 */

const ENDPOINTS = ['/v1/images/generations', '/v1/images/edits'];
const DAY_SECONDS = 86_400;

/** The routes of files and batches. */
export function batchRoutes(context: OpenaiContext): WireRoute[] {
  const route = (
    method: WireRoute['method'],
    path: string,
    operation: string,
    handle: WireRoute['handle'],
  ): WireRoute => ({ method, path, operation, handle });
  return [
    route('POST', '/v1/files', 'upload', (request) => uploadFile(context, request)),
    route('GET', '/v1/files/:id/content', 'file-content', (request) => fileContent(context, request)),
    route('DELETE', '/v1/files/:id', 'delete-file', async ({ params: { id = '' } }) => {
      const name = uploadedName(context.runner.get(id));
      if (name === undefined) return noSuch('File', id);
      await context.journal.removeImage(name);
      await context.runner.forget(id);
      return json({ id, object: 'file', deleted: true });
    }),
    route('POST', '/v1/batches', 'batches', (request, fault) =>
      createBatch(context, request, toJobFault(fault)),
    ),
    route('GET', '/v1/batches', 'list-batches', (request) => listBatches(context, request)),
    route('GET', '/v1/batches/:id', 'batch', ({ params }) => {
      const job = batchJob(context, params['id']);
      return job === null ? noSuch('batch', params['id']) : json(batchJson(job));
    }),
    route('POST', '/v1/batches/:id/cancel', 'cancel-batch', async ({ params }) => {
      const job = batchJob(context, params['id']);
      if (job === null) return noSuch('batch', params['id']);
      if (!(await context.runner.cancel(job.id))) {
        return openaiError(409, {
          message: 'Cannot cancel a batch that has ended.',
          type: 'invalid_request_error',
        });
      }
      return json(batchJson(batchJob(context, job.id) ?? job));
    }),
  ];
}

async function uploadFile({ runner, journal }: OpenaiContext, request: WireRequest): Promise<Answer> {
  const form = await readForm(request);
  const file = form?.files.find(({ field }) => field === 'file');
  if (form === null || file === undefined)
    return invalid('A file is needed, as multipart/form-data.', 'file');
  const purpose = form.fields['purpose'];
  if (purpose === undefined) return invalid('Missing required parameter.', 'purpose');
  const id = `file-${randomUUID().replaceAll('-', '')}`;
  const images = await storeInputs(journal, id, [file.bytes]);
  const input = { purpose, filename: file.name, bytes: file.bytes.length, pictures: images };
  const job = await runner.submit({ id, operation: 'file', reference: null, input, fault: null });
  if (job === null) return refuse(429, 'Too many requests wait already.');
  return json({
    id,
    object: 'file',
    bytes: file.bytes.length,
    created_at: seconds(job.submittedAt),
    filename: file.name,
    purpose,
    status: 'processed',
  });
}

/** An uploaded file, or one of a batch's results: `BATCH-output`, `BATCH-errors`. */
async function fileContent(
  { runner, journal }: OpenaiContext,
  { params: { id = '' } }: WireRequest,
): Promise<Answer> {
  const batch = runner.get(id.replace(/-(?:output|errors)$/, ''));
  const name =
    batch?.operation === 'batch'
      ? batch.result?.files.find((file) => file.name === `${id}.jsonl`)?.name
      : uploadedName(runner.get(id));
  const content = name === undefined ? null : await journal.readImage(name);
  return content === null ? noSuch('File', id) : bytes(content, 'application/octet-stream');
}

function uploadedName(job: Job | null): string | undefined {
  const [name] = Array.isArray(job?.input['pictures']) ? job.input['pictures'] : [];
  return job?.operation === 'file' && typeof name === 'string' ? name : undefined;
}

async function createBatch(
  { runner, journal }: OpenaiContext,
  request: WireRequest,
  fault: Job['fault'],
): Promise<Answer> {
  const body = jsonObject(request);
  const { input_file_id: inputFile, endpoint, completion_window: window, metadata } = body ?? {};
  if (typeof endpoint !== 'string' || !ENDPOINTS.includes(endpoint))
    return invalid('This endpoint has no batches here.', 'endpoint');
  if (window !== '24h') return invalid('The completion window must be 24h.', 'completion_window');
  const file = uploadedName(runner.get(readText(inputFile) ?? ''));
  const content = file === undefined ? null : await journal.readImage(file);
  if (content === null) return invalid(`No such File object: ${readText(inputFile)}`, 'input_file_id');
  const id = `batch_${randomUUID().replaceAll('-', '')}`;
  const job = await runner.submit({
    id,
    operation: 'batch',
    reference: null,
    input: {
      endpoint,
      inputFile,
      metadata: metadata ?? null,
      total: linesIn(content).length,
    } as JsonObject,
    fault,
  });
  return job === null ? refuse(429, 'Too many requests wait already.') : json(batchJson(job));
}

function listBatches({ runner }: OpenaiContext, { query }: WireRequest): Answer {
  const all = runner.list().filter(({ operation }) => operation === 'batch');
  const after = query.get('after');
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const limit = Math.min(100, Math.max(1, Number(query.get('limit') ?? 20)));
  const data = all.slice(from, from + limit).map(batchJson);
  return json({ object: 'list', data, has_more: from + limit < all.length });
}

function batchJob({ runner }: OpenaiContext, id = ''): Job | null {
  const job = runner.get(id);
  return job?.operation === 'batch' ? job : null;
}

const STATES = {
  queued: 'validating',
  running: 'in_progress',
  finished: 'completed',
  failed: 'expired',
  cancelled: 'cancelled',
} as const;

function batchJson({ id, input, state, submittedAt, endedAt, result }: Job): object {
  const { completed = 0, failed = 0 } = result?.facts ?? {};
  const files = new Set(result?.files.map(({ name }) => name));
  const findFile = (kind: string) => (files.has(`${id}-${kind}.jsonl`) ? `${id}-${kind}` : null);
  return {
    id,
    object: 'batch',
    endpoint: input['endpoint'],
    errors: null,
    input_file_id: input['inputFile'],
    completion_window: '24h',
    status: STATES[state],
    output_file_id: findFile('output'),
    error_file_id: findFile('errors'),
    created_at: seconds(submittedAt),
    expires_at: seconds(submittedAt) + DAY_SECONDS,
    ...(endedAt !== null && { [`${STATES[state]}_at`]: seconds(endedAt) }),
    request_counts: { total: input['total'], completed, failed },
    metadata: input['metadata'],
  };
}

function noSuch(what: string, id = ''): Answer {
  const message = `No such ${what} object: ${id}`;
  return openaiError(404, { message, type: 'invalid_request_error', param: 'id' });
}

function seconds(moment: number): number {
  return Math.floor(moment / 1_000);
}

function linesIn(content: Buffer): string[] {
  return content
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** Makes every line of a batch, and its files of results. */
export async function performBatch(tools: MediaTools, batch: Job, signal: AbortSignal): Promise<JobResult> {
  const file = tools.journal.get(readText(batch.input['inputFile']) ?? '');
  const [content] = file === null ? [] : await inputImages(tools.journal, file.input);
  const ended: { readonly isGood: boolean; readonly text: string }[] = [];
  for (const [index, text] of linesIn(content ?? Buffer.alloc(0)).entries()) {
    signal.throwIfAborted();
    const line = JSON.parse(text) as { custom_id: string; body: Record<string, unknown> };
    const { status, body } = await answerLine(tools, { batch, index, line, signal }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        return refused(toRefusal(toError(error).message, 'edits'));
      },
    );
    const response = { status_code: status, request_id: `req_${randomUUID()}`, body };
    const result = { id: `batch_req_${index}`, custom_id: line.custom_id, response, error: null };
    ended.push({ isGood: status < 400, text: `${JSON.stringify(result)}\n` });
  }
  const files: JobResult['files'][number][] = [];
  for (const [kind, isGood] of [
    ['output', true],
    ['errors', false],
  ] as const) {
    const own = ended.filter((one) => one.isGood === isGood);
    if (own.length === 0) continue;
    const name = `${batch.id}-${kind}.jsonl`;
    await tools.journal.writeImage(name, Buffer.from(own.map(({ text }) => text).join('')));
    files.push({ name, contentType: 'application/jsonl' });
  }
  const completed = ended.filter(({ isGood }) => isGood).length;
  return { files, texts: [], facts: { completed, failed: ended.length - completed } };
}

interface Line {
  readonly batch: Job;
  readonly index: number;
  readonly line: { readonly custom_id: string; readonly body: Record<string, unknown> };
  readonly signal: AbortSignal;
}

async function answerLine(tools: MediaTools, { batch, index, line, signal }: Line) {
  const { custom_id: reference, body } = line;
  const { journal } = tools;
  const sources = [...toList(body['images']), ...toList(body['mask'])].map((source) =>
    parseImageDataUrl((source as { image_url?: unknown }).image_url),
  );
  const read = readImageBody(body, body['mask'] !== undefined);
  if ('answer' in read) return refused(read.answer);
  if (sources.includes(null)) return refused(invalid('Images must be data: URLs here.', 'images'));
  if (findBannedWord(read.input.prompt) !== null) return refused(moderated());
  const id = `${batch.id}-${index}`;
  const known = journal.get(id);
  if (known !== null) return { status: 200, body: await imagesBody(journal, known) };
  const images = await storeInputs(
    journal,
    id,
    sources.flatMap((source) => source?.bytes ?? []),
  );
  const input = { ...read.input, pictures: images };
  const job = { ...batch, id, reference, operation: 'images', input, submittedAt: Date.now() };
  const result = await perform(tools, job, signal, () => undefined);
  const made = { ...job, state: 'finished', endedAt: Date.now(), result } as const;
  // Of a line nobody asks: its images are in the results.
  await journal.save(withoutWords(made));
  return { status: 200, body: await imagesBody(journal, made) };
}

function toList(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function refused({ status, body }: Answer) {
  return { status, body: JSON.parse(body as string) as object };
}
