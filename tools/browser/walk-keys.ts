import type { Browser, Page } from 'playwright-core';

import { holdOpen } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** The console by its keys alone: the palette, G and a letter, the list of keys and how single keys are turned off. */
export async function walkKeys(url: string, browser: Browser, steps: Steps): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  const { holds } = steps;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const readPath = () => new URL(page.url()).pathname;
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const press = (key: string) => page.keyboard.press(key);
  await chooseModel(url, page, steps);
  await page.goto(`${url}/console/gallery`);
  await heading('Gallery');

  const palette = page.getByRole('dialog', { name: 'Search or jump' });
  await press('Control+k');
  await palette.getByRole('option', { name: 'Studio' }).waitFor();
  await holdOpen(page, steps, 'keys: the palette');
  await page.keyboard.type('usag');
  holds('keys: the palette finds by a part of a name', await palette.getByRole('option').count(), 1);
  await press('Enter');
  await heading('Usage');
  holds('keys: the palette goes to a page and is closed', await palette.count(), 0);
  // Typed at once: what comes before the palette is there belongs to it, and not to the page.
  await press('Control+k');
  await page.keyboard.type('poster');
  await palette.getByRole('option').first().waitFor();
  holds(
    'keys: the palette has what was typed before it was there',
    await palette.getByRole('combobox').inputValue(),
    'poster',
  );
  await press('Escape');
  await palette.waitFor({ state: 'detached' });
  holds('keys: Escape closes the palette and stays', readPath(), '/console/usage');

  await press('g');
  const letters = page.locator('[data-letters]');
  await letters.waitFor();
  await holdOpen(page, steps, 'keys: what says which letters G waits for');
  await press('t');
  await heading('Tasks');
  holds('keys: and goes to the page of a letter', await letters.count(), 0);
  await press('?');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.getByText('Previous and next file').waitFor();
  await holdOpen(page, steps, 'keys: the list of keys');
  await list.getByRole('checkbox').uncheck();
  await press('Escape');
  await list.waitFor({ state: 'detached' });
  await press('g');
  await press('u');
  await press('Control+k');
  await page.keyboard.type('keyboard');
  await press('Enter');
  await list.waitFor();
  holds('keys: single keys rest when turned off, the palette does not', readPath(), '/console/tasks');
  await list.getByRole('checkbox').check();
  await watched.finish(steps, 'keys');
}

/** The list of models, which is loaded when it is opened first. */
async function chooseModel(url: string, page: Page, { holds }: Steps): Promise<void> {
  await page.goto(`${url}/console/`);
  const button = page.getByRole('combobox', { name: /^Model/ });
  await button.focus();
  await page.keyboard.press('Enter');
  const search = page.locator('[data-picker] input');
  await search.and(page.locator(':focus')).waitFor();
  await page.keyboard.type('gpt-image');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('[data-picker]').waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: /^Model: .*GPT/i }).waitFor();
  await button.and(page.locator(':focus')).waitFor();
  holds(
    'keys: a model is chosen from the list, and the focus is on its button again',
    await search.count(),
    0,
  );
}
