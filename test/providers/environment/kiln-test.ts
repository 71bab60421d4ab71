import { test } from 'vitest';

import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { openEnvironment, type Environment } from './environment.ts';

interface KilnTestOptions {
  /** Most Kilns of a file, each with a world behind it; another one is started when a test finds none free. */
  readonly kilns: number;
  readonly settings: (world: Environment) => Readonly<Record<string, string>>;
}

/** A Kiln and the world behind it. */
interface Pair {
  readonly world: Environment;
  readonly kiln: KilnUnderTest;
}

interface Fixtures extends Pair {
  readonly pool: Pool;
  readonly pair: Pair;
}

/**
 * A test that has a Kiln and the world behind it to itself, so that those of a file can run at the same time: most of their time
 * they wait for a retry or the next poll. When it ends the next one takes them, the world as new: a start costs more than a test.
 */
export function createKilnTest(options: KilnTestOptions) {
  return test.extend<Fixtures>({
    pool: [
      // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern
      async ({}, use) => {
        const pool = createPool(options);
        await use(pool);
        await pool.close();
      },
      { scope: 'file' },
    ],
    pair: ({ pool }, use) => pool.lend(use),
    world: ({ pair }, use) => use(pair.world),
    kiln: ({ pair }, use) => use(pair.kiln),
  });
}

type Pool = ReturnType<typeof createPool>;

interface Slot {
  pair?: Pair;
}

/** A pool whose pairs are opened when they are first needed; who finds all of them taken waits. */
function createPool({ kilns, settings }: KilnTestOptions) {
  const all = Array.from({ length: kilns }, (): Slot => ({}));
  const free = [...all];
  const waiting: ((slot: Slot) => void)[] = [];
  return {
    async lend(use: (pair: Pair) => Promise<void>): Promise<void> {
      // The one that came back last: those that were never taken are not open.
      const slot = free.pop() ?? (await new Promise<Slot>((resolve) => waiting.push(resolve)));
      try {
        slot.pair ??= await open(settings);
        await slot.pair.world.reset();
        await use(slot.pair);
      } finally {
        const next = waiting.shift();
        if (next) next(slot);
        else free.push(slot);
      }
    },
    async close(): Promise<void> {
      await Promise.all(all.map(close));
    },
  };
}

async function open(settings: KilnTestOptions['settings']): Promise<Pair> {
  const world = await openEnvironment();
  try {
    return { world, kiln: await startKiln({ settings: settings(world), logLevel: 'silent' }) };
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function close({ pair }: Slot): Promise<void> {
  await pair?.kiln.close();
  await pair?.world.close();
}
