import type { Browser, Page } from 'playwright-core';

import { holdPages } from './page-faults.ts';
import { useSeveralTabs } from './several-tabs.ts';
import type { Steps } from './steps.ts';
import { PAGES } from './walk-console.ts';
import { openPage } from './watch-page.ts';

/** Sessions of the console: the address of the terminal, several tabs, sign-out, and the login page. */
export async function walkSession(
  url: string,
  browser: Browser,
  steps: Steps,
  address: string,
): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await useTerminalAddress(page, steps, address);
  await makeOne(page, url);
  await holdPages(page, steps, { url, who: 'administrator', paths: PAGES });
  await useSeveralTabs(page, steps, { url, name: 'Development administrator', walk: 'session' });
  await comeAfter(page, url, steps);
  await useLoginPage(url, page, steps);
  await watched.finish(steps, 'session');
}

async function useTerminalAddress(page: Page, { holds }: Steps, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('link', { name: 'Development administrator' }).waitFor();
  holds('session: the code is gone from the address', page.url(), address.replace(/#.*$/, ''));
  holds('session: no script sees the refresh token', await page.evaluate('document.cookie'), '');
  await page.reload();
  await page.getByRole('link', { name: 'Development administrator' }).click();
  await page.getByText('this one').waitFor();
  const keys = page.getByRole('heading', { name: 'Service keys' });
  holds('session: a reload stays signed in, as an administrator', await keys.count(), 1);
}

const PROMPT = 'a door that only its owner sees';

async function makeOne(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/console/`);
  await page.getByLabel('Prompt').fill(PROMPT);
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.getByRole('button', { name: 'Remix' }).waitFor();
}

async function comeAfter(page: Page, url: string, { holds }: Steps): Promise<void> {
  await page.goto(`${url}/console/`);
  await page.getByText('a lighthouse at dawn').waitFor();
  holds('session: who comes after them sees nothing of theirs', await page.getByText(PROMPT).count(), 0);
}

async function useLoginPage(url: string, page: Page, { holds }: Steps): Promise<void> {
  await page.goto(`${url}/console/keys`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).first().click();
  await page.waitForFunction("document.title === 'Sign in (sandbox)'");
  await page.click('button[value="sandbox-ben"]');
  await page.getByRole('link', { name: 'Ben' }).waitFor();
  holds('session: the login page leads back to where it was left', page.url(), `${url}/console/keys`);
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  holds(
    'session: who is no administrator sees no keys',
    await page.getByRole('heading', { name: 'Service keys' }).count(),
    0,
  );
}
