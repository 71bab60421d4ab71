import type { Page } from 'playwright-core';

import type { Steps } from './steps.ts';

/** Milliseconds: longer than an access token, shorter than a session. */
const TOKEN_MS = 16 * 60_000;

/** A browser whose tab shows the console, and who is signed in there. */
interface SignedInBrowser {
  readonly url: string;
  readonly name: string;
  /** For the lines. */
  readonly walk: string;
}

/** A second tab is opened; both renew their token together, and a sign-out in one is one of both, for good. */
export async function useSeveralTabs(
  page: Page,
  { holds }: Steps,
  { url, name, walk }: SignedInBrowser,
): Promise<void> {
  const context = page.context();
  const other = await context.newPage();
  await page.clock.install();
  await other.clock.install();
  for (const tab of [page, other]) {
    await tab.goto(`${url}/console/tasks`);
    await tab.getByRole('link', { name, exact: true }).waitFor();
  }
  let renewals = 0;
  context.on('request', (request) => {
    if (request.url().endsWith('/auth/browser/refresh')) renewals += 1;
  });
  for (const tab of [page, other]) await tab.clock.fastForward(TOKEN_MS);
  await Promise.all(
    [page, other].map(async (tab) => {
      const answered = tab.waitForResponse(/\/graphql$/);
      await tab.getByRole('button', { name: 'Failed', exact: true }).click();
      await tab.clock.runFor(1_000);
      await answered;
    }),
  );
  holds(`${walk}: two tabs renew their token once`, renewals, 1);
  await page.goto(`${url}/console/keys`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await other.getByRole('button', { name: 'Sign in', exact: true }).first().waitFor();
  holds(
    `${walk}: a sign-out is one of all tabs`,
    await other.getByRole('link', { name, exact: true }).count(),
    0,
  );
  await other.close();
  await page.reload();
  await page.getByRole('button', { name: 'Sign in', exact: true }).first().waitFor();
  holds(`${walk}: and lasts`, (await context.cookies(`${url}/auth/browser/`)).length, 0);
}
