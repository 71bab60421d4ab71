import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { CallContext, Handle, JobCapability, JobStatus } from '../contract/provider.ts';
import { beforeStart, createExchange, type Exchange, type ExchangeAnswer } from '../shared/exchange.ts';
import { encodeForm } from '../shared/request-body.ts';
import { createCollector, type BatchLine } from './batch-collector.ts';
import { createBatchResults, unanswered, type BatchResults } from './batch-results.ts';
import { imageLine } from './images.ts';
import { read as readAnswer, throwRefusal, throwStartRefusal } from './wire.ts';

/**
 * Images in the vendor's own batches: half the price, within a day. Attempts that start at about the same time share one, each as a
 * line. Which lines a batch has is in its metadata, so that a start can be found again after a crash.
 */

const POLL_MS = 3_000;
const UPLOAD_TIMEOUT_MS = 300_000;
const CREATE_TIMEOUT_MS = 60_000;
/** Milliseconds for which the status of a batch serves all of its lines. */
const STATUS_KEPT_MS = 1_000;
/** Seconds for which the vendor keeps input and results. */
const FILES_KEPT_SECONDS = 259_200;
/** Pages of a hundred batches in which a start is looked for, and the age in seconds beyond which there is none. */
const MOST_PAGES = 20;
const FOUND_WITHIN_SECONDS = 259_200;

const batchAnswer = z.object({
  id: z.string().min(1),
  status: z.string(),
  created_at: z.number(),
  input_file_id: z.string().nullish(),
  output_file_id: z.string().nullish(),
  error_file_id: z.string().nullish(),
  errors: z
    .object({ data: z.array(z.object({ message: z.string().nullish() })).nullish() })
    .nullish()
    .catch(null),
  request_counts: z
    .object({ total: z.number(), completed: z.number(), failed: z.number() })
    .nullish()
    .catch(null),
  metadata: z.record(z.string(), z.string()).nullish().catch(null),
});
type Batch = z.output<typeof batchAnswer>;
const batchList = z.object({ data: z.array(batchAnswer), has_more: z.boolean().nullish() });
const uploaded = z.object({ id: z.string().min(1) });

/** The job of images in batches. */
export function imageBatches({ http }: { readonly http: HttpClient }): JobCapability<RequestOf<'IMAGE'>> {
  const exchange = createExchange(http);
  const collector = createCollector((lines) => sendBatch(exchange, lines));
  const results = createBatchResults(http);
  const batches = new LRUCache<string, Promise<Batch>>({ max: 1_000, ttl: STATUS_KEPT_MS });
  const read = (id: string, context: CallContext): Promise<Batch> => {
    const known = batches.get(id);
    if (known !== undefined) return known;
    // For all of its lines: not by the signal of one of them.
    const reading = readBatch(exchange, id, { ...context, signal: AbortSignal.timeout(CREATE_TIMEOUT_MS) });
    batches.set(id, reading);
    reading.catch(() => batches.delete(id));
    return reading;
  };
  return {
    pollMs: POLL_MS,
    sharedBy: 'batch',
    async start(request, context) {
      const { reference } = context;
      const { endpoint, model, body } = await imageLine(request, context);
      const text = JSON.stringify({ custom_id: reference, method: 'POST', url: endpoint, body });
      return { batch: await collector.add({ endpoint, model, text, context }), line: reference };
    },
    find: (reference, context) => find(exchange, reference, context),
    async status(handle, context) {
      const { batch, line } = readIds(handle);
      return readStatus(results, await read(batch, context), { line, context });
    },
    async cancel(handle, context) {
      const path = `/batches/${encodeURIComponent(readIds(handle).batch)}/cancel`;
      const answer = await exchange(context, { method: 'POST', path, retry: 'safe' });
      // It has ended.
      if (answer.status === 400 || answer.status === 404 || answer.status === 409) return 'too-late';
      throwRefusal(answer);
      return 'cancelled';
    },
    erase: (handle, context) => eraseInput(exchange, readIds(handle).batch, context),
  };
}

/** Ends of a batch: nothing reads its lines any more. */
const ENDED = new Set(['completed', 'expired', 'cancelled', 'failed']);

/** Deletes the lines that a batch was made of, once it has ended. Its results may be awaited by other lines; they go by themselves. */
async function eraseInput(exchange: Exchange, batch: string, context: CallContext): Promise<void> {
  const { status, input_file_id: file } = await readBatch(exchange, batch, context);
  if (!ENDED.has(status)) throw new UpstreamError('UNAVAILABLE', 'openai: the batch still reads its lines');
  if (file == null) return;
  const path = `/files/${encodeURIComponent(file)}`;
  const answer = await exchange(context, { method: 'DELETE', path, retry: 'safe' });
  if (answer.status !== 404) throwRefusal(answer);
}

/** Uploads the lines and makes a batch of them. Nothing has begun before the batch is made. */
async function sendBatch(exchange: Exchange, lines: readonly BatchLine[]): Promise<string> {
  const [first] = lines;
  if (first === undefined) throw new Error('a batch without lines');
  const { connection } = first.context;
  const file = await beforeStart(upload(exchange, lines, connection));
  const held = await Promise.all(lines.map(async ({ context }) => (await context.confirm?.()) ?? true));
  // Somebody else may have begun one of them meanwhile.
  if (held.includes(false)) throw new UpstreamError('UNAVAILABLE', 'openai: the batch was not sent in time');
  const answer = await exchange(
    { connection, signal: AbortSignal.timeout(CREATE_TIMEOUT_MS) },
    {
      method: 'POST',
      path: '/batches',
      json: {
        input_file_id: file,
        endpoint: first.endpoint,
        completion_window: '24h',
        metadata: createMarks(lines.map(({ context }) => context.reference)),
        output_expires_after: { anchor: 'created_at', seconds: FILES_KEPT_SECONDS },
      },
      timeoutMs: CREATE_TIMEOUT_MS,
    },
  );
  throwStartRefusal(answer);
  return readAnswer(batchAnswer, answer).id;
}

async function upload(
  exchange: Exchange,
  lines: readonly BatchLine[],
  connection: CallContext['connection'],
): Promise<string> {
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('expires_after[anchor]', 'created_at');
  form.append('expires_after[seconds]', String(FILES_KEPT_SECONDS));
  const content = new Blob([lines.map(({ text }) => `${text}\n`).join('')], { type: 'application/jsonl' });
  form.append('file', content, 'kiln.jsonl');
  const { bytes, headers } = await encodeForm(form);
  const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
  const answer = await exchange(
    { connection, signal },
    { method: 'POST', path: '/files', bytes, headers, timeoutMs: UPLOAD_TIMEOUT_MS },
  );
  throwStartRefusal(answer);
  return readAnswer(uploaded, answer).id;
}

/** Characters of a line's mark, and marks in one text of the metadata, of which a batch has 16 of 512 characters. */
const MARK_LENGTH = 12;
const MARKS_PER_TEXT = 42;

function createMark(reference: string): string {
  return createHash('sha256').update(reference).digest('hex').slice(0, MARK_LENGTH);
}

/** The lines of a batch as its metadata has them. */
function createMarks(references: readonly string[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (let from = 0; from < references.length; from += MARKS_PER_TEXT) {
    const marks = references.slice(from, from + MARKS_PER_TEXT).map(createMark);
    texts[`kiln_lines_${from / MARKS_PER_TEXT}`] = marks.join('');
  }
  return texts;
}

function hasMark({ metadata }: Batch, mark: string): boolean {
  return Object.entries(metadata ?? {}).some(([name, text]) => {
    if (!name.startsWith('kiln_lines_')) return false;
    for (let at = 0; at < text.length; at += MARK_LENGTH) if (text.startsWith(mark, at)) return true;
    return false;
  });
}

async function find(
  exchange: Exchange,
  reference: string,
  context: CallContext,
): Promise<Handle | 'absent' | 'unknowable'> {
  const mark = createMark(reference);
  let after = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const path = `/batches?limit=100${after}`;
    const answer = await exchange(context, { method: 'GET', path, retry: 'safe' });
    throwRefusal(answer);
    const { data, has_more: hasMore } = readAnswer(batchList, answer);
    const found = data.find((batch) => hasMark(batch, mark));
    if (found !== undefined) return { batch: found.id, line: reference };
    const last = data.at(-1);
    const isOld = last === undefined || last.created_at < Date.now() / 1_000 - FOUND_WITHIN_SECONDS;
    if (isOld || hasMore !== true) return 'absent';
    after = `&after=${encodeURIComponent(last.id)}`;
  }
  return 'unknowable';
}

async function readBatch(exchange: Exchange, id: string, context: CallContext): Promise<Batch> {
  const path = `/batches/${encodeURIComponent(id)}`;
  const answer: ExchangeAnswer = await exchange(context, { method: 'GET', path, retry: 'safe' });
  throwRefusal(answer);
  return readAnswer(batchAnswer, answer);
}

/** Of these ends those with results: of an expired or cancelled one those that were made in time. */
const WITH_RESULTS = new Set(['completed', 'expired', 'cancelled']);

async function readStatus(
  results: BatchResults,
  batch: Batch,
  { line, context }: { readonly line: string; readonly context: CallContext },
): Promise<JobStatus> {
  const { id, status, errors, request_counts: counts } = batch;
  if (status === 'validating') return { state: 'queued' };
  if (status === 'failed') {
    return { state: 'failed', error: unanswered(errors?.data?.[0]?.message ?? 'its input was refused') };
  }
  if (!WITH_RESULTS.has(status)) return { state: 'running', progress: computeProgress(counts) };
  // Lines that are done were paid for: their file is named later.
  if ((counts?.completed ?? 0) > 0 && batch.output_file_id == null) return { state: 'running', progress: 99 };
  const files = [batch.output_file_id, batch.error_file_id].filter((file) => file != null);
  const lines = await results.read({ id, files }, context);
  if (lines === null) return { state: 'running', progress: 99 };
  const result = lines.get(line) ?? { error: unanswered(status) };
  return 'error' in result
    ? { state: 'failed', error: result.error }
    : { state: 'finished', outcome: result.outcome };
}

/** What of a batch is done; of one line nothing is known. */
function computeProgress(counts: Batch['request_counts']): number | null {
  if (!counts || counts.total === 0) return null;
  return Math.min(99, Math.floor((100 * (counts.completed + counts.failed)) / counts.total));
}

function readIds({ batch, line }: Handle): { readonly batch: string; readonly line: string } {
  if (typeof batch === 'string' && typeof line === 'string') return { batch, line };
  throw new UpstreamError('LOST', 'openai: the handle names no line of a batch');
}
