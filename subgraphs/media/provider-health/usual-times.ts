import { sql } from 'kysely';

import { jsonText } from '../../../platform/json.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { GeneratorRegistry, ListedModel } from '../generators/bindings/binding.ts';

/** How long work of a model usually takes, for those who choose one. */
export type UsualTimes = ReturnType<typeof createUsualTimes>;

interface Parts {
  readonly database: MediaDatabase;
  readonly registry: Pick<GeneratorRegistry, 'all'>;
  readonly clock?: () => number;
}

/** Fewer ends say nothing. */
const LEAST_ENDS = 3;
/** The newest ends that are read, over all models. */
const MOST_ENDS = 20_000;
const MOST_ROWS = 5_000;
/** Milliseconds for which what was read is good for all who ask. */
const KEPT_MS = 60_000;

type Medians = ReadonlyMap<string, number>;

/** Makes it. */
export function createUsualTimes({ database, registry, clock = Date.now }: Parts) {
  let kept: { readonly until: number; readonly medians: Promise<Medians> } | null = null;
  const read = (): Promise<Medians> => {
    if (kept !== null && kept.until > clock()) return kept.medians;
    const medians = readMedians(database, registry);
    kept = { until: clock() + KEPT_MS, medians };
    // A failure is told to those who have asked, and to nobody else.
    medians.catch(() => (kept = null));
    return medians;
  };
  return {
    /**
     * Seconds from start to end: the median of what its connection has finished in the last 24 hours, three pieces of
     * work at least; else what the catalog says; null when neither is known.
     */
    async of({ generator, provider, id, sandbox, usualSeconds }: ListedModel): Promise<number | null> {
      const medians = await read();
      const own = registry
        .all()
        .filter(
          (one) => one.generator === generator && one.provider.name === provider && one.isBatched !== true,
        );
      for (const { name } of own) {
        const median = medians.get(formatKey(name, id));
        if (median !== undefined) return median;
      }
      // The sandbox is no measure of its vendor, nor the other way round.
      return sandbox ? null : usualSeconds;
    },
  };
}

async function readMedians(
  database: MediaDatabase,
  registry: Pick<GeneratorRegistry, 'all'>,
): Promise<Medians> {
  const places = registry.all().map(({ id, name, provider }) => ({ id, name, provider: provider.name }));
  const { rows } = await sql<{ binding: string; model: string; seconds: number }>`/* usual-times.read */
    with place as (
      select * from jsonb_to_recordset(${jsonText(places)}::jsonb) as place(id text, name text, provider text)
    ), newest as (
      select binding, binding_name, provider, model, extract(epoch from ended_at - started_at)::double precision as seconds
      from media.attempts where ended_at > now() - interval '24 hours' and state = 'SUCCEEDED' and claim is not null
      order by ended_at desc limit ${MOST_ENDS}
    )
    select coalesce(binding_name, place.name, newest.binding) as binding, model,
      percentile_cont(0.5) within group (order by seconds) as seconds
    from newest left join place
      on binding_name is null and place.id = newest.binding and place.provider = newest.provider
    where model is not null group by 1, 2 having count(*) >= ${LEAST_ENDS} limit ${MOST_ROWS}`.execute(
    database,
  );
  return new Map(rows.map(({ binding, model, seconds }) => [formatKey(binding, model), seconds]));
}

function formatKey(binding: string, model: string): string {
  return `${binding} ${model}`;
}
