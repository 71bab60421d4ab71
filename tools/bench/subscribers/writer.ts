import { setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';
import type { PoolConfig } from 'pg';

import { createDatabase } from '../../../platform/database/database.ts';
import { createEventBus } from '../../../platform/events/postgres/postgres-event-bus.ts';
import { newId } from '../../../platform/ids.ts';
import { createLogger } from '../../../platform/process/logger.ts';
import { mediaDatabase } from '../../../subgraphs/media/database/database.ts';
import { appendEvents } from '../../../subgraphs/media/tasks/storage/event-store.ts';
import { TASK_TOPIC } from '../../../subgraphs/media/tasks/storage/transactor.ts';

// Makes running tasks and writes progress to them as a worker does, from a process of its own: rows, then wake-ups. The
// words are the connection as JSON and how many tasks.
const [connection = '{}', count = '0'] = process.argv.slice(2);
const logger = createLogger({ level: 'warn' });
const config = JSON.parse(connection) as PoolConfig;
const database = createDatabase({ config, maxConnections: 4, applicationName: 'bench writer', logger });
const bus = await createEventBus({ database, logger });
const media = mediaDatabase(database);

/** Pause between two batches. */
const TICK_MS = 50;

const ids = Array.from({ length: Number(count) }, newId);
await sql`insert into media.tasks (id, owner, kind, generator, input, state, stage, last_seq)
  select id, 'anon', 'IMAGE', 'imga', '{}', 'RUNNING', 'frame 0', 0 from unnest(${ids}::uuid[]) as id`.execute(
  media,
);

process.on('message', (message) => {
  const order = message as { readonly perSecond: number; readonly ms: number } | { readonly each: true };
  const writing = 'each' in order ? append(ids) : write(order.perSecond, order.ms);
  void writing.then((written) => process.send?.({ written }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ids });

let frame = 0;

/** One event for each of these tasks. */
async function append(taskIds: readonly string[]): Promise<number> {
  const events = taskIds.map((taskId) => ({ taskId, stage: `node ${(frame += 1)}` as const }));
  const appended = await appendEvents(media, events);
  for (const { taskId, seq } of appended) bus.publish(TASK_TOPIC, taskId, seq);
  return appended.length;
}

/** One event per task and turn, at this rate, for so long; batches that come late are not made up for. */
async function write(perSecond: number, ms: number): Promise<number> {
  const perTick = Math.round((perSecond * TICK_MS) / 1000);
  const end = performance.now() + ms;
  let written = 0;
  for (let next = performance.now(); next < end; next = Math.max(next + TICK_MS, performance.now())) {
    await pause(Math.max(0, next - performance.now()));
    const first = frame;
    written += await append(
      Array.from({ length: perTick }, (_, index) => ids[(first + index) % ids.length] ?? ''),
    );
  }
  return written;
}
