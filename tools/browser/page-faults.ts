import axe from 'axe-core';
import type { Page } from 'playwright-core';

import type { Steps } from './steps.ts';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const THEMES = ['light', 'dark'] as const;
/** Widths that what opens over a page is looked at in: a desktop, a phone, and the smallest phone that is promised. */
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
  { width: 360, height: 740 },
] as const;
/** Widths that every page is looked at in: with tablets besides, upright and across, where the rail is narrow. */
const PAGE_SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  ...SIZES.slice(1),
] as const;
/** The largest window that is promised; its pages only have to fit, as they are those of a desktop. */
const LARGEST = { width: 3840, height: 2160 } as const;
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
  for (const size of PAGE_SIZES) {
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
  await holdLargest(page, { holds }, { url, who, paths });
  await page.setViewportSize(SIZES[0]);
}

/** Each page in the largest window: nothing is beyond its edge, and nothing is too small to be read there. */
async function holdLargest(
  page: Page,
  { holds }: Pick<Steps, 'holds'>,
  { url, who, paths }: Pages,
): Promise<void> {
  await page.setViewportSize(LARGEST);
  for (const path of paths) {
    await page.goto(`${url}/console/${path}`);
    await page.locator('main h1').waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    const small = await page.evaluate<string[]>(SMALLEST_TEXT);
    holds(
      `${who}: /${path.replace(/\/.*/, '')} of ${LARGEST.width} px fits and is large enough to read`,
      [...(await widthFaults(page)), ...small],
      [],
    );
  }
}

/** Texts that are smaller than 16 px. */
const SMALLEST_TEXT = `[...document.querySelectorAll('main *')]
  .filter((one) => [...one.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== ''))
  .filter((one) => one.checkVisibility() && parseFloat(getComputedStyle(one).fontSize) < 16)
  .map((one) => getComputedStyle(one).fontSize + ': ' + one.textContent.slice(0, 40))
  .slice(0, 5)`;

/** Holds what the page shows now to WCAG and the window, in each width and both themes. */
export async function holdView(page: Page, { holds }: Steps, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  for (const size of SIZES) {
    await page.setViewportSize(size);
    holds(`${name} of ${size.width} px is accessible and fits`, await faultsInThemes(page), []);
  }
  await page.setViewportSize(SIZES[0]);
}

/** Holds what is open now, such as a dialog or a menu, to WCAG in both themes, and to stand still where that is wished for. */
export async function holdOpen(page: Page, { holds }: Steps, name: string): Promise<void> {
  holds(`${name} is accessible in both themes`, await faultsInThemes(page), []);
}

/** What the page is at fault with in each theme; ends in the light one. */
async function faultsInThemes(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of THEMES.toReversed()) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    faults.push(...(await findFaults(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  const moving = await page.evaluate<string[]>(MOVING);
  return [...faults, ...moving.map((one) => `moves: ${one}`)];
}

/** What moves by itself. */
export const MOVING = `document.getAnimations()
  .filter((one) => one.playState === 'running' && Number(one.effect.getComputedTiming().activeDuration) > 0)
  .map(({ effect: { target } }) => target.tagName + '.' + target.getAttribute('class'))`;

/** Sums what moves without having been asked to: the stricter form of Cumulative Layout Shift. */
const NOTE_SHIFTS = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

/** What axe finds against WCAG A and AA, and whether the page is wider than the window. */
async function findFaults(page: Page): Promise<readonly string[]> {
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
  return [...(result.value as string[]), ...(await widthFaults(page))];
}

async function widthFaults(page: Page): Promise<readonly string[]> {
  const isWide = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  return isWide === true ? ['wider than the window'] : [];
}
