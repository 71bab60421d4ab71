import type { Pool } from 'pg';

import { hashTaskId } from '../../subgraphs/media/domain/attempt.ts';
import { perform, type Action } from './actions.ts';
import { brokenInvariants } from './invariants.ts';
import { ENDED } from './model-queue.ts';
import type { ModelProcess } from './process.ts';
import type { Scheduler } from './scheduled-process.ts';
import { createWorld, type World } from './world.ts';

/** Most rounds after which everything must have ended; a round in which nothing is due is a while later than the one before. */
const MAX_ROUNDS = 60;

/** Rounds without anything due after which nothing may run that nobody wants. */
const UNWANTED_UNTIL = 2;

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
  await world.schedule.free();
  await settle(world);
  const broken = await brokenInvariants(world);
  const thrown = world.errors.map(
    (error) => `thrown: ${error instanceof Error ? error.stack : String(error)}`,
  );
  await world.end();
  return [...broken, ...thrown];
}

/** The world behaves from here on: whatever was accepted must end. */
async function settle(world: World): Promise<void> {
  const { upstream, payments, files, media } = world;
  Object.assign(upstream, { isSilent: false, cancelsFail: false });
  upstream.nextStarts.length = payments.nextRefunds.length = files.unavailable = 0;
  media.isUnavailable = false;
  // From here on nothing is late: what could only be ended by its deadline has been forgotten.
  world.patience.hours = 24;
  payments.forget();
  world.restart(0);
  const [process] = world.processes;
  if (process === undefined) throw new Error('no process');
  await askAgain(world, process);
  for (let round = 0, stuck = 0; round < MAX_ROUNDS; round += 1) {
    const { isDelivered, left } = await workOnce(world, process);
    if (!left.is_open) return;
    // Nothing needs time to pass, nor a sweep, while work is at hand.
    if (isDelivered && left.queues.length > 0) continue;
    // By then every lease and pause is over, and no work has taken too long: what nobody wants must have been cancelled.
    if (stuck === UNWANTED_UNTIL)
      for (const { reference } of splitRunning(world, left.open_tasks).unwanted)
        upstream.violations.push(`runs on after the end of its task: ${reference}`);
    await world.letPass([20, 60, 400][stuck % 3] ?? 20);
    if (stuck > 0) await process.worker.sweep();
    if (stuck > 0 && payments.charges.size > 0) await process.commerce.sweep();
    stuck += 1;
  }
}

/** Does what is due: whether that were jobs, and what is left to do. */
async function workOnce(
  world: World,
  process: ModelProcess,
): Promise<{ readonly isDelivered: boolean; readonly left: Work }> {
  const due = await readWork(world);
  let isDelivered = false;
  for (const queue of due.queues) while (await process.deliver(queue)) isDelivered = true;
  const work = isDelivered ? await readWork(world) : due;
  for (const purchase of splitRunning(world, work.open_tasks).wanted) purchase.state = 'finished';
  if (work.is_polled) await process.worker.poller.poll();
  if (work.is_claimed) await process.worker.recovery.sweep();
  return { isDelivered, left: work.is_polled || work.is_claimed ? await readWork(world) : work };
}

/** What runs at the upstream, parted into that of open tasks and that which nobody wants. */
function splitRunning({ upstream }: World, openTasks: readonly string[]) {
  const references = openTasks.map(hashTaskId);
  const running = upstream.purchases.filter(({ state }) => state === 'running');
  const isWanted = ({ reference }: (typeof running)[number]): boolean =>
    references.some((one) => reference.startsWith(one));
  return {
    wanted: running.filter(isWanted),
    unwanted: running.filter((one) => !isWanted(one) && !one.isUnanswered),
  };
}

/** Whoever has got no answer asks again, also after the payment provider has forgotten the first time. */
async function askAgain({ parts }: World, { begin, commerce }: ModelProcess): Promise<void> {
  for (const [paymentId, key] of parts.values()) {
    await new Promise<void>((resolve) => {
      begin(() => commerce.refundPart(paymentId, key).finally(resolve));
    });
  }
}

/** What is to do at this moment: queues with due jobs, calls about running work, claimed starts, anything that is not final. */
interface Work {
  readonly queues: readonly string[];
  readonly is_polled: boolean;
  readonly is_claimed: boolean;
  readonly is_open: boolean;
  readonly open_tasks: readonly string[];
}

async function readWork({ pool, payments }: World): Promise<Work> {
  const { rows } = await pool.query<Work>({
    name: 'model-work',
    text: 'select * from model_work($1, $2)',
    values: [ENDED, payments.charges.size > 0],
  });
  const [work] = rows;
  if (work === undefined) throw new Error('no answer of model_work');
  return work;
}
