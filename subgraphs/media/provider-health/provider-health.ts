import { sql } from 'kysely';

import type { Caller } from '../../../platform/access/caller.ts';
import { AppError, badInput, notFound } from '../../../platform/errors.ts';
import { jsonText } from '../../../platform/json.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { Breakers } from '../generators/breakers/breakers.ts';
import type { BreakerState } from '../generators/breakers/circuit-breaker.ts';
import type { CredentialRefusals } from '../generators/credentials/refusals.ts';
import type { Pause, Pauses } from '../generators/pauses/pauses.ts';
import { urgentWarnings, type ModelWarning } from './model-ends.ts';
import { createProviderHours } from './provider-hours.ts';

/** How one binding's upstream has done in the last hour, and whether it is asked now. */
export interface ProviderHealth {
  /** Its name. */
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
  /** Its models that end within 60 days, have ended, or that its upstream does not have. */
  readonly models: readonly ModelWarning[];
}

/** The health of providers, and their pauses. For administrators. */
export type ProviderHealthService = ReturnType<typeof createProviderHealth>;

type Row = Omit<
  ProviderHealth,
  'generator' | 'provider' | 'sandbox' | 'breaker' | 'settings' | 'concurrency' | 'paused' | 'models'
>;

interface Parts {
  readonly database: MediaDatabase;
  readonly registry: GeneratorRegistry;
  readonly refusals: Pick<CredentialRefusals, 'models'>;
  readonly breakers?: Pick<Breakers, 'findState'> | undefined;
  readonly bindingPauses?: Pauses | undefined;
}

const MAX_REASON = 200;

/** Makes the service. */
export function createProviderHealth(parts: Parts) {
  const { registry, bindingPauses: pauses } = parts;
  const all = () => readProviderHealth(parts);
  const known = (binding: string): { readonly pauses: Pauses; readonly name: string } => {
    const found = registry.byName(binding);
    if (found === null) throw notFound('binding', binding);
    if (pauses === undefined) throw new AppError('NOT_CONFIGURED', 'bindings can not be paused here');
    return { pauses, name: found.name };
  };
  const one = async (name: string): Promise<ProviderHealth> => {
    const health = (await all()).find(({ binding }) => binding === name);
    if (health === undefined) throw notFound('binding', name);
    return health;
  };
  return {
    /** Of every binding, in the order of the registry; all processes answer the same, but for the breakers. */
    all,
    /** Of every binding, what has ended in the last 24 hours, by hour; an answer is good for half a minute. */
    hours: createProviderHours(parts),
    /** Gives a binding, by its name, no new work. NOT_FOUND, BAD_USER_INPUT. */
    async pause(caller: Caller, binding: string, text: string): Promise<ProviderHealth> {
      const reason = text.trim();
      if (reason.length > MAX_REASON) throw badInput('reason', `may have at most ${MAX_REASON} characters`);
      const { name, ...its } = known(binding);
      await its.pauses.pause({ binding: name, reason, pausedBy: caller.id });
      return one(name);
    },
    /** NOT_FOUND. */
    async resume(binding: string): Promise<ProviderHealth> {
      const { name, ...its } = known(binding);
      await its.pauses.resume(name);
      return one(name);
    },
  };
}

const MAX_BINDINGS = 500;

async function readProviderHealth({
  database,
  registry,
  refusals,
  breakers,
  bindingPauses: pauses,
}: Parts): Promise<readonly ProviderHealth[]> {
  const places = registry.all().map(({ id, name, provider }) => ({ id, name, provider: provider.name }));
  const { rows } = await sql<Row>`/* provider-health.read */
    with place as (
      select * from jsonb_to_recordset(${jsonText(places)}::jsonb) as place(id text, name text, provider text)
    ), attempt as not materialized (
      select attempt.*, coalesce(binding_name, place.name, binding) as its_name from media.attempts attempt left join place
        on binding_name is null and place.id = binding and place.provider = attempt.provider
    ), recent as materialized (
      select its_name as binding, state, error, ended_at, extract(epoch from ended_at - started_at)::double precision as seconds
      from attempt where ended_at > now() - interval '1 hour' and claim is not null
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
      select coalesce(place.name, binding) as binding, count(*)::integer as waiting
      from media.task_steps left join place on place.id = binding where state = 'QUEUED' group by 1
    ), open as (
      select its_name as binding, count(*)::integer as open from attempt where state in ('STARTING', 'RUNNING') group by 1
    )
    select binding, coalesce(attempts, 0) as attempts, coalesce(succeeded, 0) as succeeded, coalesce(errors, '{}') as errors,
      p50, p95, last_success, last_error, last_error_at, coalesce(waiting, 0) as waiting, coalesce(open, 0) as open
    from ended full join waiting using (binding) full join open using (binding) limit ${MAX_BINDINGS}`.execute(
    database,
  );
  const byBinding = new Map(rows.map((row) => [row.binding, row]));
  return registry.all().map((binding) => {
    const { name, generator, provider, sandbox, settings, concurrency } = binding;
    return {
      ...NO_ATTEMPTS,
      ...byBinding.get(name),
      binding: name,
      generator,
      provider: provider.name,
      sandbox,
      settings,
      concurrency,
      paused: pauses?.of(name) ?? null,
      breaker: breakers?.findState(name) ?? null,
      models: urgentWarnings(binding, refusals),
    };
  });
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
