import type { Browser, Page } from 'playwright-core';

import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** Models and providers, on the smallest phone: a binding is paused with a reason, said to be so, and resumed. */
export async function walkModels(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  const { holds } = steps;
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Models' }).last().click();
  await page.getByRole('heading', { level: 1, name: 'Models and providers' }).waitFor();

  const openai = page.getByRole('article', { name: 'OpenAI', exact: true });
  await openai.getByText(/^Connections/).click();
  const pause = openai.getByRole('button', { name: /^Pause / }).first();
  await pause.waitFor();
  const name = ((await pause.getAttribute('aria-label')) ?? '').replace('Pause ', '');
  holds('models: the button that pauses is on a phone’s screen', await isInside(page, name), true);
  await pause.click();
  await page.getByLabel(`Reason (optional) ${name}`).fill('the walk has a look');
  await page.getByRole('button', { name: `Pause ${name}`, exact: true }).click();
  const card = page.getByRole('article').filter({ hasText: 'the walk has a look' });
  await card.waitFor();
  holds('models: who has paused it, and why, is said', /Paused by/.test(await card.innerText()), true);
  holds(
    'models: what needs somebody is first',
    await page.getByRole('article').first().getAttribute('aria-label'),
    'OpenAI',
  );
  await card.getByRole('button', { name: `Resume ${name}`, exact: true }).click();
  await card.waitFor({ state: 'detached' });
  holds('models: and gets work again', await page.getByText('the walk has a look').count(), 0);
  await openai.getByRole('button', { name: 'Connect OpenAI' }).click();
  holds(
    'models: the lines that connect it can be copied',
    await openai.locator('pre').first().innerText(),
    'OPENAI_API_KEY=',
  );
  await page.getByLabel('Search models').fill('gpt-image-2');
  await page
    .getByRole('link', { name: /GPT Image 2/i })
    .first()
    .waitFor();
  holds(
    'models: a search leaves the providers that have it',
    await page.getByRole('article', { name: 'Hedra' }).count(),
    0,
  );
  await watched.finish(steps, 'models');
}

/** Whether the button of a binding is between the edges of the window. */
async function isInside(page: Page, name: string): Promise<boolean> {
  const box = await page.getByRole('button', { name: `Pause ${name}`, exact: true }).boundingBox();
  return box !== null && box.x >= 0 && box.x + box.width <= (page.viewportSize()?.width ?? 0);
}
