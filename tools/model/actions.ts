import * as fc from 'fast-check';

import { STORE_QUEUE } from '../../subgraphs/media/tasks/rules/queues.ts';
import * as executions from '../../subgraphs/workflow/executions/lifecycle.ts';
import { refundQueue } from '../../subgraphs/workflow/payments/automatic-refunds.ts';
import { INTERNAL, pick, pickProcess, run, SECONDS, STARTS } from './choices.ts';
import { dueQueues, ENDED } from './model-queue.ts';
import { BINDINGS, ORDER } from './process.ts';
import {
  cancelDuringPoll,
  crowd,
  deliverTwice,
  failPurchases,
  hesitate,
  loseStores,
  outage,
  pollLater,
} from './stretches.ts';
import { buy, submit } from './submissions.ts';
import type { World } from './world.ts';

/** One thing that happens, and how many outside calls go on before the next. */
export interface Action {
  readonly name: keyof typeof ACTIONS;
  /** Chooses the process, the task, the purchase, the number of seconds. */
  readonly choice: number;
  readonly steps: number;
}

const QUEUES = [...STARTS, STORE_QUEUE];
/** Of the workflow subgraph: starts, ends, refunds and cancels of executions. */
const PAID_QUEUES = [executions.startQueue, executions.endedQueue, refundQueue, executions.cancelQueue];

const isPaid = ({ payments }: World): boolean => payments.charges.size > 0;

/** What can happen, with how often it does. */
const ACTIONS = {
  submit: [3, (world, choice) => submit(world, pickProcess(world, choice >> 2), choice)],
  buy: [1, (world, choice) => buy(world, pickProcess(world, choice >> 2), choice)],
  work: [
    6,
    (world, choice) =>
      run(world, choice, async (process) => {
        for (const queue of await dueQueues(world)) await process.deliver(queue);
        await process.worker.poller.poll();
      }),
  ],
  deliver: [6, (world, choice) => deliver(world, choice, QUEUES)],
  deliverPaid: [3, (world, choice) => (isPaid(world) ? deliver(world, choice, PAID_QUEUES) : undefined)],
  deliverTwice: [2, deliverTwice],
  hesitate: [2, hesitate],
  crowd: [1, crowd],
  poll: [3, (world, choice) => run(world, choice, ({ worker }) => worker.poller.poll())],
  pollLater: [4, (world, choice) => pollLater(world, choice, pick(SECONDS, choice) ?? 2)],
  recover: [2, (world, choice) => run(world, choice, ({ worker }) => worker.recovery.sweep())],
  sweep: [
    2,
    (world, choice) => {
      const isMoney = choice % 2 === 1 && isPaid(world);
      run(world, choice >> 1, ({ worker, commerce }) => (isMoney ? commerce.sweep() : worker.sweep()));
    },
  ],
  cancel: [
    2,
    (world, choice) => {
      const id = pick(world.taskIds, choice);
      if (id !== undefined) run(world, choice, ({ service }) => service.cancel(INTERNAL, id));
    },
  ],
  crash: [2, (world, choice) => world.restart(choice % world.processes.length)],
  letPass: [2, (world, choice) => world.letPass(pick(SECONDS, choice) ?? 2)],
  finish: [4, (world, choice) => end(world, choice, 'finished')],
  fail: [1, (world, choice) => end(world, choice, 'failed')],
  lose: [1, (world, choice) => end(world, choice, 'lost')],
  silence: [1, ({ upstream }) => void (upstream.isSilent = !upstream.isSilent)],
  outage: [1, outage],
  cancelDuringPoll: [1, cancelDuringPoll],
  failCancels: [1, ({ upstream }) => void (upstream.cancelsFail = !upstream.cancelsFail)],
  failStart: [
    2,
    ({ upstream }, choice) =>
      void upstream.nextStarts.push(pick(['refused', 'cut', 'accepted-and-cut'] as const, choice) ?? 'cut'),
  ],
  webhook: [
    1,
    (world, choice) => {
      const reference = pick(world.upstream.purchases, choice)?.reference;
      if (reference === undefined) return;
      run(world, choice, async ({ attempts }) => {
        const found = await attempts.find(reference);
        if (found !== null) await attempts.makeDue(found.key);
      });
    },
  ],
  loseJob: [
    1,
    async ({ pool }, choice) => {
      await pool.query(
        `delete from model_jobs where id = (select id from model_jobs where queue <> $2 order by id offset $1 limit 1
          for update skip locked)`,
        [choice % 3, ENDED],
      );
    },
  ],
  loseStores: [1, loseStores],
  failPurchases: [1, failPurchases],
  storeUnavailable: [1, ({ files }) => void (files.unavailable = files.unavailable > 0 ? 0 : 3)],
  changeBindings: [
    1,
    (world, choice) => {
      const id = pick([...BINDINGS, ORDER], choice) ?? '';
      if (!world.removed.delete(id)) {
        world.removed.add(id);
        takeAway(world, id);
      }
      return world.restart(choice % world.processes.length);
    },
  ],
  mediaAway: [1, ({ media }) => void (media.isUnavailable = !media.isUnavailable)],
  refundPart: [
    2,
    (world, choice) => {
      const paymentId = pick([...world.payments.charges.keys()], choice);
      if (paymentId === undefined) return;
      const key = `key-${choice % 2}`;
      world.parts.set(`${paymentId}/${key}`, [paymentId, key]);
      // Who has heard nothing asks again in the end, when the provider has forgotten the first time.
      if (choice % 3 === 0) world.payments.nextRefunds.unshift('answer lost');
      run(world, choice >> 1, ({ commerce }) => commerce.refundPart(paymentId, key));
    },
  ],
  failRefund: [
    1,
    ({ payments }, choice) =>
      void payments.nextRefunds.push(pick(['answer lost', 'refused'] as const, choice) ?? 'refused'),
  ],
  forgetRefunds: [1, ({ payments }) => payments.forget()],
} as const satisfies Record<string, readonly [number, (world: World, choice: number) => unknown]>;

/** Makes an action happen; what it begins goes on beside the next ones. */
export async function perform(world: World, { name, choice, steps }: Action): Promise<void> {
  await ACTIONS[name][1](world, choice);
  // A round of work is many calls: of some, all are made before the next thing happens.
  await world.schedule.advance(name === 'work' ? steps * 6 : steps);
}

/** The actions of one run. */
export function actions(): fc.Arbitrary<Action[]> {
  const names = Object.keys(ACTIONS) as (keyof typeof ACTIONS)[];
  const createAction = (name: fc.Arbitrary<keyof typeof ACTIONS>) =>
    fc.record({ name, choice: fc.nat(1_000), steps: fc.nat(40) });
  const any = fc.oneof(
    ...names.map((each) => ({ weight: ACTIONS[each][0] as number, arbitrary: fc.constant(each) })),
  );
  return fc
    .tuple(
      createAction(fc.constantFrom('submit', 'submit', 'buy')),
      fc.array(createAction(any), { maxLength: 25, size: 'max' }),
    )
    .map(([first, rest]) => [first, ...rest]);
}

function deliver(world: World, choice: number, queues: readonly string[]): void {
  run(world, choice, (process) => process.deliver(pick(queues, choice >> 1) ?? ''));
}

/** After some time the slots of its work are given up, though it may run. */
function takeAway({ upstream }: World, binding: string): void {
  upstream.takenAway.add(binding);
  for (const purchase of upstream.purchases) if (purchase.binding === binding) purchase.isUnanswered = true;
}

function end({ upstream }: World, choice: number, state: 'finished' | 'failed' | 'lost'): void {
  const purchase = pick(
    upstream.purchases.filter((each) => each.state === 'running'),
    choice,
  );
  if (purchase !== undefined) purchase.state = state;
}
