import type { Browser, Page } from 'playwright-core';

import { rest } from '../../test/kit/clients/requests.ts';
import { holdOpen } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** What administrators do: usage and its table, budgets, keys with bounds, the audit log. */
export async function walkSigned(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  const { holds } = steps;
  // Something was used, also when no walk was made before.
  const made = await rest(url, 'POST', '/api/agg/imga/sync/image?prompt=a%20boat');
  holds('usage: an image is made for it', made.body.status, true);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
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
  await makeBudget(page, steps);
  await page.getByRole('link', { name: 'People and keys', exact: true }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('bounded');
  await page.getByLabel('Only these generators').fill('imga');
  await page.getByLabel('Ends').selectOption('30');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('row', { name: /bounded.*imga/ }).waitFor();
  const people = page.getByRole('region', { name: 'People' });
  await people.getByRole('row').nth(1).getByRole('button', { name: 'Audit log' }).click();
  const audit = page.getByRole('region', { name: 'Audit log' });
  const chip = page.getByRole('button', { name: /^Only / });
  await chip.waitFor();
  await audit.getByRole('row', { name: /createServiceKey/ }).waitFor({ state: 'detached' });
  await chip.click();
  await page.getByRole('searchbox', { name: 'Such as refundPayment' }).fill('createServiceKey');
  await page.keyboard.press('Enter');
  await audit
    .getByRole('row', { name: /createServiceKey/ })
    .first()
    .waitFor();
  holds(
    'keys: a key is made with its bounds, and noted in the audit log',
    await page.locator('[data-note] code').count(),
    1,
  );
  await page.getByRole('link', { name: 'Start here' }).first().click();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('link', { name: 'Watch its task' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  holds('start: a request is tried, and its task is watched', await page.locator('[data-boxed]').count(), 1);
  await watched.finish(steps, 'signed in');
}

/** A budget is made, changed and taken away in its dialog. */
async function makeBudget(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('button', { name: 'New budget' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Whose work').selectOption('GENERATOR');
  await dialog.getByLabel('Name of the generator').fill('imga');
  await dialog.getByLabel('Name', { exact: true }).fill('images');
  await dialog.getByLabel('Limit').fill('25');
  await holdOpen(page, steps, 'usage: the form of a budget');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('of $25.00').waitFor();
  await page.getByRole('button', { name: 'Change images' }).click();
  await dialog.getByLabel('Limit').fill('30');
  await dialog.getByLabel('Most at once').fill('2');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('of $30.00').waitFor();
  holds('usage: a budget is changed', await page.getByText('0 of 2 at once').count(), 1);
  page.once('dialog', (question) => void question.accept());
  await page.getByRole('button', { name: 'Change images' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('of $30.00').waitFor({ state: 'detached' });
}
