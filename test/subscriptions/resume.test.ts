import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { followers, type Follow } from '../kit/clients/followers.ts';
import { startRelay, type Relay } from '../kit/clients/relay.ts';
import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { followAsDocumented } from './documented-clients.ts';
import { entries, executePoster, expectEveryEvent, storedLog } from './following.ts';
import { followResuming } from './resuming.ts';

let kiln: KilnUnderTest;
let relay: Relay;
beforeAll(async () => {
  kiln = await startKiln();
  relay = await startRelay(kiln.url);
  await kiln.control('latency', { wire: 'midjourney', queuedMs: 100, runningMs: 300, progressSteps: 5 });
});
afterAll(async () => {
  await relay?.close();
  await kiln?.close();
});

/** How far the upstream goes with its work. */
const holdAt = (percent: number) => kiln.control('latency', { wire: 'midjourney', holdAt: percent });
const countEvents = async (taskId: string): Promise<number> => (await storedLog(kiln.url, taskId)).length;

describe('a broken connection', () => {
  it('costs no client an event, and brings none twice', async () => {
    await holdAt(33);
    const started = await executePoster(kiln.url, 'a harbour');
    const all = Object.values(followers).map((follow) => followResuming(follow, relay.url, started));
    const documented = await followAsDocumented(relay.url, started.taskId);
    let seen = 2;
    // Twice, and each time something is written while they are away: the upstream waits for that.
    for (const percent of [50, 67]) {
      await until(
        async () =>
          Math.min(...all.map(({ events }) => events.length), ...documented.map((one) => one.seen.length)),
        (least) => least >= seen,
      );
      relay.cut();
      const written = await countEvents(started.taskId);
      await holdAt(percent);
      seen = await until(
        () => countEvents(started.taskId),
        (length) => length > written,
      );
      relay.mend();
    }
    await holdAt(100);
    for (const { done } of all) await done;
    const log = await storedLog(kiln.url, started.taskId);
    for (const { events } of all) {
      expectEveryEvent(events, started);
      expect(entries(events)).toEqual(log);
    }
    // By the lines of docs/clients.md.
    await Promise.all(documented.map(({ done }) => done));
    for (const { seen: numbers } of documented) expect(numbers).toEqual(log.map(({ seq }) => seq));
    const [webSocket = 0, eventSource, apollo = 0] = all.map(({ breaks }) => breaks.length);
    expect(Math.min(webSocket, apollo)).toBeGreaterThanOrEqual(2);
    // It resumes by itself, by Last-Event-ID.
    expect(eventSource).toBe(0);
  });

  it('lets every client ask from any event on, also after the end', async () => {
    const started = await executePoster(kiln.url, 'a mill');
    expect(await followers['graphql-ws'](kiln.url, started).over).toBeNull();
    const total = await countEvents(started.taskId);
    for (const follow of Object.values(followers)) {
      for (const afterSeq of [0, 1, total - 1, total]) {
        expect(await numbersAfter(follow, started.taskId, afterSeq)).toEqual(
          Array.from({ length: total - afterSeq }, (_, index) => afterSeq + index + 1),
        );
      }
    }
  });
});

async function numbersAfter(follow: Follow, taskId: string, afterSeq: number): Promise<number[]> {
  const { events, over } = follow(kiln.url, { taskId, afterSeq });
  expect(await over).toBeNull();
  return events.map(({ seq }) => seq);
}
