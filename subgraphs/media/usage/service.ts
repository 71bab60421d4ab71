import type { Caller } from '../../../platform/access/caller.ts';
import { decide, type AuthMode } from '../../../platform/access/policy.ts';
import { badInput } from '../../../platform/errors.ts';
import type { MediaDatabase } from '../database/database.ts';
import { readUsage } from './store.ts';
import type { UsageRow, UsageService } from './usage.ts';

const DAY_MS = 86_400_000;
const USUAL_DAYS = 30;
const MAX_DAYS = 366;
/** Most rows of one answer; a question by day and everything else may have more. */
const MAX_ROWS = 10_000;

/** Makes the service over the totals that ends of tasks have written. */
export function createUsageService(options: {
  readonly database: MediaDatabase;
  readonly authMode: AuthMode;
}): UsageService {
  const { database, authMode } = options;
  return {
    async usage(caller, { by, from, to, sandbox = null }): Promise<readonly UsageRow[]> {
      const last = to ?? new Date();
      const first = from ?? new Date(last.getTime() - (USUAL_DAYS - 1) * DAY_MS);
      if (first > last) throw badInput('from', 'must not be after to');
      if (last.getTime() - first.getTime() > MAX_DAYS * DAY_MS)
        throw badInput('from', `must be at most ${MAX_DAYS} days before to`);
      const whose = ownerOf(caller, authMode);
      if (whose === 'nobody') return [];
      const range = { from: dayOf(first), to: dayOf(last) };
      const rows = await readUsage(database, {
        by,
        ...range,
        owner: whose.owner,
        sandbox,
        limit: MAX_ROWS + 1,
      });
      if (rows.length > MAX_ROWS)
        throw badInput('by', `gives more than ${MAX_ROWS} rows: ask for fewer days, or by less`);
      return rows;
    },
  };
}

/** Everybody's for administrators, and for everybody in open mode; else the caller's own. */
function ownerOf(caller: Caller, authMode: AuthMode): { readonly owner: string | null } | 'nobody' {
  if (decide('admin', caller, authMode) === 'allow') return { owner: null };
  return caller.kind === 'anonymous' ? 'nobody' : { owner: caller.id };
}

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);
