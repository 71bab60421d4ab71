import type { Browser } from 'playwright-core';

import type { Steps } from './steps.ts';
import { faultsOf, VIEWS } from './walk-console.ts';
import { openPage } from './watch-page.ts';

const PAGES = ['Tasks', 'Templates', 'Usage', 'Keys'];

/** The pages as an administrator sees them: each against WCAG, in both themes and at phone width; usage and its table. */
export async function walkSigned(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const { page, errors } = await openPage(browser, { origin: url, pages: { '/walk/none': '' } });
  const { holds } = steps;
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  for (const name of PAGES) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name, exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.waitForLoadState('networkidle');
    for (const view of VIEWS) {
      await page.emulateMedia({ colorScheme: view.colorScheme });
      await page.setViewportSize(view);
      holds(`signed in: ${name} in ${view.name} is accessible and fits`, await faultsOf(page), []);
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('link', { name: 'Usage', exact: true }).first().click();
  await page.getByRole('button', { name: 'Provider' }).click();
  await page.getByRole('cell', { name: 'midjourney', exact: true }).waitFor();
  holds('usage: the group is in the address', new URL(page.url()).searchParams.get('by'), 'PROVIDER');
  const [table] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  holds('usage: the table is saved', table.suggestedFilename(), 'usage.csv');
  holds('signed in: no script has failed', errors, []);
  await page.context().close();
}
