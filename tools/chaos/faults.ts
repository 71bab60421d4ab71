import { setTimeout as pause } from 'node:timers/promises';

import type { Topology } from './topology.ts';

/** One thing that goes wrong, for about this long, and is put right again. */
export interface Fault {
  readonly name: string;
  /** What it is done to: nothing else is done to that meanwhile. */
  readonly target: string;
  run(topology: Topology, ms: number): Promise<void>;
}

/** Faults of one kind; a run draws each of them before it repeats one. */
interface Kind {
  readonly faults: (parts: readonly string[]) => readonly Fault[];
  /** How often it comes while each other kind comes once (default 1). */
  readonly weight?: number;
  /** Whether this machine can do it. */
  readonly isPossible?: (topology: Topology) => boolean;
}

const BETWEEN_LOSSES_MS = 100;
/** How much longer than others the disk is full. */
const DISK_TIMES = 3;
/** The part that has processes of its own. */
const SUPERVISED = 'Kiln';

const KINDS: readonly Kind[] = [
  {
    weight: 2,
    faults: ofEachPart('kill -9', async (topology, part, ms) => {
      await topology.end(part, 'SIGKILL');
      await pause(ms / 2);
      await topology.start(part);
    }),
  },
  {
    weight: 2,
    faults: ofEachPart('SIGSTOP', async (topology, part, ms) => {
      topology.signal(part, 'SIGSTOP');
      await pause(ms);
      topology.signal(part, 'SIGCONT');
    }),
  },
  {
    weight: 2,
    faults: ofEachPart('planned stop', async (topology, part) => {
      await topology.end(part, 'SIGTERM');
      await topology.start(part);
    }),
  },
  {
    ...only('kill -9 of one process of the port', SUPERVISED, async (topology, ms) => {
      topology.killChild(SUPERVISED);
      await pause(ms);
    }),
    weight: 2,
    isPossible: ({ parts }) => parts.includes(SUPERVISED),
  },
  only('database stopped', 'database', async ({ database }, ms) => {
    await database.stop();
    await pause(ms);
    await database.start();
  }),
  only('database restarted', 'database', async ({ database }) => {
    await database.stop();
    await database.start();
  }),
  only('database paused', 'database', async ({ database }, ms) => {
    database.signal('SIGSTOP');
    await pause(ms);
    database.signal('SIGCONT');
  }),
  only('no connections left', 'database', async ({ database }, ms) => {
    const releaseConnections = await database.exhaust();
    await pause(ms);
    await releaseConnections();
  }),
  only('committed, acknowledgement lost', 'database', async ({ relay }, ms) => {
    const over = performance.now() + ms;
    // Each statement in turn, as one that is seldom sent may not come in time.
    for (let lost = 0; performance.now() < over; lost += 1) {
      relay.loseNext([...relay.sent][lost % relay.sent.size] ?? '');
      await pause(BETWEEN_LOSSES_MS);
    }
    relay.loseNext('');
  }),
  only('provider away', 'provider', async ({ sandbox }, ms) => {
    await sandbox.kill();
    await pause(ms);
    await sandbox.restart();
  }),
  {
    ...only('disk of files full', 'disk', async ({ disk }, ms) => {
      disk?.fill();
      // Long enough that results come meanwhile, also while a fault before is still being got over.
      await pause(ms * DISK_TIMES);
      disk?.free();
    }),
    isPossible: ({ disk }) => disk !== null,
  },
  {
    ...only('disk of files slow', 'disk', async ({ disk }, ms) => disk?.slow(ms)),
    isPossible: ({ disk }) => disk !== null,
  },
  {
    ...only('NATS away', 'NATS', async ({ nats }, ms) => {
      await nats?.kill();
      await pause(ms);
      await nats?.restart();
    }),
    isPossible: ({ nats }) => nats !== null,
  },
];

function only(name: string, target: string, run: Fault['run']): Kind {
  return { faults: () => [{ name, target, run }] };
}

function ofEachPart(
  name: string,
  run: (topology: Topology, part: string, ms: number) => Promise<void>,
): Kind['faults'] {
  return (parts) =>
    parts.map((part) => ({
      name: `${name} of ${part}`,
      target: part,
      run: (topology, ms) => run(topology, part, ms),
    }));
}

/** How many faults it takes until every kind has come. */
export function countFaults(topology: Topology): number {
  return kindsFor(topology).reduce((sum, { weight = 1 }) => sum + weight, 0);
}

function kindsFor(topology: Topology): readonly Kind[] {
  return KINDS.filter(({ isPossible }) => isPossible?.(topology) ?? true);
}

/**
 * Draws without end, the same for the same seed: round by round every kind as often as it weighs, in a random order; each
 * time it is the turn of another part.
 */
export function* drawn(topology: Topology, seed: number): Generator<Fault, never> {
  const random = createRandom(seed);
  const kinds = kindsFor(topology);
  const bags = new Map(kinds.map((kind) => [kind, [] as Fault[]]));
  for (;;) {
    const round = kinds.flatMap((kind) => Array.from({ length: kind.weight ?? 1 }, () => kind));
    for (const kind of shuffled(round, random)) {
      const bag = bags.get(kind) ?? [];
      if (bag.length === 0) bag.push(...shuffled(kind.faults(topology.parts), random));
      const fault = bag.pop();
      if (fault !== undefined) yield fault;
    }
  }
}

/** Mulberry32: small, and good enough to shuffle with. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function shuffled<Value>(values: readonly Value[], random: (below: number) => number): Value[] {
  const left = [...values];
  return values.flatMap(() => left.splice(random(left.length), 1));
}
