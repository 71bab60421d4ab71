import { Readable } from 'node:stream';

import type { JsonObject } from '../../../platform/json.ts';
import { uploadPart } from '../../../rest-compat/request/upload.ts';
import type { BatchEndpoint, BatchLine, BatchProblem, Batch } from '../batch-store/batch.ts';
import type { BatchStore, EndedLine } from '../batch-store/store.ts';
import { isObject } from '../request/fields.ts';
import type { FaceParts } from '../table/route.ts';
import { createOwnerContext } from './owner.ts';

/** Reads the input of a batch: JSON Lines, each `{ custom_id, method, url, body }`. */

/** Most lines of a batch. */
const MOST_LINES = 50_000;
/** Longest line in bytes. */
const MOST_BYTES = 1 << 20;
/** Problems that are told; more are not looked for. */
const MOST_PROBLEMS = 20;

/** The file is not a batch, and why. */
export class BadBatch extends Error {
  readonly problems: readonly BatchProblem[];

  constructor(problems: readonly BatchProblem[]) {
    super('the input of a batch is invalid');
    this.name = 'BadBatch';
    this.problems = problems;
  }
}

/** The calls of a file, in its order. Throws BadBatch at the end of a file with problems. */
export async function* readLines(file: Readable, endpoint: BatchEndpoint): AsyncGenerator<BatchLine> {
  const problems: BatchProblem[] = [];
  const names = new Set<string>();
  let index = 0;
  let number = 0;
  for await (const text of readTexts(file)) {
    number += 1;
    if (text.trim() === '') continue;
    const read = readLine(text, endpoint, names);
    if ('code' in read) problems.push({ ...read, line: number });
    else if (index === MOST_LINES) problems.push(tooMany());
    else if (problems.length === 0) yield { ...read, index: index++ };
    if (problems.length === MOST_PROBLEMS || problems.at(-1)?.code === 'too_many_tasks') break;
  }
  if (problems.length === 0 && index === 0) {
    problems.push({ code: 'empty_file', message: 'The input file has no lines.', param: null, line: null });
  }
  if (problems.length > 0) throw new BadBatch(problems);
}

type Read = Omit<BatchLine, 'index'> | Omit<BatchProblem, 'line'>;

function readLine(text: string, endpoint: BatchEndpoint, names: Set<string>): Read {
  let value: unknown;
  try {
    value = text.length > MOST_BYTES ? null : JSON.parse(text);
  } catch {
    value = null;
  }
  if (!isObject(value as JsonObject)) {
    return problem('invalid_json_line', `This line is not a JSON object of at most ${MOST_BYTES} bytes.`);
  }
  const { custom_id: name, method, url, body } = value as JsonObject;
  if (typeof name !== 'string' || name === '' || name.length > 512) {
    return problem(
      'missing_required_parameter',
      'custom_id must be a text of 1 to 512 characters.',
      'custom_id',
    );
  }
  if (names.has(name))
    return problem('duplicate_custom_id', `The custom_id ${name} is used twice.`, 'custom_id');
  if (method !== 'POST') return problem('invalid_method', 'method must be POST.', 'method');
  if (url !== endpoint)
    return problem('mismatched_endpoint', `url must be the batch's own: ${endpoint}.`, 'url');
  if (!isObject(body)) return problem('missing_required_parameter', 'body must be an object.', 'body');
  const wrong = findWrongField(body);
  if (wrong !== null) return wrong;
  names.add(name);
  return { customId: name, body };
}

/** What a call of a batch can't have: nobody reads its stream, and results of 50,000 images fit no file. */
function findWrongField({ stream, response_format: format }: JsonObject): Read | null {
  if (stream === true) return problem('invalid_request', 'stream is not for batches.', 'body.stream');
  if (format === 'b64_json') {
    return problem('invalid_request', 'images of batches come by url.', 'body.response_format');
  }
  return null;
}

function problem(code: string, message: string, param: string | null = null): Omit<BatchProblem, 'line'> {
  return { code, message, param };
}

function tooMany(): BatchProblem {
  return { ...problem('too_many_tasks', `A batch has at most ${MOST_LINES} lines.`), line: null };
}

/** The lines of a file; of one that is too long only its beginning is kept. */
async function* readTexts(file: Readable): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of file as AsyncIterable<Buffer>) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    for (const [position, part] of parts.entries()) {
      rest = rest.length > MOST_BYTES ? rest : rest + part;
      if (position === parts.length - 1) break;
      yield rest;
      rest = '';
    }
  }
  if (rest !== '') yield rest;
}

/** The results of a batch as files of its owner, in JSON Lines. */

/** What is written of a batch, and where from. */
interface Writing {
  readonly parts: FaceParts;
  readonly store: BatchStore;
  readonly batch: Batch;
  readonly signal: AbortSignal;
}

/** Stores the results of the calls that ended well (`output`), or of the others (`error`): the id of the file, null when there are none. */
export async function storeResults(
  { parts, store, batch, signal }: Writing,
  kind: 'output' | 'error',
): Promise<string | null> {
  const results = store.endedLines(batch.id, kind === 'error');
  const first = await results.next();
  if (first.done === true) return null;
  async function* texts(begun: EndedLine): AsyncGenerator<string> {
    yield toResultLine(batch, begun);
    for await (const line of results) yield toResultLine(batch, line);
  }
  const { id } = await uploadPart(
    { executor: parts.executor, context: createOwnerContext(batch, signal) },
    {
      field: 'file',
      filename: `${batch.id}_${kind}.jsonl`,
      contentType: 'application/jsonl',
      encoding: '7bit',
      body: Readable.from(texts(first.value), { objectMode: false }),
      requestBytes: null,
    },
    { destination: { to: 'files', keep: true, cdn: false } },
  );
  return id;
}

function toResultLine(batch: Batch, { index, customId, status, requestId, body }: EndedLine): string {
  const line = {
    id: `batch_req_${batch.id.slice('batch_'.length)}_${index}`,
    custom_id: customId,
    response: { status_code: status, request_id: requestId, body },
    error: null,
  };
  return `${JSON.stringify(line)}\n`;
}
