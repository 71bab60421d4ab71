import { until } from '../../../test/kit/clients/requests.ts';
import type { Seen } from '../load.ts';
import { verifyFiles } from './files.ts';
import { verifyMoney } from './money.ts';
import { verifyStarts } from './starts.ts';
import { quoteList, texts, type Finding, type Verified } from './verified.ts';

const ENDED = "('SUCCEEDED', 'FAILED', 'CANCELLED')";

/** Waits until all work has ended (`patienceMs` at most), then looks at everything. */
export async function verify(
  verified: Verified,
  seen: Seen,
  patienceMs = 180_000,
): Promise<readonly Finding[]> {
  const open = openWork(seen);
  const left = await until(
    () => texts(verified, open),
    (ids) => ids.length === 0,
    patienceMs,
    1_000,
  ).catch(() => texts(verified, open));
  const known = new Set(await texts(verified, 'select id::text as text from media.tasks'));
  return [
    { what: 'tasks and executions ended', count: known.size, wrong: left },
    {
      what: 'none of them in vain',
      count: known.size,
      wrong: await texts(verified, FAILED),
    },
    {
      what: 'answered tasks are there, one per key',
      count: seen.tasks.size,
      wrong: [
        ...[...seen.tasks].filter(([, id]) => !known.has(id)).map(([key]) => `${key} is lost`),
        ...(new Set(seen.tasks.values()).size === seen.tasks.size ? [] : ['two keys have one task']),
        ...(await texts(verified, TWICE)),
      ],
    },
    await verifyStarts(verified),
    { what: 'logs without a gap', count: known.size, wrong: await texts(verified, GAPS) },
    await verifyFollowed(verified, seen),
    await verifyFiles(verified),
    await verifyMoney(verified, seen.paid),
    { what: 'answers that may not be repeated', count: seen.refused.length, wrong: seen.refused },
  ];
}

function openWork({ paid }: Seen): string {
  return `select id::text as text from media.tasks where state not in ${ENDED}
    union all select id::text from workflow.executions where status in ('PENDING', 'RUNNING')
    union all select id from workflow.payments
      where pp_session_id = any (array[${quoteList(paid)}]::text[]) and status = 'PENDING'`;
}

/** The load asks for an image of its key, so that a task nobody was told of is noticed too. */
const TWICE = `select input ->> 'prompt' || ' has ' || count(*) || ' tasks' as text from media.tasks
  where not sold and input ->> 'prompt' like 'chaos-%' group by input ->> 'prompt' having count(*) > 1`;

/** No part of a run is a reason for work to fail. */
const FAILED = `select id::text || ' ' || coalesce(error::text, state) as text from media.tasks
  where state in ('FAILED', 'CANCELLED')`;

/** A task without a log is a gap as well. */
const GAPS = `select task.id::text as text from media.tasks task left join media.task_events event on event.task_id = task.id
  group by task.id having count(event.seq) = 0 or count(event.seq) <> max(event.seq) or min(event.seq) <> 1`;

/** Each follower saw what the log holds, in its order, to the last entry. */
async function verifyFollowed(verified: Verified, { followed }: Seen): Promise<Finding> {
  const logs = await verified.rows<{ id: string; last: number }>(
    `select task_id::text as id, max(seq)::integer as last from media.task_events
      where task_id::text = any (array[${quoteList(followed.keys())}]::text[]) group by task_id`,
  );
  const lasts = new Map(logs.map(({ id, last }) => [id, last]));
  const wrong = [...followed].filter(
    ([id, events]) => events.length !== lasts.get(id) || events.some(({ seq }, index) => seq !== index + 1),
  );
  return {
    what: 'followers saw every entry once',
    count: followed.size,
    wrong: wrong.map(([id, events]) => `${id}: ${events.map(({ seq }) => seq).join(' ')}`),
  };
}
