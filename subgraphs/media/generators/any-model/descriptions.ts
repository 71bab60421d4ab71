import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { followChanges } from '../../../../platform/events/follow-changes.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { Binding } from '../bindings/binding.ts';
import { identifyUpstream } from '../bindings/identity.ts';
import { toCatalogEntry } from './described-model.ts';
import { keepModel, markStale, readModel, readModels, type FetchedModel } from './store.ts';

/** What vendors have said of models, in this process and in the database. Every process learns of a new description. */
export type Descriptions = ReturnType<typeof createDescriptions>;

/** What they are kept in. */
export interface DescriptionOptions {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
  readonly logger: Logger;
}

/** Topic of the bus: something was described, or has become stale. */
const TOPIC = 'fetched-models';
/** Age at which a description is read again, in milliseconds. */
const MAX_AGE_MS = 7 * 86_400_000;
/** Shortest time between two readings of one description, whatever callers do, in milliseconds. */
export const PAUSE_MS = 60_000;
/** Longest reading, in milliseconds. */
const READ_MS = 20_000;

/** Whether a description is to be read again before it is used. */
export function isDue({ stale, fetchedAt }: FetchedModel): boolean {
  const age = Date.now() - fetchedAt.getTime();
  return age > MAX_AGE_MS || (stale && age > PAUSE_MS);
}

/** Key of what is remembered of a name at an upstream. */
export function formatKey(upstream: string, name: string): string {
  return `${upstream} ${name}`;
}

/** Makes the descriptions of one process. */
export function createDescriptions({ database, bus, logger }: DescriptionOptions) {
  const known = new Map<string, FetchedModel>();
  const reading = new Map<string, Promise<void>>();
  const listeners = new Set<() => void>();
  const load = async (): Promise<void> => {
    const models = await readModels(database);
    known.clear();
    for (const model of models) known.set(formatKey(model.upstream, model.entry.id), model);
    for (const listener of listeners) listener();
  };
  const problem = 'descriptions of models could not be read';
  const { changed, stop } = followChanges({ bus, logger, topic: TOPIC, load, problem });

  async function ask(binding: Binding, name: string): Promise<void> {
    const upstream = identifyUpstream(binding);
    // Another process may have read it, and this one not have learnt of it yet.
    const kept = known.has(formatKey(upstream, name)) ? null : await readModel(database, { upstream, name });
    if (kept !== null && !isDue(kept)) return load();
    const { connection, provider } = binding;
    const signal = AbortSignal.timeout(READ_MS);
    const described = await provider.describeModel?.(name, { connection, signal });
    if (!described) return undefined;
    const entry = toCatalogEntry(name, described, new Date().toISOString().slice(0, 10));
    await keepModel(database, { upstream, entry });
    logger.info({ provider: provider.name, model: name }, 'a vendor has described a model');
    return changed();
  }

  return {
    of: (upstream: string, name: string): FetchedModel | undefined => known.get(formatKey(upstream, name)),
    all: (): readonly FetchedModel[] => [...known.values()],
    /** Asks the binding's vendor, one call at a time for each name. Nothing when it has no such model. */
    async read(binding: Binding, name: string): Promise<void> {
      const key = formatKey(identifyUpstream(binding), name);
      const running = reading.get(key) ?? ask(binding, name).finally(() => reading.delete(key));
      reading.set(key, running);
      await running;
    },
    /** Has a description read again before it is used next. */
    async stale(upstream: string, name: string): Promise<void> {
      await markStale(database, upstream, name);
      await changed();
    },
    /** Reports every change. */
    onChange: (listener: () => void): void => void listeners.add(listener),
    load,
    close(): void {
      stop();
      listeners.clear();
    },
  };
}
