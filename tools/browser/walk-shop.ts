import type { Browser, Page } from 'playwright-core';

import { holdOpen, holdView } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** The shop: a visitor buys, an administrator refunds, and makes, prices, tries and deletes a template. */
export async function walkShop(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  page.on('dialog', (question) => void question.accept());
  await buy(url, page, steps);
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Shop' }).first().click();
  await refund(page, steps);
  await manage(page, steps);
  await watched.finish(steps, 'shop');
}

async function buy(url: string, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  const order = page.getByRole('button', { name: 'Buy for $1.00' });
  await page.goto(`${url}/console/shop`);
  await page.getByRole('button', { name: /^Poster/ }).click();
  await order.waitFor();
  await page.getByRole('button', { name: 'Executions', exact: true }).click();
  await page.getByRole('heading', { name: 'Executions', exact: true }).waitFor();
  holds('shop: the form of a template is left for another part', await page.getByRole('alert').count(), 0);
  await page.getByRole('button', { name: 'Templates', exact: true }).click();
  await page.getByRole('button', { name: /^Poster/ }).click();
  await page.getByLabel('Prompt').fill('a paper kite');
  await order.click();
  await page.waitForURL(/\/sandbox\/stripe\//);
  await page.click('button[value="back"]');
  await order.waitFor();
  holds(
    'shop: who gives up at the payment page finds the form as it was',
    await page.getByLabel('Prompt').inputValue(),
    'a paper kite',
  );
  await order.click();
  await page.waitForURL(/\/sandbox\/stripe\//);
  await page.click('button[value="card"]');
  await page.waitForURL(/\/console\/shop\/executions\//);
  await page.locator('[data-boxed][data-state="SUCCEEDED"]').waitFor();
  await page.locator('[data-outputs] img').waitFor();
  await page.locator('[data-shop-steps] [data-state="SUCCEEDED"]').waitFor();
  holds(
    'shop: who has paid watches the execution to its end',
    await page.locator('[data-shop-steps] li').count(),
    1,
  );
  await holdView(page, steps, 'shop: an execution');
  await page.getByRole('link', { name: 'All executions' }).click();
  await page.getByRole('button', { name: 'Payments', exact: true }).click();
  await page.getByText('Paid · 1').waitFor();
  holds(
    'shop: a visitor finds what this browser bought and gave up',
    await page.getByRole('region', { name: 'Payments' }).locator('tbody tr').count(),
    2,
  );
}

async function refund(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('button', { name: 'Payments', exact: true }).click();
  await page.getByRole('button', { name: 'Paid', exact: true }).click();
  await page.getByLabel('Template', { exact: true }).selectOption('poster');
  const row = page.getByRole('region', { name: 'Payments' }).getByRole('row', { name: /^Poster Visitor/ });
  await row.getByRole('button', { name: 'Refund' }).click();
  const dialog = page.getByRole('dialog', { name: 'Refund of Poster' });
  await dialog.getByLabel('Reason').selectOption('TECHNICAL_ISSUE');
  await dialog.getByLabel('Amount').fill('0.4');
  await holdOpen(page, steps, 'shop: the refund');
  await dialog.getByRole('button', { name: 'Refund $0.40' }).click();
  await dialog.waitFor({ state: 'detached' });
  holds(
    'shop: a part of a payment is given back, and the sums follow',
    await page.locator('[data-shop-sums]').textContent(),
    'Paid · 1$1.00$0.40 refunded',
  );
  holds(
    'shop: what the payments are filtered by is in the address',
    new URL(page.url()).search,
    '?view=payments&status=COMPLETED&of=poster',
  );
  await holdView(page, steps, 'shop: the payments');
  await row.getByRole('link', { name: 'Poster' }).click();
  // Of the execution's page: the list before it has such a button as well.
  await page.getByRole('heading', { name: 'Payment', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByRole('button', { name: 'Refund $0.60' }).click();
  await page.getByText('Refunded', { exact: true }).waitFor();
  holds(
    'shop: the execution tells each refund and its reason',
    await page.getByRole('list', { name: 'Refunds' }).locator('.flex-1').allInnerTexts(),
    ['$0.40 refunded\nSomething went wrong here · done', '$0.60 refunded\nThe buyer asked for it · done'],
  );
}

async function manage(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('link', { name: 'Shop' }).first().click();
  await page.getByRole('button', { name: 'Manage' }).click();
  await page.getByRole('link', { name: 'Poster' }).waitFor();
  await holdView(page, steps, 'shop: the catalog');
  await page.getByRole('link', { name: 'New template' }).click();
  await page.getByLabel('Code', { exact: true }).fill('postcard');
  await page.getByLabel('Name', { exact: true }).fill('Postcard');
  await page.getByLabel('Own price').fill('0.1');
  await page.getByRole('button', { name: 'Create the template' }).click();
  await page.getByRole('alert').waitFor();
  holds(
    'shop: a price that nobody charges is refused at its field',
    await page.getByLabel('Own price').getAttribute('aria-invalid'),
    'true',
  );
  await page.getByLabel('Own price').fill('2.5');
  await page.getByRole('button', { name: 'Create the template' }).click();
  await page.getByRole('heading', { name: 'Postcard', level: 1 }).waitFor();
  await page.getByText('Up to date').waitFor();
  await holdView(page, steps, 'shop: a template');
  await page.getByLabel('Own price').fill('');
  await page.getByLabel('Credits').fill('3');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('$3.00').waitFor();
  holds(
    'shop: a template is made and priced again',
    await page.getByText('On sale', { exact: true }).count(),
    1,
  );
  const test = page.getByRole('form', { name: 'Test run' });
  await test.getByLabel('Prompt').fill('a lighthouse');
  await test.getByRole('button', { name: 'Run' }).click();
  await page.locator('[data-boxed][data-state="SUCCEEDED"]').waitFor();
  holds(
    'shop: a test run leads to its execution, without a payment',
    await page.getByRole('heading', { name: 'Payment' }).count(),
    0,
  );
  await page.getByRole('link', { name: 'All executions' }).click();
  await page.getByRole('button', { name: 'Manage' }).click();
  await page.getByRole('link', { name: 'Postcard' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'All templates' }).waitFor();
  await page.getByRole('link', { name: 'Postcard' }).waitFor({ state: 'detached' });
  holds('shop: a template is deleted', await page.getByRole('link', { name: 'Poster' }).count(), 1);
}
