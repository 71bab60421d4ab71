import { Readable } from 'node:stream';

import { uploadPart } from '../../../rest-compat/request/upload.ts';
import type { Batch } from '../batch-store/batch.ts';
import type { BatchStore, EndedLine } from '../batch-store/store.ts';
import type { FaceParts } from '../table/route.ts';
import { contextOf } from './owner.ts';

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
    yield textOf(batch, begun);
    for await (const line of results) yield textOf(batch, line);
  }
  const { id } = await uploadPart(
    { executor: parts.executor, context: contextOf(batch, signal) },
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

function textOf(batch: Batch, { index, customId, status, requestId, body }: EndedLine): string {
  const line = {
    id: `batch_req_${batch.id.slice('batch_'.length)}_${index}`,
    custom_id: customId,
    response: { status_code: status, request_id: requestId, body },
    error: null,
  };
  return `${JSON.stringify(line)}\n`;
}
