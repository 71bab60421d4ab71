import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';

import { openPage } from './watch-page.ts';

const FOLDER = path.join(import.meta.dirname, '../../docs/screens');
const VIEW = { width: 1280, height: 800 };

/** `npm run browser -- screens` takes screens of four pages into docs/screens/, of what the walks have made. */
export async function takeScreens(url: string, browser: Browser, key: string): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const { page } = await openPage(browser, { origin: url });
  await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' });
  await page.setViewportSize(VIEW);
  await page.goto(`${url}/console/`);
  for (const idea of ['a harbour at dusk', 'a lighthouse at dawn, calm sea, long light']) {
    await page.getByLabel('Prompt').fill(idea);
    await page.getByRole('button', { name: /^Make (it|\d)/ }).click();
  }
  await page.locator('.shot.done').nth(1).waitFor();
  await take(page, 'studio');
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Gallery', exact: true }).first().click();
  await page.locator('main img').nth(3).waitFor();
  await take(page, 'gallery');
  await page.getByRole('link', { name: 'Tasks', exact: true }).first().click();
  await page
    .getByRole('row', { name: /Picture.*Succeeded|Succeeded.*Picture|harbour|lighthouse/ })
    .first()
    .getByRole('link')
    .first()
    .click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await take(page, 'task');
  await page.getByRole('link', { name: 'Usage', exact: true }).first().click();
  await page.getByRole('heading', { name: 'In total' }).waitFor();
  await take(page, 'usage');
  await page.context().close();
}

async function take(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(
    "[...document.images].every((image) => image.complete || image.loading === 'lazy')",
  );
  const picture = await page.screenshot();
  await sharp(picture)
    .webp({ quality: 80 })
    .toFile(path.join(FOLDER, `${name}.webp`));
}
