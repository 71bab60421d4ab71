import { setTimeout as pause } from 'node:timers/promises';

import type { Topology } from './topology.ts';

/** One thing that goes wrong, for about this long, and is put right again. */
export interface Fault {
  readonly name: string;
  run(topology: Topology, ms: number): Promise<void>;
}

const PARTS = [
  'gateway 1',
  'gateway 2',
  'media 1',
  'media 2',
  'workflow',
  'worker 1',
  'worker 2',
  'worker 3',
];

/** Every fault of the list; a run goes through them in a random order, again and again. */
const FAULTS: readonly Fault[] = [
  ...PARTS.flatMap((part): Fault[] => [
    {
      name: `kill -9 of ${part}`,
      async run(topology, ms) {
        await topology.end(part, 'SIGKILL');
        await pause(ms / 2);
        await topology.start(part);
      },
    },
    {
      name: `SIGSTOP of ${part}`,
      async run(topology, ms) {
        topology.signal(part, 'SIGSTOP');
        await pause(ms);
        topology.signal(part, 'SIGCONT');
      },
    },
    {
      name: `planned stop of ${part}`,
      async run(topology) {
        await topology.end(part, 'SIGTERM');
        await topology.start(part);
      },
    },
  ]),
  {
    name: 'database stopped',
    async run({ database }, ms) {
      await database.stop();
      await pause(ms);
      await database.start();
    },
  },
  {
    name: 'database restarted',
    async run({ database }) {
      await database.stop();
      await database.start();
    },
  },
  {
    name: 'database paused',
    async run({ database }, ms) {
      database.signal('SIGSTOP');
      await pause(ms);
      database.signal('SIGCONT');
    },
  },
  {
    name: 'no connections left',
    async run({ database }, ms) {
      const giveBack = await database.exhaust();
      await pause(ms);
      await giveBack();
    },
  },
  {
    name: 'provider away',
    async run({ sandbox }, ms) {
      await sandbox.kill();
      await pause(ms);
      await sandbox.restart();
    },
  },
  {
    name: 'disk of files full',
    async run({ disk }, ms) {
      disk?.fill();
      await pause(ms);
      disk?.free();
    },
  },
];

/** Shuffles by a seed, so that a run can be repeated. */
export function shuffled(seed: number): Fault[] {
  const left = [...FAULTS];
  const order: Fault[] = [];
  let state = seed;
  while (left.length > 0) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    order.push(...left.splice(state % left.length, 1));
  }
  return order;
}
