import { expect, it } from 'vitest';

import type { EventBus } from './event-bus.ts';

/** What every event bus does; each implementation runs this over a real server. */
export interface EventBusUnderTest {
  /** A bus as another process would have it, heard by those of the same name; the test that asks ends it. */
  readonly join: (name: string) => Promise<EventBus>;
  /** Breaks every connection of the buses of this name that listen; answers how many. */
  readonly cut: (name: string) => Promise<number>;
  /** Sends what is none of ours to them. */
  readonly disturb: (name: string) => Promise<void>;
}

const WAIT = { timeout: 100_000 };

/** Registers the tests. */
export function eventBusContract(subject: EventBusUnderTest): void {
  delivers(subject);
  survives(subject);
}

function delivers({ join }: EventBusUnderTest): void {
  it('wakes listeners of the topic in this process at once, and in others soon', async () => {
    const [here, there] = [await join('basic'), await join('basic')];
    const heardHere: unknown[] = [];
    const heardThere: unknown[] = [];
    here.listen('task', (...wakeUp) => heardHere.push(wakeUp));
    there.listen('task', (...wakeUp) => heardThere.push(wakeUp));
    there.listen('other', () => heardThere.push('wrong topic'));
    here.publish('task', 'a', 1);
    expect(heardHere).toEqual([['a', 1]]);
    await expect.poll(() => heardThere, WAIT).toEqual([['a', 1]]);
    // Its own notification comes back to the sender too; by the time a second one was heard it would have been heard.
    there.publish('task', 'b', 1);
    await expect
      .poll(() => heardHere, WAIT)
      .toEqual([
        ['a', 1],
        ['b', 1],
      ]);
  });

  it('sends the latest version of a key that changes many times', async () => {
    const [here, there] = [await join('latest'), await join('latest')];
    const heard: number[] = [];
    there.listen('task', (_key, version) => heard.push(version));
    for (let version = 1; version <= 500; version += 1) here.publish('task', 'a', version);
    await expect.poll(() => heard.at(-1), WAIT).toBe(500);
    expect(heard.length).toBeLessThan(100);
  });

  it('delivers thousands of keys', async () => {
    const [here, there] = [await join('many'), await join('many')];
    const heard = new Set<string>();
    there.listen('task', (key) => heard.add(key));
    for (let number = 0; number < 5000; number += 1) here.publish('task', `key-${number}`, 1);
    await expect.poll(() => heard.size, WAIT).toBe(5000);
  });
}

function survives({ join, cut, disturb }: EventBusUnderTest): void {
  it('says that there was a gap when the connection was lost, and hears again', async () => {
    const [here, there] = [await join('cut'), await join('cut')];
    const heard: string[] = [];
    const gaps: EventBus[] = [];
    there.listen('task', (key) => heard.push(key));
    for (const bus of [here, there]) bus.onGap(() => gaps.push(bus));
    expect(await cut('cut')).toBe(2);
    await expect.poll(() => new Set(gaps), WAIT).toEqual(new Set([here, there]));
    expect(gaps).toHaveLength(2);
    here.publish('task', 'after', 1);
    await expect.poll(() => heard, WAIT).toEqual(['after']);
  });

  it('sends what waits before it closes', async () => {
    const [here, there] = [await join('last'), await join('last')];
    const heard: string[] = [];
    there.listen('task', (key) => heard.push(key));
    here.publish('task', 'last words', 1);
    await here.close();
    await expect.poll(() => heard, WAIT).toEqual(['last words']);
  });

  it('counts its listeners, down to none', async () => {
    const bus = await join('counted');
    const listener = () => undefined;
    const remove = [
      bus.listen('task', listener),
      bus.listen('task', listener),
      bus.listen('other', listener),
    ];
    expect(bus.listenerCount()).toBe(3);
    for (const each of remove) {
      each();
      each();
    }
    expect(bus.listenerCount()).toBe(0);
  });

  it('goes on when one listener throws, and when a stranger notifies', async () => {
    const [here, there] = [await join('robust'), await join('robust')];
    const heard: string[] = [];
    there.listen('task', () => {
      throw new Error('mistake');
    });
    there.listen('task', (key) => heard.push(key));
    await disturb('robust');
    here.publish('task', 'a', 1);
    await expect.poll(() => heard, WAIT).toEqual(['a']);
  });
}
