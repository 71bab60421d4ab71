import type { Browser } from 'playwright-core';

import type { Figure } from '../bench.ts';

/** What is promised of a first view. */
const MOST_KB = 300;
const MOST_MS = 1_000;

/** Notes when the heading and what can be typed or clicked in the page are drawn. */
const NOTE_INTERACTIVE = `
  window.interactive = new Promise((resolve) => {
    const isThere = () => document.querySelector('main h1') && document.querySelector('main :is(textarea, input, button)');
    const observer = new MutationObserver(() => {
      if (!isThere()) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    });
    observer.observe(document, { childList: true, subtree: true });
  });`;

interface View {
  readonly bytes: number;
  readonly requests: number;
  readonly ms: number;
}

/** Opens a page in new profiles, with nothing in any cache; the median of them. */
export async function measureFirstView(
  browser: Browser,
  address: string,
  rounds: number,
): Promise<readonly Figure[]> {
  const views: View[] = [];
  for (let round = 0; round < rounds; round += 1) views.push(await openOnce(browser, address));
  const name = new URL(address).pathname;
  const kb = median(views.map(({ bytes }) => bytes)) / 1000;
  const ms = median(views.map((view) => view.ms));
  const [first] = views;
  return [
    {
      what: `first view of ${name}`,
      ours: `${kb.toFixed(0)} kB compressed`,
      baseline: `${MOST_KB} kB`,
      ratio: { value: MOST_KB / kb, target: 1 },
      note: `${first?.requests ?? 0} requests, data included`,
    },
    {
      what: `until ${name} is interactive`,
      ours: `${ms.toFixed(0)} ms`,
      baseline: `${MOST_MS} ms`,
      ratio: { value: MOST_MS / ms, target: 1 },
      note: `${rounds} new profiles: ${views.map((view) => view.ms.toFixed(0)).join(', ')}`,
    },
  ];
}

async function openOnce(browser: Browser, address: string): Promise<View> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  let requests = 0;
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await page.addInitScript(NOTE_INTERACTIVE);
  await page.goto(address);
  const ms = Number(await page.evaluate('window.interactive'));
  await page.waitForLoadState('networkidle');
  await context.close();
  return { bytes, requests, ms };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
