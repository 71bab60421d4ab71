import { sql } from 'kysely';

import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import type { Binding } from '../../generators/bindings/binding.ts';

/** SQL of what bounds the starts of a binding over all workers: its slots, its requests a minute, and what is being stored. */

type Executor = MediaDatabase | MediaTransaction;

/** How many starts a binding takes now. */
export interface Room {
  /** 0 or less: none. */
  readonly free: number;
  /** What there is none for; null when there is room. */
  readonly lacks: 'slot' | 'request' | 'storage' | null;
}

interface RoomRow {
  readonly held: number;
  readonly storing: number;
  readonly aheadSeconds: number;
}

/**
 * Locks a binding until the transaction ends: looking at its room and taking some must not overlap. By its name, and before that
 * by its id, which is what processes of the release before lock.
 */
export async function lockBinding(transaction: MediaTransaction, { id, name }: Binding): Promise<void> {
  await sql`/* prepared: attempts.lock-binding */
    select pg_advisory_xact_lock(hashtextextended(key, 0))
    from unnest(array[${`media.binding.${id}`}::text, ${`media.binding.name.${name}`}::text]) as key`.execute(
    transaction,
  );
}

/**
 * The room of a binding over all workers. Slots are held by attempts that are claimed or running: one that nobody has claimed
 * yet holds none, so that a start that was given up before its claim takes no slot from the others. What is finished and not
 * stored holds slots too, beyond what storing may be behind. Exact only under `lockBinding`. What processes of the release before
 * have begun has no name: it is counted by its place.
 */
export async function readRoom(database: Executor, binding: Binding): Promise<Room> {
  const { rows } = await sql<RoomRow>`/* prepared: attempts.read-room */
    select
      (select count(*)::integer from media.attempts where binding_name = ${binding.name}
        and (state = 'RUNNING' or state = 'STARTING' and claim is not null))
      + (select count(*)::integer from media.attempts where binding = ${binding.id} and binding_name is null
        and (state = 'RUNNING' or state = 'STARTING' and claim is not null)) as held,
      (select count(*)::integer from media.task_steps where binding = ${binding.id} and state = 'STORING') as storing,
      coalesce((select greatest(0, extract(epoch from next_at - clock_timestamp()))::double precision
        from media.binding_paces where binding = ${binding.name}), 0) as ahead_seconds`.execute(database);
  return computeRoom(binding, rows[0] ?? { held: 0, storing: 0, aheadSeconds: 0 });
}

function computeRoom(binding: Binding, { held, storing, aheadSeconds }: RoomRow): Room {
  const slots = binding.concurrency - held;
  const behind = Math.max(0, storing - mostUnstored(binding));
  const pace = computePace(binding);
  const requests = pace === null ? Infinity : Math.floor(pace.burst - aheadSeconds / pace.intervalSeconds);
  const free = Math.min(slots - behind, requests);
  const lacks = free > 0 ? null : slots <= 0 ? 'slot' : slots - behind <= 0 ? 'storage' : 'request';
  return { free, lacks };
}

/** Fewest results of a binding that may wait to be stored before its starts wait too. */
const LEAST_UNSTORED = 16;

/** How far storing may be behind: some of it always is, as results of one moment are stored one after the other. */
function mostUnstored({ concurrency }: Binding): number {
  return Math.max(LEAST_UNSTORED, 2 * concurrency);
}

/**
 * Requests a minute, spread: a tenth of them may follow each other at once, and the rest comes evenly, so that no minute
 * has more, wherever it begins.
 */
function computePace({
  requestsPerMinute: most,
}: Binding): { burst: number; intervalSeconds: number } | null {
  if (most === undefined) return null;
  const burst = Math.max(1, Math.floor(most / 10));
  return { burst, intervalSeconds: 60 / (most - (burst - 1)) };
}

/**
 * Counts one request. Under `lockBinding`, in the transaction that takes the claim. By the id too, which is what processes of the
 * release before look at: so both together send no more than the binding may.
 */
export async function countRequest(transaction: MediaTransaction, binding: Binding): Promise<void> {
  const pace = computePace(binding);
  if (pace === null) return;
  await sql`/* prepared: attempts.count-request */
    insert into media.binding_paces as pace (binding, next_at)
    select key, clock_timestamp() + make_interval(secs => ${pace.intervalSeconds})
    from unnest(array[${binding.id}::text, ${binding.name}::text]) as key
    on conflict (binding) do update set
      next_at = greatest(pace.next_at, clock_timestamp()) + make_interval(secs => ${pace.intervalSeconds})`.execute(
    transaction,
  );
}
