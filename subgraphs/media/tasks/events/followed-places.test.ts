import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { TaskEvent } from '../../domain/task.ts';
import type { TaskLog } from './event-subscriber.ts';
import { createFollowedPlaces } from './followed-places.ts';
import { MAX_PLACES, readCursor } from './place-cursor.ts';

const NOW = Date.parse('2026-09-01T12:00:00Z');
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const formatId = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const entry = (taskId: string, seq: number, secondsAgo: number): TaskEvent =>
  ({ taskId, seq, at: new Date(NOW - secondsAgo * 1_000) }) as TaskEvent;

/** A log that hands these entries out and stays open, or ends; `isBehind`: it has not read all that is written. */
function createLog(
  entries: readonly TaskEvent[],
  { isBehind = false, ends = false }: { readonly isBehind?: boolean; readonly ends?: boolean } = {},
): TaskLog {
  const hand = async function* () {
    yield* entries;
    if (!ends) await new Promise(() => undefined);
  };
  return Object.assign(hand(), { isBehind: () => isBehind });
}

/** Follows tasks with one entry each, a second apart, the last written `secondsAgo`; all of them are read. */
async function follow(
  count: number,
  secondsAgo: number,
  isBehind: (number: number) => boolean = () => false,
) {
  const places = createFollowedPlaces(NOW - 3_600_000);
  for (let number = 0; number < count; number += 1) {
    const taskId = formatId(number);
    places.begin(taskId, 0);
    const only = entry(taskId, 1, secondsAgo + count - 1 - number);
    const noted = places.note(taskId, createLog([only], { isBehind: isBehind(number) }));
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as a follower reads
    const { value } = await noted[Symbol.asyncIterator]().next();
    places.read(value as TaskEvent);
  }
  return places;
}

const parseCursor = (places: { cursor(): string }) => readCursor(places.cursor());

describe('the places of a follower', () => {
  it('are listed in its cursor, each with the entry that was read last', async () => {
    const places = await follow(3, 60);
    expect(parseCursor(places)).toEqual({
      madeAt: NOW,
      beganAt: NOW - 3_600_000,
      floor: 0,
      seqs: new Map([0, 1, 2].map((number) => [formatId(number), 1])),
    });
    expect(places.begin(formatId(1), 5)).toBe(false);
    expect(places.begin(formatId(9), 5)).toBe(true);
    expect(parseCursor(places).seqs.get(formatId(9))).toBe(5);
  });

  it('beyond what a cursor lists go by the moment of the newest entry among them', async () => {
    const places = await follow(MAX_PLACES + 2, 60);
    const { floor, seqs } = parseCursor(places);
    expect([seqs.size, seqs.has(formatId(0)), seqs.has(formatId(1)), seqs.has(formatId(2))]).toEqual([
      MAX_PLACES,
      false,
      false,
      true,
    ]);
    // The second was written 256 seconds before the last.
    expect(floor).toBe(NOW - (60 + MAX_PLACES) * 1_000);
  });

  it('go by no moment of the last ten seconds, in which entries may still be on their way', async () => {
    const places = await follow(MAX_PLACES + 1, 0);
    places.read(entry(formatId(0), 2, 0));
    places.read(entry(formatId(1), 2, 3));
    const first = parseCursor(places);
    expect([first.seqs.has(formatId(2)), first.floor]).toEqual([false, NOW - (MAX_PLACES - 2) * 1_000]);
    vi.setSystemTime(NOW - (MAX_PLACES - 2) * 1_000 + 4_000);
    expect(parseCursor(places).floor).toBe(NOW - (MAX_PLACES - 2) * 1_000 - 6_000);
  });

  it('stay listed while their log is behind, so that none of their entries is passed over', async () => {
    const places = await follow(MAX_PLACES + 1, 60, (number) => number === 0);
    const { seqs } = parseCursor(places);
    expect([seqs.has(formatId(0)), seqs.has(formatId(1))]).toEqual([true, false]);
  });

  it('stay listed while an entry waits to be read, and after the entry that was read last', async () => {
    const places = createFollowedPlaces(NOW);
    const begin = (number: number, ...entries: readonly TaskEvent[]) => {
      places.begin(formatId(number), 0);
      return places.note(formatId(number), createLog(entries))[Symbol.asyncIterator]();
    };
    // Nothing of the first has been written that it was not handed; of the second something has not been read.
    void begin(1_001).next();
    await begin(1_002, entry(formatId(1_002), 1, 60)).next();
    const isListed = () =>
      [1_001, 1_002, 0, 1].map((number) => parseCursor(places).seqs.has(formatId(number)));
    const read = async (from: number, to: number) => {
      for (let number = from; number < to; number += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, as a follower reads
        await begin(number, entry(formatId(number), 1, 60)).next();
        places.read(entry(formatId(number), 1, 60));
      }
    };
    await read(0, 2);
    places.read(entry(formatId(0), 2, 60));
    await read(2, MAX_PLACES - 1);
    expect([isListed(), parseCursor(places).floor]).toEqual([[false, true, true, true], 0]);
    await read(MAX_PLACES - 1, MAX_PLACES);
    expect(isListed()).toEqual([false, true, true, false]);
  });

  it('go by no moment at all where all of them are behind', async () => {
    const places = await follow(MAX_PLACES + 1, 60, () => true);
    expect(parseCursor(places).floor).toBe(0);
  });

  it('are kept for a minute and a half after their end, and longer where they are found', async () => {
    const places = createFollowedPlaces(NOW);
    for (const taskId of [formatId(1), formatId(2)]) {
      places.begin(taskId, 0);
      const only = entry(taskId, 1, 0);
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as a follower reads
      for await (const event of places.note(taskId, createLog([only], { ends: true }))) places.read(event);
    }
    vi.setSystemTime(NOW + 90_000);
    places.forget(new Set());
    expect([...parseCursor(places).seqs.keys()]).toEqual([formatId(1), formatId(2)]);
    vi.setSystemTime(NOW + 90_001);
    places.forget(new Set([formatId(2)]));
    expect([...parseCursor(places).seqs.keys()]).toEqual([formatId(2)]);
  });
});
