import { sql } from 'kysely';

import { toError } from '../../../platform/errors.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { Binding, GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { CredentialRefusals } from '../generators/credentials/refusals.ts';
import type { MediaHealth } from '../schema/index.ts';
import type { MediaSubgraphOptions } from './options.ts';

/** Each generator: ok, sandbox, degraded or not available (with the settings that would change that). */
function listGenerators({
  registry,
  refusals,
}: Pick<MediaSubgraphOptions, 'registry' | 'refusals'>): MediaHealth['generators'] {
  const states = Object.groupBy(registry.all(), ({ generator }) => generator);
  const available = Object.entries(states).map(([generator, bindings = []]) => ({
    generator,
    ...readState(bindings, refusals),
  }));
  const missing = Object.entries(registry.missing()).map(([generator, setting]) => ({
    generator,
    state: 'not available' as const,
    setting,
    problem: null,
  }));
  return [...available, ...missing].toSorted((one, other) => (one.generator < other.generator ? -1 : 1));
}

/** The state of a generator by its bindings: one whose credentials are refused does no work, one without a model may have others. */
function readState(
  bindings: readonly Binding[],
  refusals: CredentialRefusals,
): Omit<MediaHealth['generators'][number], 'generator'> {
  const refused = bindings.filter(({ name }) => refusals.refusedAt(name) !== null);
  const problems = bindings.flatMap(({ name, provider, settings }) => {
    const at = refusals.refusedAt(name);
    const states = [
      ...(at === null ? [] : [`refuses our credentials (${at.toISOString()})`]),
      ...refusals.models.of(name).map((gone) => `does not have ${gone.model} (${gone.at.toISOString()})`),
    ];
    return states.map((what) => ({ settings, text: `${provider.name} ${what}` }));
  });
  if (problems.length === 0) {
    const state = bindings.every(({ sandbox }) => sandbox) ? 'sandbox' : 'ok';
    return { state, setting: null, problem: null };
  }
  return {
    state: refused.length === bindings.length ? 'not available' : 'degraded',
    setting: [...new Set(problems.map(({ settings }) => settings))].join('; '),
    problem: problems.map(({ text }) => text).join('; '),
  };
}

/** Whether the database and the object store answer; what went wrong is logged. */
export async function checkHealth({
  database,
  store,
  logger,
  version,
  registry,
  refusals,
}: MediaSubgraphOptions): Promise<MediaHealth> {
  const verdict = async (part: string, check: () => Promise<void>): Promise<string> => {
    try {
      await check();
      return 'ok';
    } catch (thrown) {
      logger.warn({ error: toError(thrown), part }, 'a health check failed');
      return 'unavailable';
    }
  };
  const [databaseVerdict, storeVerdict] = await Promise.all([
    verdict('database', () => database.check()),
    verdict('files', () => store.check()),
  ]);
  return {
    service: 'media',
    version,
    time: new Date(),
    checks: { database: databaseVerdict, files: storeVerdict },
    generators: listGenerators({ registry, refusals }),
  };
}

/** Gauges of work that is under way, read from the database when somebody asks for the metrics. */
export function measureWork(
  database: MediaDatabase,
  metrics: Metrics,
  registry: Pick<GeneratorRegistry, 'byId'>,
): void {
  /** By the names of bindings: what is queued, and what the release before has begun, has the id of its place. */
  const labelled = async (query: ReturnType<typeof sql<Row>>) => {
    const { rows } = await query.execute(database);
    const named = Map.groupBy(rows, ({ label }) => registry.byId(label)?.name ?? label);
    return [...named].map(([binding, own]) => ({
      labels: { binding },
      value: own.reduce((sum, { value }) => sum + value, 0),
    }));
  };
  metrics.gauge('kiln_queue_length', 'Steps that wait for a start, by binding.', ['binding'], () =>
    labelled(sql<Row>`/* metrics.queue */ select binding as label, count(*)::double precision as value
      from media.task_steps where state = 'QUEUED' group by binding`),
  );
  metrics.gauge(
    'kiln_queue_oldest_seconds',
    'Age of the oldest step that waits for a start.',
    ['binding'],
    () =>
      labelled(sql<Row>`/* metrics.oldest */ select binding as label,
        extract(epoch from now() - min(waiting_since))::double precision as value
      from media.task_steps where state = 'QUEUED' group by binding`),
  );
  metrics.gauge('kiln_attempts_open', 'Starts that are under way at providers.', ['binding'], () =>
    labelled(sql<Row>`/* metrics.open */ select coalesce(binding_name, binding) as label,
        count(*)::double precision as value
      from media.attempts where state in ('STARTING', 'RUNNING') group by 1`),
  );
  metrics.gauge('kiln_poll_lag_seconds', 'How long the most overdue status request is due.', [], async () => {
    const { rows } = await sql<Row>`/* metrics.lag */ select '' as label,
        coalesce(extract(epoch from now() - min(next_poll_at)), 0)::double precision as value
      from media.attempts where state = 'RUNNING' and next_poll_at < now()`.execute(database);
    return rows.map(({ value }) => ({ value }));
  });
}

interface Row {
  readonly label: string;
  readonly value: number;
}
