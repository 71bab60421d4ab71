import type { Page } from 'playwright-core';

import { holdView } from './page-faults.ts';
import type { Steps } from './steps.ts';

const PROMPT = 'a fox with options';

/** Takes the files out of the form that an earlier step has left in it. */
export async function removeFiles(page: Page): Promise<void> {
  const remove = page.getByRole('button', { name: 'Remove the file' });
  for (let left = await remove.count(); left > 0; left -= 1) await remove.first().click();
}

/** What a model takes besides: set in the form, refused at its field, seen on the task, and recalled. */
export async function setOptions(url: string, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.goto(`${url}/console/`);
  await chooseModel(page, 'GPT Image 2');
  await removeFiles(page);
  await page.getByLabel('Prompt').fill(PROMPT);
  await page.getByLabel('Quality', { exact: true }).selectOption('low');
  await page.getByLabel('Compression in percent', { exact: true }).fill('40');
  await page.getByText('More options').click();
  await holdView(page, steps, 'options of a model');
  await page.getByLabel('Moderation', { exact: true }).selectOption('low');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-batch]').filter({ hasText: PROMPT }).locator('[data-tile="done"] img').waitFor();

  await page.goto(`${url}/console/tasks`);
  await page.locator('tr[data-task]').filter({ hasText: PROMPT }).locator('a').first().click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.getByText('Compression in percent', { exact: true }).waitFor();
  const facts = await page.locator('dl').allInnerTexts();
  const told = [/^Quality\s+low$/m, /^Compression in percent\s+40$/m, /^Moderation\s+low$/m];
  const missing = told.filter((one) => !one.test(facts.join('\n')));
  holds('options: the task tells what was set', missing, []);
  const code = page.locator('pre').filter({ hasText: '"moderation": "low"' });
  await code.first().waitFor();
  holds('options: the same in a program has them', await code.count(), 1);
  await page.getByRole('button', { name: 'Remix' }).click();
  holds('options: remix recalls them', await page.getByLabel('Quality', { exact: true }).inputValue(), 'low');
  holds(
    'options: also what is folded away',
    await page.getByLabel('Moderation', { exact: true }).inputValue(),
    'low',
  );

  await chooseModel(page, 'Gemini 3.1 Flash Image');
  const safety = page.getByLabel('Safety settings', { exact: true });
  await page.getByText('More options').click();
  await safety.fill('[{"category": "NONE"}]');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-more-options] p.text-failed').waitFor();
  holds('options: a refusal is said at its field', await safety.getAttribute('aria-invalid'), 'true');
}

/** A model that no list has: found by its name at its vendor, and used with the options that this tells. */
export async function findModel(url: string, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.goto(`${url}/console/`);
  await page.getByRole('combobox', { name: /^Model/ }).click();
  await page.locator('[data-picker] input').fill('paper cut');
  await page.locator('[data-picker] section button').filter({ hasText: 'fal-ai/paper-cut/v2' }).click();
  await page.locator('[data-picker]').waitFor({ state: 'hidden' });
  await page.getByLabel('Prompt').fill('a crane of paper');
  await page.getByLabel('Paper', { exact: true }).selectOption('kraft');
  await holdView(page, steps, 'a model that was found');
  await page.getByRole('button', { name: 'Make it' }).click();
  const batch = page.locator('[data-batch]').filter({ hasText: 'a crane of paper' });
  await batch.locator('[data-tile="done"] img').waitFor();
  holds('options: a model that was found by its name makes an image', await batch.count(), 1);
}

async function chooseModel(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: /^Model/ }).click();
  await page.locator('[data-picker] input').fill(name);
  await page.locator('[data-picker] [role=option]').filter({ hasText: name }).first().click();
  await page.locator('[data-picker]').waitFor({ state: 'hidden' });
}
