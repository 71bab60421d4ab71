import type { Page } from 'playwright-core';

import { holdOpen, holdView } from './page-faults.ts';
import type { Steps } from './steps.ts';

/** Results beside each other: several chosen ones, the same on several models, a sheet of two options. */
export async function compareResults(url: string, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.goto(`${url}/console/`);
  const ticks = page.locator('[data-shot] [role=checkbox]');
  await ticks.nth(1).waitFor();
  await ticks.nth(0).click();
  await ticks.nth(1).click();
  const bar = page.getByRole('region', { name: 'Compare' });
  await bar.getByRole('button', { name: 'Compare' }).click();
  const dialog = page.getByRole('dialog', { name: 'Compare' });
  await holdOpen(page, steps, 'studio: two results beside each other');
  holds('studio: results are compared side by side', await dialog.locator('figure img').count(), 2);
  await dialog.getByRole('button', { name: 'Wipe between the two' }).click();
  const line = dialog.getByRole('slider', { name: 'Where one image ends and the other begins' });
  await line.fill('25');
  const style = await dialog.locator('.compare-pane').nth(1).getAttribute('style');
  holds('studio: a line is drawn across two results', style?.includes('75%'), true);
  await page.keyboard.press('Escape');
  await bar.getByRole('button', { name: 'Clear' }).click();
  await severalModels(page, steps);
  await sheetOfOptions(page, steps);
}

async function severalModels(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByLabel('Prompt').fill('a boat on several models');
  await page.getByRole('button', { name: 'Several at once' }).click();
  const dialog = page.getByRole('dialog', { name: 'Several at once' });
  await dialog.getByRole('checkbox').nth(2).check();
  await holdOpen(page, steps, 'studio: the choice of several models');
  await dialog.getByRole('button', { name: 'Make it on 2 models' }).click();
  const cells = page.locator('[data-sheet] figure img');
  await cells.nth(1).waitFor();
  await holdView(page, steps, 'the same on several models');
  const told = await page.locator('[data-sheet] figure figcaption').allInnerTexts();
  holds(
    'studio: several models tell price and time beside each result',
    told.map((text) => /\S\s+free · [\d.]+ s/.test(text)),
    [true, true],
  );
}

async function sheetOfOptions(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('button', { name: 'Several at once' }).click();
  const dialog = page.getByRole('dialog', { name: 'Several at once' });
  await dialog.getByRole('button', { name: 'Vary an option' }).click();
  await dialog.getByLabel('Vary', { exact: true }).selectOption({ label: 'Seed' });
  await dialog.getByLabel('Numbers, such as 1, 2, 5-8').fill('1-2');
  await dialog.getByLabel('And down the side').selectOption({ label: 'Shape' });
  await dialog.getByRole('button', { name: '4:3' }).click();
  await holdOpen(page, steps, 'studio: the choice of options to vary');
  await dialog.getByRole('button', { name: 'Make 4 results' }).click();
  const cells = page.locator('[data-sheet] figure img');
  await cells.nth(3).waitFor();
  holds('studio: two options make a table', await page.locator('[data-sheet] th').allInnerTexts(), [
    'Seed 1',
    'Seed 2',
    '1:1',
    '3:2',
  ]);
  await cells.first().click();
  await page.getByRole('button', { name: 'Back to the sheet' }).click();
  holds('studio: a result of a sheet is seen large, and left again', await cells.count(), 4);
}
