import type { Browser, Page } from 'playwright-core';

import { serviceKey } from '../../../test/kit/processes/kiln-process.ts';

const WAIT_MS = 60_000;

/** A tab that is signed in with the service key of the benches; it is on the page of keys. */
export async function openSignedIn(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await page.goto(`${url}/console/keys`);
  const key = serviceKey['authorization']?.replace('Bearer ', '') ?? '';
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}
