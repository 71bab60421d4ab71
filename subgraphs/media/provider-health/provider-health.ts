import { sql } from 'kysely';

import type { Caller } from '../../../platform/access/caller.ts';
import { AppError, badInput, notFound } from '../../../platform/errors.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { Breakers } from '../generators/breakers/breakers.ts';
import type { BreakerState } from '../generators/breakers/circuit-breaker.ts';
import type { Pause, Pauses } from '../generators/pauses/pauses.ts';

/** How one binding's upstream has done in the last hour, and whether it is asked now. */
export interface ProviderHealth {
  /** `generator#index`. */
  readonly binding: string;
  readonly generator: string;
  readonly provider: string;
  readonly sandbox: boolean;
  /** Where its credentials come from. */
  readonly settings: string;
  /** Most starts at once, over all workers. */
  readonly concurrency: number;
  /** Steps that wait for a start. */
  readonly waiting: number;
  /** Starts that are under way. */
  readonly open: number;
  readonly paused: Pause | null;
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
  readonly lastErrorAt: Date | null;
}

/** The health of providers, and their pauses. For administrators. */
export interface ProviderHealthService {
  /** Of every binding, in the order of the registry; all processes answer the same, but for the breakers. */
  all(): Promise<readonly ProviderHealth[]>;
  /** Gives a binding no new work. NOT_FOUND, BAD_USER_INPUT. */
  pause(caller: Caller, binding: string, reason: string): Promise<ProviderHealth>;
  /** NOT_FOUND. */
  resume(binding: string): Promise<ProviderHealth>;
}

type Row = Omit<
  ProviderHealth,
  'generator' | 'provider' | 'sandbox' | 'breaker' | 'settings' | 'concurrency' | 'paused'
>;

interface Parts {
  readonly database: MediaDatabase;
  readonly registry: GeneratorRegistry;
  readonly breakers?: Pick<Breakers, 'stateOf'> | undefined;
  readonly bindingPauses?: Pauses | undefined;
}

const MAX_REASON = 200;

/** Makes the service. */
export function createProviderHealth(parts: Parts): ProviderHealthService {
  const { registry, bindingPauses: pauses } = parts;
  const all = () => readProviderHealth(parts);
  const known = (binding: string): Pauses => {
    if (registry.byId(binding) === null) throw notFound('binding', binding);
    if (pauses === undefined) throw new AppError('NOT_CONFIGURED', 'bindings can not be paused here');
    return pauses;
  };
  const one = async (id: string): Promise<ProviderHealth> => {
    const health = (await all()).find(({ binding }) => binding === id);
    if (health === undefined) throw notFound('binding', id);
    return health;
  };
  return {
    all,
    async pause(caller, binding, text) {
      const reason = text.trim();
      if (reason.length > MAX_REASON) throw badInput('reason', `may have at most ${MAX_REASON} characters`);
      await known(binding).pause({ binding, reason, pausedBy: caller.id });
      return one(binding);
    },
    async resume(binding) {
      await known(binding).resume(binding);
      return one(binding);
    },
  };
}

const MAX_BINDINGS = 500;

async function readProviderHealth({
  database,
  registry,
  breakers,
  bindingPauses: pauses,
}: Parts): Promise<readonly ProviderHealth[]> {
  const { rows } = await sql<Row>`/* provider-health.read */
    with recent as materialized (
      select binding, state, error, ended_at, extract(epoch from ended_at - started_at)::double precision as seconds
      from media.attempts where ended_at > now() - interval '1 hour' and claim is not null
    ), counted as (
      select binding, error->>'code' as code, count(*)::integer as number from recent
      where error is not null group by 1, 2
    ), ended as (
      select binding, count(*)::integer as attempts, (count(*) filter (where state = 'SUCCEEDED'))::integer as succeeded,
        coalesce((select jsonb_object_agg(code, number) from counted where counted.binding = recent.binding), '{}') as errors,
        percentile_cont(0.5) within group (order by seconds) filter (where state = 'SUCCEEDED') as p50,
        percentile_cont(0.95) within group (order by seconds) filter (where state = 'SUCCEEDED') as p95,
        max(ended_at) filter (where state = 'SUCCEEDED') as last_success,
        max(ended_at) filter (where error is not null) as last_error_at,
        (array_agg(error->>'message' order by ended_at desc) filter (where error is not null))[1] as last_error
      from recent group by binding
    ), waiting as (
      select binding, count(*)::integer as waiting from media.task_steps where state = 'QUEUED' group by binding
    ), open as (
      select binding, count(*)::integer as open from media.attempts where state in ('STARTING', 'RUNNING') group by binding
    )
    select binding, coalesce(attempts, 0) as attempts, coalesce(succeeded, 0) as succeeded, coalesce(errors, '{}') as errors,
      p50, p95, last_success, last_error, last_error_at, coalesce(waiting, 0) as waiting, coalesce(open, 0) as open
    from ended full join waiting using (binding) full join open using (binding) limit ${MAX_BINDINGS}`.execute(
    database,
  );
  const byBinding = new Map(rows.map((row) => [row.binding, row]));
  return registry.all().map(({ id, generator, provider, sandbox, settings, concurrency }) => ({
    ...NO_ATTEMPTS,
    ...byBinding.get(id),
    binding: id,
    generator,
    provider: provider.name,
    sandbox,
    settings,
    concurrency,
    paused: pauses?.of(id) ?? null,
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
  lastErrorAt: null,
  waiting: 0,
  open: 0,
} as const;
