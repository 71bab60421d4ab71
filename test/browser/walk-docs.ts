import type { Page } from './page.ts';
import type { Steps } from './steps.ts';

/** The pages about the documented operations: everything is on them, readable, and asked for nowhere else. */
export async function walkDocs(url: string, page: Page, { holds }: Steps): Promise<void> {
  for (const [path, document] of [
    ['/docs', '/openapi.json'],
    ['/docs/workflow', '/openapi-workflow.json'],
  ] as const) {
    const { paths } = (await (await fetch(`${url}${document}`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
    page.requests();
    await page.open(`${url}${path}`);
    // The icon is the browser's own idea.
    const asked = page.requests().filter((one) => !one.endsWith('/favicon.ico'));
    holds(`${path} is asked for, and nothing else with it`, asked, [`${url}${path}`]);
    holds(
      `${path} has each of ${operations} operations with a command`,
      await page.read("document.querySelectorAll('main article > h4 + pre').length"),
      operations,
    );
    const dead = `[...document.querySelectorAll('a[href^="#"]')].filter((link) => !document.getElementById(link.hash.slice(1))).length`;
    holds(`${path} has no link that leads nowhere`, await page.read(dead), 0);
    const wide = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
    holds(`${path} fits the window`, await page.read(wide), true);
    await page.click('nav details summary');
    await page.click('nav details a');
    holds(
      `${path} goes to an operation at a click`,
      await page.until("location.hash !== '' && document.getElementById(location.hash.slice(1)).tagName"),
      'ARTICLE',
    );
  }
}
