import { sql } from 'kysely';

import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';

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
