import type { Steps } from './steps.ts';
import type { WatchedPage } from './watch-page.ts';

/** The pages about the REST operations: everything is on them, readable, and requested from nowhere else. */
export async function walkDocs(
  url: string,
  { page, takeRequests }: WatchedPage,
  { holds }: Steps,
): Promise<void> {
  for (const [path, document] of [
    ['/docs', '/openapi.json'],
    ['/docs/workflow', '/openapi-workflow.json'],
  ] as const) {
    const { paths } = (await (await fetch(`${url}${document}`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
    takeRequests();
    await page.goto(`${url}${path}`);
    // Browsers request the icon by themselves.
    const requests = takeRequests().filter((one) => !one.endsWith('/favicon.ico'));
    holds(`${path} is asked for, and nothing else with it`, requests, [`${url}${path}`]);
    holds(
      `${path} has each of ${operations} operations with a command`,
      await page.locator('main article > h4 + pre').count(),
      operations,
    );
    const dead = `[...document.querySelectorAll('a[href^="#"]')].filter((link) => !document.getElementById(link.hash.slice(1))).length`;
    holds(`${path} has no link that leads nowhere`, await page.evaluate(dead), 0);
    const fits = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
    for (const width of [390, 800, 1280]) {
      await page.setViewportSize({ width, height: 720 });
      holds(`${path} fits a window of ${width} pixels`, await page.evaluate(fits), true);
    }
    await page.locator('#search').fill('health');
    holds(
      `${path} finds the operations of a word`,
      (await page.locator('main article:visible').count()) > 0 &&
        (await page.locator('main article:visible').count()) < operations,
      true,
    );
    const health = page
      .locator('main article:visible')
      .filter({ has: page.locator('.try') })
      .first();
    await health.locator('.try summary').click();
    await health.locator('.try button').click();
    await health.locator('output', { hasText: 'status 200' }).waitFor();
    takeRequests();
    await page.locator('#search').fill('');
    await page.locator('nav details summary').first().click();
    await page.locator('nav details a').first().click();
    await page.waitForURL((address) => address.hash !== '');
    holds(
      `${path} goes to an operation at a click`,
      await page.evaluate('document.getElementById(location.hash.slice(1)).tagName'),
      'ARTICLE',
    );
  }
}
