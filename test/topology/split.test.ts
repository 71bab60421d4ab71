import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { followers } from '../kit/clients.ts';
import { until } from '../kit/requests.ts';
import { entries, executePoster, expectWholeStory, storedLog } from '../subscriptions/following.ts';
import { followPersistently } from '../subscriptions/resuming.ts';
import { startSplitKiln, type SplitKiln } from './split.ts';

let kiln: SplitKiln;
beforeAll(async () => {
  kiln = await startSplitKiln();
});
afterAll(() => kiln?.close());
beforeEach(() =>
  kiln.sandbox.control('pace', { wire: 'midjourney', queuedMs: 100, runningMs: 5_000, progressSteps: 5 }),
);

describe('a gateway that reaches both subgraphs over HTTP', () => {
  it('gives every client growing progress, the end, and what the other subgraph joins', async () => {
    const started = await executePoster(kiln.url, 'a ferry');
    const all = Object.values(followers).map((follow) => follow(kiln.url, started));
    for (const { over } of all) expect(await over).toBeNull();
    const log = await storedLog(kiln.url, started.taskId);
    for (const { events } of all) {
      expectWholeStory(events, started);
      expect(entries(events)).toEqual(log);
    }
    const picture = await fetch(all[0]?.events.at(-1)?.task.outputs[0]?.url ?? '');
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  it.each(['media', 'gateway'] as const)('loses no event when %s is killed and started again', async (role) => {
    await kiln.sandbox.control('pace', { wire: 'midjourney', runningMs: 10_000, progressSteps: 10 });
    const started = await executePoster(kiln.url, `a ferry without ${role}`);
    const all = Object.values(followers).map((follow) => followPersistently(follow, kiln.url, started));
    await until(async () => Math.min(...all.map(({ events }) => events.length)), (least) => least >= 3);
    await kiln.end(role, 'SIGKILL');
    await kiln.start(role);
    for (const { done } of all) await done;
    const log = await storedLog(kiln.url, started.taskId);
    for (const { events } of all) {
      expectWholeStory(events, started);
      expect(entries(events)).toEqual(log);
    }
  });
});
