import { createHash } from 'node:crypto';

import { until } from '../kit/clients/requests.ts';
import type { Seen } from './load.ts';
import type { Topology } from './topology.ts';

/** One line of the table: what was looked at, how much of it there is, and what is wrong. */
export interface Finding {
  readonly what: string;
  readonly count: number;
  readonly wrong: readonly string[];
}

const ENDED = "('SUCCEEDED', 'FAILED', 'CANCELLED')";

/** Waits until all work has ended (three minutes at most), then looks at everything. */
export async function verify(topology: Topology, seen: Seen): Promise<readonly Finding[]> {
  const { database } = topology;
  const open = `select id::text as text from media.tasks where state not in ${ENDED}
    union all select id::text from workflow.executions where status in ('PENDING', 'RUNNING')
    union all select id from workflow.payments where pp_session_id = any (array[${textsOf(seen.paid)}]::text[]) and status = 'PENDING'`;
  const left = await until(
    () => texts(topology, open),
    (ids) => ids.length === 0,
    180_000,
    1_000,
  ).catch(() => texts(topology, open));
  const known = new Set(await texts(topology, 'select id::text as text from media.tasks'));
  const references = await database.rows<{ reference: string; state: string }>(
    'select reference, state from media.attempts',
  );
  return [
    { what: 'tasks and executions ended', count: known.size, wrong: left },
    {
      what: 'answered tasks are there, one per key',
      count: seen.tasks.size,
      wrong: [
        ...[...seen.tasks].filter(([, id]) => !known.has(id)).map(([key]) => `${key} is lost`),
        ...(new Set(seen.tasks.values()).size === seen.tasks.size ? [] : ['two keys have one task']),
      ],
    },
    await startsOf(topology, references),
    { what: 'logs without a gap', count: known.size, wrong: await texts(topology, GAPS) },
    followedOf(seen),
    await filesOf(topology),
    await moneyOf(topology, seen),
    { what: 'answers that may not be repeated', count: seen.refused.length, wrong: seen.refused },
  ];
}

const GAPS = `select task_id::text as text from media.task_events group by task_id
  having count(*) <> max(seq) or min(seq) <> 1`;

function textsOf(values: Iterable<string>): string {
  return [...values].map((value) => `'${value.replaceAll("'", "''")}'`).join(',');
}

async function texts({ database }: Topology, query: string): Promise<readonly string[]> {
  return (await database.rows<{ text: string }>(query)).map(({ text }) => text);
}

/** What the provider itself counted: each reference once, none that no attempt has, no step bought twice. */
async function startsOf(
  { sandbox }: Topology,
  references: readonly { readonly reference: string; readonly state: string }[],
): Promise<Finding> {
  const starts = await sandbox.starts();
  const known = new Set(references.map(({ reference }) => reference));
  const bought = (await sandbox.jobs())
    .filter(({ state }) => state !== 'failed' && state !== 'cancelled')
    .flatMap(({ reference }) => reference?.split('/').slice(0, 2).join('/') ?? []);
  const twice = bought.filter((step, index) => bought.indexOf(step) !== index);
  return {
    what: 'starts at the provider',
    count: Object.keys(starts).length,
    wrong: [
      ...Object.keys(starts)
        .filter((reference) => starts[reference] !== 1)
        .map((it) => `${it} twice`),
      ...Object.keys(starts)
        .filter((reference) => !known.has(reference))
        .map((it) => `${it} unasked`),
      ...twice.map((step) => `${step} bought twice`),
      ...references
        .filter(({ state }) => state === 'STARTING' || state === 'RUNNING')
        .map(({ reference }) => `${reference} still open`),
    ],
  };
}

function followedOf({ followed }: Seen): Finding {
  const wrong = [...followed].filter(([, events]) => events.some(({ seq }, index) => seq !== index + 1));
  return { what: 'followers saw every entry once', count: followed.size, wrong: wrong.map(([id]) => id) };
}

/** Fetches every file over the gateway. */
async function filesOf({ database, gateways }: Topology): Promise<Finding> {
  const files = await database.rows<{ id: string; name: string; sha256: string }>(
    `select id::text, name, sha256 from media.media where state = 'STORED'`,
  );
  const wrong: string[] = [];
  for (const { id, name, sha256 } of files) {
    const answer = await fetch(`${gateways[1]}/files/${id}/${encodeURIComponent(name)}`);
    const digest = createHash('sha256')
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest('hex');
    if (digest !== sha256) wrong.push(`${id}: ${answer.status}`);
  }
  return { what: 'files have their sha256', count: files.length, wrong };
}

/** What was paid is delivered, or given back. */
async function moneyOf(topology: Topology, { paid }: Seen): Promise<Finding> {
  const rows = await topology.database.rows<{ session: string; status: string; execution: string | null }>(
    `select pp_session_id as session, payment.status, execution.status as execution from workflow.payments payment
      left join workflow.executions execution on execution.id = payment.execution_id`,
  );
  const wrong = [...paid].flatMap((session) => {
    const found = rows.find((row) => row.session === session);
    if (found?.status === 'COMPLETED' && found.execution === 'COMPLETED') return [];
    if (found?.status === 'REFUNDED' && found.execution !== 'COMPLETED') return [];
    return [`${session}: ${found?.status}, ${found?.execution}`];
  });
  return { what: 'paid and delivered, or given back', count: paid.size, wrong };
}
