import { sql } from 'kysely';

import type { MediaDatabase } from '../database/database.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { Breakers } from '../generators/breakers/breakers.ts';
import type { BreakerState } from '../generators/breakers/circuit-breaker.ts';

/** How one binding's upstream has done in the last hour, and whether it is asked now. */
export interface ProviderHealth {
  /** `generator#index`. */
  readonly binding: string;
  readonly generator: string;
  readonly provider: string;
  readonly sandbox: boolean;
  /** Null where nothing watches. */
  readonly breaker: BreakerState | null;
  readonly attempts: number;
  readonly succeeded: number;
  /** Code of a failure -> how often. */
  readonly errors: Readonly<Record<string, number>>;
  /** Seconds from start to end of those that succeeded. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly lastSuccess: Date | null;
  readonly lastError: string | null;
}

type Row = Omit<ProviderHealth, 'generator' | 'provider' | 'sandbox' | 'breaker'>;

const MAX_BINDINGS = 500;

/** The health of every binding, in the order of the registry; all processes answer the same, but for the breakers. */
export async function readProviderHealth(options: {
  readonly database: MediaDatabase;
  readonly registry: GeneratorRegistry;
  readonly breakers?: Pick<Breakers, 'stateOf'> | undefined;
}): Promise<readonly ProviderHealth[]> {
  const { database, registry, breakers } = options;
  const { rows } = await sql<Row>`/* provider-health.read */
    with recent as materialized (
      select binding, state, error, ended_at, extract(epoch from ended_at - started_at)::double precision as seconds
      from media.attempts where ended_at > now() - interval '1 hour' and claim is not null
    ), counted as (
      select binding, error->>'code' as code, count(*)::integer as number from recent
      where error is not null group by 1, 2
    )
    select binding, count(*)::integer as attempts, (count(*) filter (where state = 'SUCCEEDED'))::integer as succeeded,
      coalesce((select jsonb_object_agg(code, number) from counted where counted.binding = recent.binding), '{}') as errors,
      percentile_cont(0.5) within group (order by seconds) filter (where state = 'SUCCEEDED') as p50,
      percentile_cont(0.95) within group (order by seconds) filter (where state = 'SUCCEEDED') as p95,
      max(ended_at) filter (where state = 'SUCCEEDED') as last_success,
      (array_agg(error->>'message' order by ended_at desc) filter (where error is not null))[1] as last_error
    from recent group by binding limit ${MAX_BINDINGS}`.execute(database);
  const byBinding = new Map(rows.map((row) => [row.binding, row]));
  return registry.all().map(({ id, generator, provider, sandbox }) => ({
    ...NO_ATTEMPTS,
    ...byBinding.get(id),
    binding: id,
    generator,
    provider: provider.name,
    sandbox,
    breaker: breakers?.stateOf(id) ?? null,
  }));
}

const NO_ATTEMPTS = {
  attempts: 0,
  succeeded: 0,
  errors: {},
  p50: null,
  p95: null,
  lastSuccess: null,
  lastError: null,
} as const;
