import type { Pool } from 'pg';

import { perform, type Action } from './actions.ts';
import { brokenInvariants } from './invariants.ts';
import { dueQueues } from './model-queue.ts';
import type { ModelProcess } from './process.ts';
import type { Scheduler } from './scheduled-process.ts';
import { createWorld, type World } from './world.ts';

/** Most rounds after which everything must have ended, each a while later than the one before. */
const MAX_ROUNDS = 40;

/** One run: the actions in whatever order the scheduler gives their calls, then the invariants. */
export async function runModel(
  pool: Pool,
  scheduler: Scheduler,
  list: readonly Action[],
): Promise<readonly string[]> {
  await pool.query({ name: 'model-reset', text: 'select model_reset()' });
  const world = createWorld(pool, scheduler);
  for (const action of list) await perform(world, action);
  await world.schedule.drain(world.isIdle);
  world.schedule.free();
  await settle(world);
  const broken = await brokenInvariants(world);
  const thrown = world.errors.map(
    (error) => `thrown: ${error instanceof Error ? error.stack : String(error)}`,
  );
  for (const process of world.processes) await process.crash();
  return [...broken, ...thrown];
}

/** The world behaves from here on: whatever was accepted must end. */
async function settle(world: World): Promise<void> {
  const { upstream, payments, files, media } = world;
  Object.assign(upstream, { isSilent: false, cancelsFail: false });
  upstream.nextStarts.length = payments.nextRefunds.length = files.unavailable = 0;
  media.isAway = false;
  // From here on nothing is late: what could only be ended by its deadline has been forgotten.
  world.patience.hours = 24;
  payments.forget();
  await world.restart(0);
  const [process] = world.processes;
  if (process === undefined) throw new Error('no process');
  await askAgain(world, process);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (const queue of await dueQueues(world)) while (await process.deliver(queue));
    for (const purchase of upstream.purchases) if (purchase.state === 'running') purchase.state = 'finished';
    await process.worker.poller.poll();
    await process.worker.recovery.sweep();
    if (!(await isOpen(world))) return;
    await world.letPass([20, 60, 400][round % 3] ?? 20);
    if (round > 0) await process.worker.sweep();
    if (round > 0 && payments.charges.size > 0) await process.commerce.sweep();
  }
}

/** Whoever has got no answer asks again, also after the payment provider has forgotten the first time. */
async function askAgain({ parts }: World, { begin, commerce }: ModelProcess): Promise<void> {
  for (const [paymentId, key] of parts.values()) {
    await new Promise<void>((resolve) => {
      begin(() => commerce.refundPart(paymentId, key).finally(resolve));
    });
  }
}

async function isOpen({ pool, payments }: World): Promise<boolean> {
  const { rowCount } = await pool.query(payments.charges.size === 0 ? OPEN : OPEN_OR_DUE);
  return rowCount !== 0;
}

const OPEN = {
  name: 'model-open',
  text: `select from media.tasks where ended_at is null
    union all select from media.attempts where state in ('STARTING', 'RUNNING') limit 1`,
};
const OPEN_OR_DUE = {
  name: 'model-open-or-due',
  text: `select from workflow.executions where ended_at is null
    union all select from workflow.payments where status = 'PENDING' or refund_due
    union all ${OPEN.text}`,
};
