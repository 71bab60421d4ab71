import { toError } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { noMetrics, type Metrics } from '../../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { Binding } from '../bindings/binding.ts';
import { type Pause, readPauses, removePause, writePause } from './pause-store.ts';

/** Bindings that administrators have paused: they get no new work, and what they have goes on. Every process learns of it. */
export interface Pauses {
  /** The same bindings; each says whether it is paused. */
  watch(bindings: readonly Binding[]): readonly Binding[];
  /** By the name of a binding, as everywhere here. */
  of(binding: string): Pause | null;
  /** Paused again, it has the newer reason. */
  pause(pause: Omit<Pause, 'pausedAt'>): Promise<void>;
  resume(binding: string): Promise<void>;
  /** Tells of bindings that get work again, as soon as this process knows of it. Answers what stops it. */
  onResume(listener: (bindings: readonly string[]) => void): () => void;
  /** Reads what is paused: once before work begins. */
  load(): Promise<void>;
  close(): void;
}

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
}): Pauses {
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
  const reload = (): void => {
    load().catch((thrown: unknown) => {
      logger.warn({ error: toError(thrown) }, 'what is paused could not be read');
    });
  };
  const of = (binding: string): Pause | null => {
    if (performance.now() - readAt > MAX_AGE_MS) reload();
    return known.get(binding) ?? null;
  };
  const placeOf = (binding: string): string => watched.find(({ name }) => name === binding)?.id ?? binding;
  const changed = async (): Promise<void> => {
    await load();
    bus.publish(TOPIC, 'all', Date.now());
  };
  const stops = [bus.listen(TOPIC, reload), bus.onGap(reload)];
  // A pause of what is not configured any more is kept for its return, and is nobody's business meanwhile.
  measurePauses(metrics, () => watched.map(({ name }) => name).filter((name) => known.has(name)));
  return {
    watch(bindings) {
      watched = bindings;
      return bindings.map((binding) => ({ ...binding, isPaused: () => of(binding.name) !== null }));
    },
    of,
    onResume(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    load,
    async pause(pause) {
      await writePause(database, pause, placeOf(pause.binding));
      await changed();
    },
    async resume(binding) {
      await removePause(database, binding, placeOf(binding));
      await changed();
    },
    close() {
      for (const stop of stops) stop();
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
