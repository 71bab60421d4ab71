import { type KeyScope, mayChange, mayRead } from '../../../platform/access/caller.ts';
import { enforce, enforceScope } from '../../../platform/access/policy.ts';
import { AppError, badInput, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { type Batch, batchEndpoints, toBatchObject } from '../batch-store/batch.ts';
import { FaceFileById } from '../documents/file.ts';
import { readJson, neededText, objectIn, wordIn, readPage } from '../request/fields.ts';
import type { FaceAnswer, FaceCall, FaceRoute } from '../table/route.ts';
import { toBatchCaller } from './owner.ts';

/** Ids of batches; no other text reaches the database. */
const ID = /^batch_[0-9a-f]{32}$/;

/** Largest input of a batch in bytes. */
const MOST_BYTES = 200 << 20;

/** Batches: many calls whose results are a file. */
export const batchRoutes: readonly FaceRoute[] = [
  {
    method: 'POST',
    path: '/batches',
    summary: 'Runs the calls of a file, after everybody who waits.',
    rateClass: 'start',
    documents: [FaceFileById],
    run: createBatch,
  },
  {
    method: 'GET',
    path: '/batches',
    summary: "The caller's own batches, newest first.",
    rateClass: 'read',
    documents: [],
    run: listBatches,
  },
  {
    method: 'GET',
    path: '/batches/{id}',
    summary: 'A batch, and how many of its calls have ended.',
    rateClass: 'status',
    documents: [],
    run: async (call) => ({ body: toBatchObject(await readBatch(call, 'read')) }),
  },
  {
    method: 'POST',
    path: '/batches/{id}/cancel',
    summary: 'Begins no more calls of a batch; its results are those of the calls that have begun.',
    rateClass: 'write',
    documents: [],
    async run(call) {
      const batch = await readBatch(call, 'manage');
      if (!mayChange(call.context.caller, batch.owner)) throw notFound('batch', batch.id);
      const { store } = requireStore(call);
      return { body: toBatchObject((await store.cancel(batch.id)) ?? (await store.find(batch.id)) ?? batch) };
    },
  },
];

async function createBatch(call: FaceCall): Promise<FaceAnswer> {
  const { store, wake } = requireStore(call);
  const { caller } = call.context;
  const body = await readJson(call);
  const inputFile = neededText(body, 'input_file_id');
  const endpoint = wordIn(body, 'endpoint', batchEndpoints);
  if (endpoint === undefined) throw badInput('endpoint', "Missing required parameter: 'endpoint'.");
  wordIn(body, 'completion_window', ['24h'] as const);
  const metadata = metadataIn(body);
  // Its calls need it too, and would all be refused later.
  enforceScope(caller, 'start');
  const { media } = await runDocument(call, FaceFileById, { id: inputFile });
  if (media === null) throw badInput('input_file_id', `there is no file ${inputFile}`);
  if (media.bytes > MOST_BYTES)
    throw badInput('input_file_id', `the file must have at most ${MOST_BYTES} bytes`);
  const batch = await store.create({
    id: `batch_${newId().replaceAll('-', '')}`,
    owner: caller.id,
    caller: toBatchCaller(caller),
    endpoint,
    inputFile,
    metadata,
  });
  wake();
  return { body: toBatchObject(batch) };
}

/** Up to 16 texts of 512 characters, under names of 64. */
function metadataIn(body: JsonObject): JsonObject | null {
  const metadata = objectIn(body, 'metadata') ?? null;
  if (metadata === null) return null;
  const entries = Object.entries(metadata);
  const areTexts = entries.every(
    ([name, value]) => name.length <= 64 && typeof value === 'string' && value.length <= 512,
  );
  if (areTexts && entries.length <= 16) return metadata;
  throw badInput('metadata', 'metadata must be up to 16 texts of 512 characters, under names of 64');
}

async function listBatches(call: FaceCall): Promise<FaceAnswer> {
  const { caller } = call.context;
  const isKnown = caller.kind !== 'anonymous' || call.settings.authMode === 'open';
  if (!isKnown) throw new AppError('UNAUTHENTICATED', 'a list of batches needs a credential');
  enforceScope(caller, 'read');
  const { first, after } = readPage(call.query);
  if (after !== null && !ID.test(after)) throw badInput('after', `there is no batch ${after}`);
  const { batches, hasMore } = await requireStore(call).store.list(caller.id, { first, after });
  // The description of an empty list has neither.
  const ends = batches.length === 0 ? {} : { first_id: batches[0]?.id, last_id: batches.at(-1)?.id };
  return { body: { object: 'list', data: batches.map(toBatchObject), ...ends, has_more: hasMore } };
}

/** A batch that the caller may see; a key needs the scope of what it is read for. */
async function readBatch(call: FaceCall, scope: KeyScope): Promise<Batch> {
  // No document of the graph is run here, whose rule would say it.
  enforce('owner', call.context.caller, call.settings.authMode);
  enforceScope(call.context.caller, scope);
  const id = call.pathParams['id'] ?? '';
  const batch = ID.test(id) ? await requireStore(call).store.find(id) : undefined;
  if (batch === undefined || !mayRead(call.context.caller, batch.owner)) throw notFound('batch', id);
  return batch;
}

function requireStore({ batches }: FaceCall) {
  if (batches !== null) return batches;
  throw new AppError('NOT_CONFIGURED', 'batches need the database: set DATABASE_URL for this gateway');
}
