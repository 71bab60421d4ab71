import axe from 'axe-core';
import type { Page } from 'playwright-core';

import type { Steps } from './steps.ts';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const THEMES = ['light', 'dark'] as const;
/** Widths that every page is looked at in: a desktop, a phone, and the smallest phone that is promised. */
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
  { width: 360, height: 740 },
] as const;
/** What Web Vitals call good. */
const MOST_SHIFT = 0.1;

/** Pages to look at. */
interface Pages {
  readonly url: string;
  /** Who sees them, for the lines. */
  readonly who: string;
  /** Below /console/. */
  readonly paths: readonly string[];
}

/** Loads each page in each width and holds it to WCAG in both themes, to fit the window, and to stay where it is while it loads. */
export async function holdPages(page: Page, { holds }: Steps, { url, who, paths }: Pages): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.addInitScript(NOTE_SHIFTS);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const path of paths) {
      await page.goto(`${url}/console/${path}`);
      await page.locator('main h1').waitFor({ state: 'attached' });
      await page.waitForLoadState('networkidle');
      const shift = Number(await page.evaluate('window.layoutShift'));
      const jumps = shift < MOST_SHIFT ? [] : [`moves by ${shift.toFixed(2)} while it loads`];
      const faults = [...jumps, ...(await faultsInThemes(page))];
      holds(
        `${who}: /${path.replace(/\/.*/, '')} of ${size.width} px is accessible, fits and stays`,
        faults,
        [],
      );
    }
  }
  await page.setViewportSize(SIZES[0]);
}

/** Holds what the page shows now to WCAG and the window, in each width and both themes. */
export async function holdView(page: Page, { holds }: Steps, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  for (const size of SIZES) {
    await page.setViewportSize(size);
    holds(`${name} of ${size.width} px is accessible and fits`, await faultsInThemes(page), []);
  }
  await page.setViewportSize(SIZES[0]);
}

/** What the page is at fault with in each theme; ends in the light one. */
async function faultsInThemes(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of THEMES.toReversed()) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    faults.push(...(await faultsOf(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

/** Sums what moves without having been asked to: the stricter form of Cumulative Layout Shift. */
const NOTE_SHIFTS = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

/** What axe finds against WCAG A and AA, and whether the page is wider than the window. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  // Not as a script of the page, which the console's policy refuses.
  const session = await page.context().newCDPSession(page);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(WCAG)} }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`;
  await session.send('Runtime.evaluate', { expression: axe.source });
  const { result } = await session.send('Runtime.evaluate', {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  const isWide = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  return [...(result.value as string[]), ...(isWide === true ? ['wider than the window'] : [])];
}
