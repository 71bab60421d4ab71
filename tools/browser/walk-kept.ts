import type { Browser, Page } from 'playwright-core';

import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** What a browser says of a file that can not be loaded. */
const LOST = /ERR_FAILED|Failed to (load|fetch)/;

/** What somebody has filled in survives whatever happens to the page, and code that can not be loaded leaves the rest. */
export async function walkKept(url: string, browser: Browser, steps: Steps): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await page.goto(`${url}/console/`);
  await page.getByLabel('Prompt').fill('a kettle that nobody has boiled yet');
  await page.getByRole('radio', { name: '16:9' }).click();
  await page.reload();
  await holdPrompt(page, steps, 'a reload', 'Prompt');
  await page.getByRole('link', { name: 'Gallery' }).first().click();
  steps.holds('kept: the window names the page', await titled(page, 'Gallery'), 'Gallery · Kiln');
  await page.goBack();
  await holdPrompt(page, steps, 'Back', 'Prompt');
  await page.getByRole('button', { name: '简体中文' }).click();
  await holdPrompt(page, steps, 'another language', '提示词');
  await page.getByRole('button', { name: 'English' }).click();
  await holdPrompt(page, steps, 'the language again', 'Prompt');
  await loseCode(page, steps);
  await watched.finish(steps, 'kept', LOST);
}

async function titled(page: Page, name: string): Promise<string> {
  await page.getByRole('heading', { level: 1, name }).waitFor();
  return page.title();
}

async function holdPrompt(page: Page, { holds }: Steps, what: string, label: string): Promise<void> {
  const prompt = page.getByLabel(label).first();
  await prompt.waitFor();
  holds(`kept: the prompt, after ${what}`, await prompt.inputValue(), 'a kettle that nobody has boiled yet');
  const shape = page.getByRole('radio', { name: '16:9' });
  holds(`kept: the shape, after ${what}`, await shape.isChecked(), true);
}

/** The server is away while a page is first gone to. */
async function loseCode(page: Page, steps: Steps): Promise<void> {
  await page.route(/\/console\//, (route) => route.abort());
  await page.getByRole('link', { name: 'Usage' }).first().click();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  steps.holds(
    'kept: the console stays where a page can not be loaded',
    await page.getByRole('navigation', { name: 'Main', exact: true }).count(),
    1,
  );
  await page.unroute(/\/console\//);
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  await page.getByRole('link', { name: 'Studio' }).first().click();
  await holdPrompt(page, steps, 'a page that could not be loaded', 'Prompt');
}
