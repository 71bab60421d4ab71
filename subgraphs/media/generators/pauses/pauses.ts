import { sql } from 'kysely';

import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { followChanges } from '../../../../platform/events/follow-changes.ts';
import { noMetrics, type Metrics } from '../../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { Binding } from '../bindings/binding.ts';

/** Bindings that administrators have paused: they get no new work, and what they have goes on. Every process learns of it. */
export type Pauses = ReturnType<typeof createPauses>;

/** Topic of the bus: something was paused or resumed. */
const TOPIC = 'paused-bindings';
/** Longest time that a lost wake-up goes unnoticed. */
const MAX_AGE_MS = 10_000;

/** Makes the pauses of one process. */
export function createPauses(options: {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
}) {
  const { database, bus, logger, metrics = noMetrics } = options;
  let known: ReadonlyMap<string, Pause> = new Map();
  let watched: readonly Binding[] = [];
  let readAt = performance.now();
  const listeners = new Set<(bindings: readonly string[]) => void>();
  const load = async (): Promise<void> => {
    readAt = performance.now();
    const rows = await readPauses(database, watched);
    const before = known;
    known = new Map(rows.map((row) => [row.binding, row]));
    const resumed = [...before.keys()].filter((binding) => !known.has(binding));
    if (resumed.length > 0) for (const listener of listeners) listener(resumed);
  };
  const problem = 'what is paused could not be read';
  const { reload, changed, stop } = followChanges({ bus, logger, topic: TOPIC, load, problem });
  const of = (binding: string): Pause | null => {
    if (performance.now() - readAt > MAX_AGE_MS) reload();
    return known.get(binding) ?? null;
  };
  const findPlace = (binding: string): string => watched.find(({ name }) => name === binding)?.id ?? binding;
  // A pause of what is not configured any more is kept for its return, and is nobody's business meanwhile.
  measurePauses(metrics, () => watched.map(({ name }) => name).filter((name) => known.has(name)));
  return {
    /** The same bindings; each says whether it is paused. */
    watch(bindings: readonly Binding[]): readonly Binding[] {
      watched = bindings;
      return bindings.map((binding) => ({ ...binding, isPaused: () => of(binding.name) !== null }));
    },
    /** By the name of a binding, as everywhere here. */
    of,
    /** Reports bindings that get work again, as soon as this process knows of it. Answers what stops it. */
    onResume(listener: (bindings: readonly string[]) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Reads what is paused: once before work begins. */
    load,
    /** Paused again, it has the newer reason. */
    async pause(pause: Omit<Pause, 'pausedAt'>): Promise<void> {
      await writePause(database, pause, findPlace(pause.binding));
      await changed();
    },
    async resume(binding: string): Promise<void> {
      await removePause(database, binding, findPlace(binding));
      await changed();
    },
    close(): void {
      stop();
      listeners.clear();
    },
  };
}

function measurePauses(metrics: Metrics, paused: () => readonly string[]): void {
  metrics.gauge(
    'kiln_binding_paused',
    'Set to 1 while an administrator has paused a binding.',
    ['binding'],
    () => paused().map((binding) => ({ labels: { binding }, value: 1 })),
  );
}

/**
 * SQL of pauses. A row is of the binding that it names. Its key is the id that the binding had when it was paused, as processes of
 * the release before look for that and for nothing else; a row that one of them has written has no name, and gets it from the
 * first process that reads it.
 */

/** Why a binding gets no new work. */
export interface Pause {
  /** Its name. */
  readonly binding: string;
  readonly reason: string;
  /** Id of the caller. */
  readonly pausedBy: string;
  readonly pausedAt: Date;
}

/** Every pause, by the names of bindings; those without a name get it. */
async function readPauses(database: MediaDatabase, bindings: readonly Binding[]): Promise<readonly Pause[]> {
  const rows = await database.selectFrom('media.pausedBindings').selectAll().execute();
  const named = rows.map((row) => {
    const name = row.name ?? bindings.find(({ id }) => id === row.binding)?.name ?? row.binding;
    return { ...row, binding: name, key: row.binding, isNamed: row.name !== null || name === row.binding };
  });
  for (const { key, binding } of named.filter(({ isNamed }) => !isNamed)) {
    await sql`/* pauses.name */ update media.paused_bindings set name = ${binding}
      where binding = ${key} and name is null`.execute(database);
  }
  return named;
}

/** Pauses a binding that has this place now; where another one was paused at it, that one keeps the key. */
async function writePause(
  database: MediaDatabase,
  { binding, reason, pausedBy }: Omit<Pause, 'pausedAt'>,
  place: string,
): Promise<void> {
  await sql`/* pauses.write */
    with again as (
      update media.paused_bindings set reason = ${reason}, paused_by = ${pausedBy} where name = ${binding} returning 1
    )
    insert into media.paused_bindings as pause (binding, name, reason, paused_by)
    select case when exists (select from media.paused_bindings where binding = ${place} and name <> ${binding})
      then ${binding} else ${place} end, ${binding}, ${reason}, ${pausedBy}
    where not exists (select from again)
    on conflict (binding) do update set name = excluded.name, reason = excluded.reason, paused_by = excluded.paused_by`.execute(
    database,
  );
}

/** Ends the pause of a binding that has this place now. */
async function removePause(database: MediaDatabase, binding: string, place: string): Promise<void> {
  await sql`/* pauses.remove */ delete from media.paused_bindings
    where name = ${binding} or binding = ${place} and name is null`.execute(database);
}
