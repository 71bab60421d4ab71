import { sql } from 'kysely';

import { jsonText } from '../../../platform/json.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';

/** What ended at a binding within one hour. */
export interface ProviderHour {
  /** Its name. */
  readonly binding: string;
  /** Its beginning, a full hour of UTC. */
  readonly hour: Date;
  readonly attempts: number;
  readonly succeeded: number;
}

interface Parts {
  readonly database: MediaDatabase;
  readonly registry: Pick<GeneratorRegistry, 'all'>;
  readonly clock?: () => number;
}

/** Milliseconds for which an answer is good for all who ask. */
const KEPT_MS = 30_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** After this an hour that is over gets no more ends: transactions of its last moment have committed. */
const LATE_MS = 300_000;
/** Bindings times hours. */
const MOST = 12_500;

/** Reads the hours of the last 24 of every binding; those without an end are left out. Hours that are over are read once. */
export function createProviderHours({ database, registry, clock = Date.now }: Parts) {
  let kept: { readonly until: number; readonly hours: Promise<readonly ProviderHour[]> } | null = null;
  let over: { readonly until: number; readonly hours: readonly ProviderHour[] } = { until: 0, hours: [] };
  const read = async (): Promise<readonly ProviderHour[]> => {
    const now = clock();
    const first = floorToHour(now - DAY_MS);
    const known = over.hours.filter(({ hour }) => hour.getTime() >= first);
    const since = new Date(Math.max(first, over.until));
    const hours = [...known, ...(await readHours(database, registry, since))];
    const until = floorToHour(now - LATE_MS);
    over = { until, hours: hours.filter(({ hour }) => hour.getTime() < until) };
    return hours;
  };
  return (): Promise<readonly ProviderHour[]> => {
    if (kept !== null && kept.until > clock()) return kept.hours;
    const hours = read();
    kept = { until: clock() + KEPT_MS, hours };
    // A failure is told to those who have asked, and to nobody else.
    hours.catch(() => (kept = null));
    return hours;
  };
}

const floorToHour = (time: number): number => time - (time % HOUR_MS);

async function readHours(
  database: MediaDatabase,
  registry: Pick<GeneratorRegistry, 'all'>,
  since: Date,
): Promise<readonly ProviderHour[]> {
  const places = registry.all().map(({ id, name, provider }) => ({ id, name, provider: provider.name }));
  const { rows } = await sql<ProviderHour>`/* provider-health.hours */
    with place as (
      select * from jsonb_to_recordset(${jsonText(places)}::jsonb) as place(id text, name text, provider text)
    )
    select coalesce(binding_name, place.name, binding) as binding, date_trunc('hour', ended_at, 'UTC') as hour,
      count(*)::integer as attempts, (count(*) filter (where state = 'SUCCEEDED'))::integer as succeeded
    from media.attempts attempt left join place
      on binding_name is null and place.id = binding and place.provider = attempt.provider
    where ended_at >= ${since} and claim is not null
    group by 1, 2 limit ${MOST}`.execute(database);
  return rows;
}
