import * as fc from 'fast-check';

import { newId } from '../../platform/ids.ts';
import { startQueue, STORE_QUEUE } from '../../subgraphs/media/tasks/rules/queues.ts';
import { BINDINGS, ENDED, type ModelProcess, type World } from './world.ts';

/** One thing that happens, and how many outside calls go on before the next. */
export interface Action {
  readonly name: keyof typeof ACTIONS;
  /** Chooses the process, the task, the purchase, the number of seconds. */
  readonly choice: number;
  readonly steps: number;
}

const SECONDS = [2, 16, 25, 60, 150, 400, 2_000];
const QUEUES = [...BINDINGS.map(startQueue), STORE_QUEUE];

const pick = <Item>(items: readonly Item[], choice: number): Item | undefined => items[choice % items.length];
const processOf = (world: World, choice: number): ModelProcess => {
  const process = pick(world.processes, choice);
  if (process === undefined) throw new Error('no process');
  return process;
};

/** What can happen, with how often it does. */
const ACTIONS = {
  submit: [3, (world, choice) => submit(world, choice)],
  deliver: [
    10,
    (world, choice) => {
      const process = processOf(world, choice);
      world.begin(process, () => process.deliver(pick(QUEUES, choice >> 1) ?? ''));
    },
  ],
  poll: [5, (world, choice) => run(world, choice, ({ worker }) => worker.poller.poll())],
  pollLater: [
    6,
    async (world, choice) => {
      await world.letPass(pick(SECONDS, choice) ?? 2);
      run(world, choice, ({ worker }) => worker.poller.poll());
    },
  ],
  recover: [2, (world, choice) => run(world, choice, ({ worker }) => worker.recovery.sweep())],
  sweep: [2, (world, choice) => run(world, choice, ({ worker }) => worker.sweep())],
  cancel: [
    2,
    (world, choice) => {
      const id = pick(world.taskIds, choice);
      if (id !== undefined) run(world, choice, ({ service }) => service.cancel(INTERNAL, id));
    },
  ],
  crash: [2, (world, choice) => world.restart(choice % world.processes.length)],
  letPass: [4, (world, choice) => world.letPass(pick(SECONDS, choice) ?? 2)],
  finish: [4, (world, choice) => end(world, choice, 'finished')],
  fail: [1, (world, choice) => end(world, choice, 'failed')],
  lose: [1, (world, choice) => end(world, choice, 'lost')],
  silence: [2, (world) => void (world.upstream.isSilent = !world.upstream.isSilent)],
  failCancels: [1, (world) => void (world.upstream.cancelsFail = !world.upstream.cancelsFail)],
  failStart: [
    2,
    (world, choice) =>
      void world.upstream.nextStarts.push(
        pick(['refused', 'cut', 'accepted-and-cut'] as const, choice) ?? 'cut',
      ),
  ],
  webhook: [
    1,
    (world, choice) => {
      const [taskId, step, number] = pick(world.upstream.purchases, choice)?.reference.split('/') ?? [];
      if (taskId === undefined) return;
      const key = { taskId, step: Number(step), number: Number(number) };
      run(world, choice, ({ attempts }) => attempts.makeDue(key));
    },
  ],
  loseJob: [
    1,
    async (world, choice) => {
      await world.pool.query(
        `delete from model_jobs where id = (select id from model_jobs where queue <> $2 order by id offset $1 limit 1
          for update skip locked)`,
        [choice % 3, ENDED],
      );
    },
  ],
  storeUnavailable: [1, (world) => void (world.files.unavailable = world.files.unavailable > 0 ? 0 : 3)],
  removeBinding: [
    1,
    (world, choice) => {
      const id = pick(BINDINGS, choice) ?? '';
      if (!world.removed.delete(id)) world.removed.add(id);
    },
  ],
} as const satisfies Record<string, readonly [number, (world: World, choice: number) => unknown]>;

/** A caller that may do everything. */
const INTERNAL = {
  kind: 'internal',
  id: 'model',
  scopes: [],
  traceId: 'model',
  address: null,
} as never;

/** Makes an action happen; what it begins goes on beside the next ones. */
export async function perform(world: World, { name, choice, steps }: Action): Promise<void> {
  await ACTIONS[name][1](world, choice);
  await world.schedule.advance(steps);
}

/** The actions of one run. */
export function actions(): fc.Arbitrary<Action[]> {
  const names = Object.keys(ACTIONS) as (keyof typeof ACTIONS)[];
  const name = fc.oneof(
    ...names.map((each) => ({ weight: ACTIONS[each][0] as number, arbitrary: fc.constant(each) })),
  );
  const action = fc.record({ name, choice: fc.nat(1_000), steps: fc.nat(40) });
  const first = fc.record({ name: fc.constant('submit' as const), choice: fc.nat(1_000), steps: fc.nat(40) });
  return fc
    .tuple(first, fc.array(action, { maxLength: 25, size: 'max' }))
    .map(([one, rest]) => [one, ...rest]);
}

function run(world: World, choice: number, body: (process: ModelProcess) => Promise<unknown>): void {
  const process = processOf(world, choice);
  world.begin(process, () => body(process));
}

function submit(world: World, choice: number): void {
  const id = newId();
  const work =
    choice % 3 === 0
      ? ({ ...RECIPE, presetPrompts: ['one', 'two'] } as const)
      : ({ kind: 'IMAGE', generator: choice % 3 === 1 ? 'test' : 'call', prompt: 'a fox' } as const);
  const submission = { work, fileIds: [], idempotencyKey: null, fingerprint: null };
  world.taskIds.push(id);
  run(world, choice >> 2, ({ service }) =>
    service.start({ ...submission, id, owner: 'usr_model', onEnd: ENDED }),
  );
}

const RECIPE = {
  kind: 'RECIPE',
  taskType: 'tea',
  prompt: 'a cup',
  aspectRatio: '1:1',
  templatePrompt: null,
} as const;

function end({ upstream }: World, choice: number, state: 'finished' | 'failed' | 'lost'): void {
  const purchase = pick(
    upstream.purchases.filter((each) => each.state === 'running'),
    choice,
  );
  if (purchase !== undefined) purchase.state = state;
}
