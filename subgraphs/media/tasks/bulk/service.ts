import { enforceGenerator, listedOwner, mayChange, type Caller } from '../../../../platform/access/caller.ts';
import { lockTransaction } from '../../../../platform/database/advisory-lock.ts';
import { AppError, badInput, notFound } from '../../../../platform/errors.ts';
import { isUuid, newId } from '../../../../platform/ids.ts';
import type { Queue } from '../../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { asJson, type TaskFilter } from '../../domain/task.ts';
import { stepKinds } from '../../domain/work/work.ts';
import { TASK_QUEUE_OPTIONS } from '../rules/queues.ts';
import {
  type BulkAction,
  type BulkJob,
  type BulkOperation,
  type BulkService,
  BULK_QUEUE,
  MOST_RUNNING,
  MOST_TASKS,
} from './bulk.ts';
import { countMatching, endOperation, readOperation } from './store.ts';

interface Parts {
  readonly database: MediaDatabase;
  readonly queue: Queue;
}

/** Makes the service: it notes what is to be done, the worker does it task by task. */
export function createBulkService(parts: Parts): BulkService {
  const { database } = parts;
  return {
    begin: (caller, action, filter) => begin(parts, caller, { action, filter }),
    async stop(caller, id) {
      const known = isUuid(id) ? await readOperation(database, id) : null;
      if (known === null || !mayChange(caller, known.owner)) throw notFound('operation', id);
      await endOperation(database, id, 'STOPPED');
      return (await readOperation(database, id)) ?? known;
    },
    async list(caller, first) {
      if (caller.kind === 'anonymous') return [];
      const owner = listedOwner(caller);
      const rows = await database
        .selectFrom('media.bulkOperations')
        .selectAll()
        .$if(owner !== null, (query) => query.where('owner', '=', owner ?? ''))
        .orderBy('id', 'desc')
        .limit(first)
        .execute();
      return rows as unknown as readonly BulkOperation[];
    },
  };
}

/**
 * The filter without what the caller's key may not start. A key with a list of generators must name one of them, unless it
 * asks for recipes alone, which count as the generator `recipe`. Throws FORBIDDEN.
 */
function withinAllowList(caller: Caller, filter: TaskFilter): TaskFilter {
  if (!caller.generators) return filter;
  const { kinds = [...stepKinds, 'RECIPE'], generator = 'any' } = filter;
  const others = kinds.filter((kind) => kind !== 'RECIPE');
  enforceGenerator(caller, others.length === 0 ? 'recipe' : generator);
  return caller.generators.includes('recipe') ? filter : { ...filter, kinds: others };
}

async function begin(
  { database, queue }: Parts,
  caller: Caller,
  { action, filter: asked }: { readonly action: BulkAction; readonly filter: TaskFilter },
): Promise<BulkOperation> {
  if (caller.kind === 'anonymous') {
    throw new AppError('UNAUTHENTICATED', 'operations on many tasks need a caller: sign in, or send a key');
  }
  const filter = action === 'RESTART' ? withinAllowList(caller, asked) : asked;
  const operation = { action, listedOwner: listedOwner(caller), filter };
  const total = await countMatching(database, operation);
  if (total > MOST_TASKS) {
    throw badInput('filter', `matches more than ${MOST_TASKS} tasks: narrow it`);
  }
  const id = newId();
  const job: BulkJob = { id };
  await queue.define(BULK_QUEUE, TASK_QUEUE_OPTIONS);
  const made = await database.transaction().execute(async (transaction) => {
    // Whoever counts at the same time counts this one too.
    await lockTransaction(transaction, `media.bulk ${caller.id}`);
    const { running } = await transaction
      .selectFrom('media.bulkOperations')
      .select((table) => table.fn.countAll<string>().as('running'))
      .where('owner', '=', caller.id)
      .where('state', '=', 'RUNNING')
      .executeTakeFirstOrThrow();
    if (Number(running) >= MOST_RUNNING) {
      throw new AppError('CONFLICT', `${MOST_RUNNING} operations run already: wait for one, or stop it`);
    }
    const row = { ...operation, filter: JSON.stringify(filter), id, owner: caller.id, total };
    await queue.enqueue(transaction, { queue: BULK_QUEUE, data: asJson(job), owner: caller.id });
    return transaction
      .insertInto('media.bulkOperations')
      .values({ ...row, traceId: caller.traceId })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  queue.wake(BULK_QUEUE);
  return made as unknown as BulkOperation;
}
