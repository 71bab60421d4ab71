import { createCachedRead } from '../../../platform/events/cached-read.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { Budget } from '../domain/budget.ts';
import { readSubjects } from './store.ts';

/** Which budgets there are, so that starts that none bounds cost no statement. What they have left is never cached. */
export interface BudgetCache {
  /** The ids of the budgets that bound work of an owner at some generators. */
  bounding(owner: string, generators: () => readonly string[]): Promise<readonly string[]>;
  /** Budgets were made or removed: every process reads them again. */
  changed(): void;
  close(): void;
}

/** Topic of the bus: the budgets have changed. */
const TOPIC = 'budgets';

type Subject = Pick<Budget, 'id' | 'scope' | 'subject'>;

/** Makes the cache of a process. */
export function createBudgetCache(options: {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
}): BudgetCache {
  const { database, bus } = options;
  const subjects = createCachedRead<readonly Subject[]>(bus, TOPIC);
  return {
    async bounding(owner, generators) {
      const all = await subjects.get(() => readSubjects(database));
      if (all.length === 0) return [];
      const names = new Set(generators());
      return all
        .filter(({ scope, subject }) => {
          if (subject === null) return true;
          return scope === 'GENERATOR' ? names.has(subject) : subject === owner;
        })
        .map(({ id }) => id);
    },
    changed: () => subjects.changed(),
    close: () => subjects.close(),
  };
}
