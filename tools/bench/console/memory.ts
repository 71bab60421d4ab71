import { setTimeout as pause } from 'node:timers/promises';

import type { Browser } from 'playwright-core';

import { graphql } from '../../../test/kit/clients/requests.ts';
import { serviceKey } from '../../../test/kit/processes/kiln-process.ts';
import type { Figure } from '../bench.ts';
import type { BenchedKiln } from '../kiln.ts';
import { openSignedIn } from './signed-in.ts';

/** Tasks that another program starts a minute; each has its progress. */
const TASKS_A_MINUTE = 60;
/** Memory of the first minutes is warm-up. */
const WARM_UP = 0.2;
/** More than this share between warm-up and end is growth; below it the heap breathes. */
const MOST_GROWTH = 0.1;

/** The JavaScript heap of the list of tasks while others start tasks and their progress comes. */
export async function measureMemory(
  browser: Browser,
  { url }: BenchedKiln,
  minutes: number,
  say: (line: string) => void,
): Promise<Figure> {
  const page = await openSignedIn(browser, url);
  await page.getByRole('link', { name: 'Tasks' }).first().click();
  await page.getByRole('group', { name: 'Filter by state' }).waitFor();
  const session = await page.context().newCDPSession(page);
  const heapMiB = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize / 2 ** 20;
  };
  const heaps: number[] = [await heapMiB()];
  for (let minute = 1; minute <= minutes; minute += 1) {
    await startTasks(url);
    heaps.push(await heapMiB());
    const nodes = await page.locator('tbody tr').count();
    say(`minute ${minute}: ${heaps.at(-1)?.toFixed(1)} MiB of heap, ${nodes} rows`);
  }
  await page.context().close();
  const warm = heaps[Math.max(1, Math.ceil(minutes * WARM_UP))] ?? Number.NaN;
  const last = heaps.at(-1) ?? Number.NaN;
  return {
    what: `heap after ${minutes} minutes of live progress`,
    ours: `${last.toFixed(1)} MiB`,
    baseline: `${warm.toFixed(1)} MiB after warm-up`,
    ratio: { value: (warm * (1 + MOST_GROWTH)) / last, target: 1 },
    note: `grown by ${((last / warm - 1) * 100).toFixed(1)} %, up to ${MOST_GROWTH * 100} % is none; ${TASKS_A_MINUTE} tasks a minute`,
  };
}

/** A minute of them, one after the other. */
async function startTasks(url: string): Promise<void> {
  const query = `mutation ($prompt: String!) { generateImage(input: { generator: "imga", prompt: $prompt }) { id } }`;
  for (let index = 0; index < TASKS_A_MINUTE; index += 1) {
    const next = pause(60_000 / TASKS_A_MINUTE);
    await graphql(url, query, { prompt: `live progress ${index}` }, serviceKey);
    await next;
  }
}
