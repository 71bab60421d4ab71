import { test } from 'vitest';

import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { openEnvironment, type Environment } from './environment.ts';

interface KilnTestOptions {
  /** Most Kilns of a file, each with a world behind it; another one is started when a test finds none free. */
  readonly kilns: number;
  readonly settings: (world: Environment) => Readonly<Record<string, string>>;
}

interface Place {
  readonly world: Environment;
  readonly kiln: KilnUnderTest;
}

interface Fixtures extends Place {
  readonly places: Places;
  readonly place: Place;
}

/**
 * A test that has a Kiln and the world behind it to itself, so that those of a file can run at the same time: most of their time
 * they wait for a retry or the next poll. When it ends the next one takes them, the world as new: a start costs more than a test.
 */
export function createKilnTest(options: KilnTestOptions) {
  return test.extend<Fixtures>({
    places: [
      // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern
      async ({}, use) => {
        const places = createPlaces(options);
        await use(places);
        await places.close();
      },
      { scope: 'file' },
    ],
    place: ({ places }, use) => places.lend(use),
    world: ({ place }, use) => use(place.world),
    kiln: ({ place }, use) => use(place.kiln),
  });
}

type Places = ReturnType<typeof createPlaces>;

interface Slot {
  place?: Place;
}

/** A pool: a place is opened when it is first needed, and who finds all of them taken waits. */
function createPlaces({ kilns, settings }: KilnTestOptions) {
  const all = Array.from({ length: kilns }, (): Slot => ({}));
  const free = [...all];
  const waiting: ((slot: Slot) => void)[] = [];
  return {
    async lend(use: (place: Place) => Promise<void>): Promise<void> {
      // The one that was given back last: those that were never taken are not open.
      const slot = free.pop() ?? (await new Promise<Slot>((resolve) => waiting.push(resolve)));
      try {
        slot.place ??= await open(settings);
        await slot.place.world.reset();
        await use(slot.place);
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

async function open(settings: KilnTestOptions['settings']): Promise<Place> {
  const world = await openEnvironment();
  return { world, kiln: await startKiln({ settings: settings(world), logLevel: 'silent' }) };
}

async function close({ place }: Slot): Promise<void> {
  await place?.kiln.close();
  await place?.world.close();
}
