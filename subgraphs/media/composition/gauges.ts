import { sql } from 'kysely';

import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { MediaDatabase } from '../database/database.ts';

/** Gauges of work that is under way, read from the database when somebody asks for the metrics. */
export function measureWork(database: MediaDatabase, metrics: Metrics): void {
  const labelled = async (query: ReturnType<typeof sql<Row>>) => {
    const { rows } = await query.execute(database);
    return rows.map(({ label, value }) => ({ labels: { binding: label }, value }));
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
    labelled(sql<Row>`/* metrics.open */ select binding as label, count(*)::double precision as value
      from media.attempts where state in ('STARTING', 'RUNNING') group by binding`),
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
