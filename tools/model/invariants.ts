import { PART, PRICE, sumRefunds } from './model-payments.ts';
import { ENDED } from './model-queue.ts';
import type { World } from './world.ts';

/** What does not hold at the end of a run. */
export async function brokenInvariants(world: World): Promise<readonly string[]> {
  const { upstream, payments } = world;
  // What nobody has answered about may be given up.
  const unknown = upstream.purchases.filter(({ isKnown, isUnanswered }) => !isKnown && !isUnanswered);
  const broken = [
    ...upstream.violations,
    ...unknown.map(({ reference, state }) => `was ${state} and nobody knew: ${reference}`),
    ...payments.violations,
    ...(await brokenTasks(world)),
  ];
  return payments.charges.size === 0 ? broken : [...broken, ...(await brokenPayments(world))];
}

async function brokenTasks({ pool }: World): Promise<readonly string[]> {
  const { rows } = await pool.query<{ broken: string }>({
    name: 'model-broken-tasks',
    text: `select 'does not end: ' || id || ' ' || state || ', ' || stage as broken from media.tasks where ended_at is null
    union all select what from model_wrong
    union all select 'holds a slot: ' || reference || ' ' || state || ' ' || coalesce(claim::text, 'unclaimed')
      from media.attempts where state in ('STARTING', 'RUNNING')
    union all select 'step is open: ' || step.task_id || '/' || step.step || ' ' || step.state
      from media.task_steps step join media.tasks task on task.id = step.task_id
      where task.ended_at is not null and step.state in ('QUEUED', 'RUNNING', 'STORING')
    union all select 'events: ' || task.id || ' has ' || count(event.seq) || ' up to ' || task.last_seq
      from media.tasks task left join media.task_events event on event.task_id = task.id
      group by task.id
      having count(event.seq) <> task.last_seq or max(event.seq) <> task.last_seq
        or count(*) filter (where event.state in ('SUCCEEDED', 'FAILED', 'CANCELLED')) <> 1
        or (array_agg(event.state order by event.seq desc))[1] <> task.state
    union all select 'end is told ' || count(job.id) || ' times: ' || task.id
      from media.tasks task left join model_jobs job on job.queue = $1 and job.data ->> 'taskId' = task.id::text
      where task.on_end = $1
      group by task.id having count(job.id) <> 1 or max(job.data ->> 'state') <> task.state
    union all select 'succeeded without a result: ' || id from media.tasks
      where state = 'SUCCEEDED' and jsonb_array_length(result -> 'mediaIds') = 0`,
    values: [ENDED],
  });
  return rows.map(({ broken }) => broken);
}

interface Sale {
  readonly id: string;
  readonly status: string;
  readonly amount_refunded: number;
  readonly refund_due: boolean;
  readonly execution: string | null;
  readonly task: string | null;
  readonly asked: number;
  readonly automatic: number;
}

/** What was paid is either delivered or given back, and given back once; all agree about how much. */
async function brokenPayments({ pool, payments }: World): Promise<readonly string[]> {
  const { rows } = await pool.query<Sale>(
    `select payment.id, payment.status, amount_refunded, refund_due, execution.status as execution, task.state as task,
      (select count(*) from workflow.refunds refund
        where payment_id = payment.id and pp_refund_id is not null and not automatic) as asked,
      (select count(*) from workflow.refunds refund
        where payment_id = payment.id and pp_refund_id is not null and automatic) as automatic
    from workflow.payments payment left join workflow.executions execution on execution.id = payment.execution_id
      left join media.tasks task on task.id = execution.task_id`,
  );
  return rows.flatMap((sale) => {
    const refunded = sumRefunds(payments.charges.get(sale.id) ?? { refunds: [] });
    return findProblems(sale, refunded).map(
      (problem) => `${problem}: ${refunded} back, ${JSON.stringify(sale)}`,
    );
  });
}

const ENDS: Readonly<Record<string, string>> = {
  SUCCEEDED: 'COMPLETED',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
};

function findProblems(sale: Sale, refunded: number): readonly string[] {
  const { status, execution, task, asked, automatic } = sale;
  const problems: Readonly<Record<string, boolean>> = {
    'a refund is still due': sale.refund_due,
    'we know of another refund than the provider': sale.amount_refunded !== refunded,
    'paid and not accepted': status === 'PENDING' || (execution === null && refunded === 0),
    'the execution does not end': execution === 'PENDING' || execution === 'RUNNING',
    'the execution ends otherwise than its task':
      task !== null && ENDS[task] !== execution && execution !== 'CANCELLED' && execution !== 'FAILED',
    'failed and not given back': execution === 'FAILED' && refunded !== PRICE,
    'delivered or cancelled and given back':
      execution !== 'FAILED' && (automatic > 0 || refunded !== asked * PART),
  };
  return Object.keys(problems).filter((name) => problems[name]);
}
