import { hashTaskId } from '../../subgraphs/media/domain/attempt.ts';
import { STORE_QUEUE } from '../../subgraphs/media/tasks/rules/queues.ts';
import { refundQueue } from '../../subgraphs/workflow/payments/automatic-refunds.ts';
import { INTERNAL, pick, pickProcess, run, SECONDS, STARTS } from './choices.ts';
import { dueQueues } from './model-queue.ts';
import { buy, submit } from './submissions.ts';
import type { World } from './world.ts';

/** Actions that are whole stretches: random single ones rarely reach the states in which such faults hide. */

/** One job is delivered to two processes at once: a start, when there is no other. */
export async function deliverTwice(world: World, choice: number): Promise<void> {
  if ((await dueQueues(world)).length === 0) {
    submit(world, pickProcess(world, choice), choice);
    await world.schedule.advance(60);
  }
  const queue = pick(await dueQueues(world), choice);
  if (queue === undefined) return;
  for (const [index, process] of world.processes.entries()) {
    process.begin(() => process.deliver(queue, index > 0));
  }
}

/**
 * A start is on its way for long, or its process is paused before the answer comes; another process gets its job and looks after it,
 * and does what follows from that.
 */
export async function hesitate(world: World, choice: number): Promise<void> {
  const { upstream, schedule } = world;
  const queue = await startAtHand(world, choice);
  if (queue === undefined) return;
  const [one, other] = [pickProcess(world, choice), pickProcess(world, choice + 1)];
  const release = Promise.withResolvers<void>();
  const at = choice % 4 < 2 ? 'arrival' : 'answer';
  upstream.held = { at, until: release.promise };
  one.begin(() => one.deliver(queue));
  await schedule.advance(60);
  const isHeld = upstream.held === null;
  upstream.held = null;
  const goOn = async (body: () => Promise<unknown>): Promise<void> => {
    other.begin(body);
    await schedule.advance(60);
  };
  if (isHeld) {
    if (at === 'answer') await world.letPass(25, one);
    await goOn(() => other.deliver(queue, true));
    await goOn(() => other.worker.recovery.sweep());
    await world.letPass(pick(SECONDS, choice) ?? 2, at === 'answer' ? one : undefined);
    for (const next of await dueQueues(world)) await goOn(() => other.deliver(next));
  }
  release.resolve();
}

/** More comes at once than there is room for, and each process takes as much as it can get. */
export async function crowd(world: World, choice: number): Promise<void> {
  for (let count = 0; count < 4; count += 1) submit(world, pickProcess(world, count), choice);
  await world.schedule.advance(150);
  for (const queue of await dueQueues(world)) {
    if (!STARTS.includes(queue)) continue;
    for (const process of [...world.processes, ...world.processes])
      process.begin(() => process.deliver(queue));
  }
}

/** The queue of a start that is due: of a new task, when there is none. */
async function startAtHand(world: World, choice: number): Promise<string | undefined> {
  const starts = async () => (await dueQueues(world)).filter((queue) => STARTS.includes(queue));
  if ((await starts()).length === 0) {
    submit(world, pickProcess(world, choice), choice);
    await world.schedule.advance(60);
  }
  return pick(await starts(), choice);
}

/** Some work is finished, and the jobs that would store it are lost. */
export async function loseStores(world: World, choice: number): Promise<void> {
  const { upstream, schedule, pool } = world;
  for (const purchase of upstream.purchases) if (purchase.state === 'running') purchase.state = 'finished';
  await pollLater(world, choice, 60);
  await schedule.advance(60);
  await pool.query(deleteJobs(STORE_QUEUE, 'true'));
}

/** Two executions are paid and can't be started in time, and of their refunds one loses its job. */
export async function failPurchases(world: World, choice: number): Promise<void> {
  const { media, schedule, pool, patience } = world;
  media.isUnavailable = true;
  for (const place of [0, 1]) await buy(world, pickProcess(world, choice), choice + place);
  await schedule.advance(120);
  await world.letPass(patience.hours * 3_600 + 60);
  run(world, choice, ({ commerce }) => commerce.sweep());
  await schedule.advance(120);
  await pool.query(deleteJobs(refundQueue, `id % 2 = ${choice % 2}`));
  media.isUnavailable = false;
}

const deleteJobs = (queue: string, which: string): string =>
  `delete from model_jobs where id = any (array(
    select id from model_jobs where queue = '${queue}' and ${which} for update skip locked))`;

/** Time passes, then one process polls. */
export async function pollLater(world: World, choice: number, seconds: number): Promise<void> {
  await world.letPass(seconds);
  run(world, choice, ({ worker }) => worker.poller.poll());
}

/** Nobody answers for some minutes, or nobody cancels what has taken too long; the poller goes on asking. */
export async function outage(world: World, choice: number): Promise<void> {
  const { upstream, schedule } = world;
  if (!upstream.purchases.some(({ state }) => state === 'running')) return;
  const isShort = choice % 2 === 0;
  if (isShort) upstream.isSilent = true;
  else upstream.cancelsFail = true;
  for (let calls = isShort ? 5 + (choice % 8) : 1; calls > 0; calls -= 1) {
    await pollLater(world, choice >> 1, isShort ? 31 : 150);
    await schedule.advance(60);
  }
  if (isShort) upstream.isSilent = false;
}

/**
 * Work is cancelled in one process while another one asks how it goes: the answer must not put off what has become due, so that the
 * next round of polling, at the same moment, asks the upstream to stop.
 */
export async function cancelDuringPoll(world: World, choice: number): Promise<void> {
  const { upstream, schedule, taskIds } = world;
  await schedule.drain(world.isIdle);
  await world.letPass(31);
  const [one, other] = [pickProcess(world, choice), pickProcess(world, choice + 1)];
  const release = Promise.withResolvers<void>();
  const held: NonNullable<typeof upstream.heldStatus> = { until: release.promise, purchase: null };
  upstream.heldStatus = held;
  one.begin(() => one.worker.poller.poll());
  await schedule.advance(60);
  upstream.heldStatus = null;
  const { purchase } = held;
  const id = taskIds.find((each) => purchase?.reference.startsWith(hashTaskId(each)));
  let isAsked = false as boolean;
  if (id !== undefined) {
    other.begin(async () => {
      await other.service.cancel(INTERNAL, id);
      isAsked = true;
    });
    await schedule.advance(60);
  }
  release.resolve();
  await schedule.drain(world.isIdle);
  if (purchase === null || !isAsked || upstream.cancelsFail) return;
  one.begin(() => one.worker.poller.poll());
  await schedule.drain(world.isIdle);
  if (purchase.state === 'running')
    upstream.violations.push(`cancelled, and not asked to stop: ${purchase.reference}`);
}
