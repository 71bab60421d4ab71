import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { followers } from '../kit/clients/followers.ts';
import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { entries, executePoster, expectEveryEvent, storedLog } from './following.ts';

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
  await kiln.control('latency', { wire: 'midjourney', queuedMs: 100, runningMs: 4_000, progressSteps: 4 });
});
afterAll(() => kiln?.close());

describe('a task that executeTemplate started', () => {
  it('is followed by every client at once: growing progress, its end, and the template joined', async () => {
    const started = await executePoster(kiln.url, 'a lighthouse');
    const all = Object.values(followers).map((follow) => follow(kiln.url, started));
    for (const { over } of all) expect(await over).toBeNull();
    const log = await storedLog(kiln.url, started.taskId);
    for (const { events } of all) {
      expectEveryEvent(events, started);
      expect(entries(events)).toEqual(log);
    }
    await until(
      async () => kiln.media.watcherCount(),
      (count) => count === 0,
    );
  });
});
