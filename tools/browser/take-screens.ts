import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';

import { graphql } from '../../test/kit/clients/requests.ts';
import { openPage } from './watch-page.ts';

const FOLDER = path.join(import.meta.dirname, '../../docs/screens');
const VIEW = { width: 1280, height: 800 };

/** What the gallery shows: no two alike. */
const PROMPTS = [
  'a blue whale at noon',
  'a red fox in the snow',
  'an owl in a pine forest at night',
  'a hot air balloon over green hills',
  'a teapot on a wooden table',
  'a bicycle by the sea',
  'a castle in the mountains',
];

/** `npm run browser -- screens` takes screens of four pages into docs/screens/. */
export async function takeScreens(url: string, browser: Browser, key: string): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await makeImages(url, key);
  const { page } = await openPage(browser, { origin: url });
  await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' });
  await page.setViewportSize(VIEW);
  await page.goto(`${url}/console/`);
  for (const idea of ['a harbour at dusk', 'a lighthouse at dawn, calm sea, long light']) {
    await page.getByLabel('Prompt').fill(idea);
    await page.getByRole('button', { name: /^Make (it|\d)/ }).click();
  }
  await page.locator('[data-shot="done"]').nth(1).waitFor();
  await take(page, 'studio');
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Gallery', exact: true }).first().click();
  await page.locator('main img').nth(PROMPTS.length).waitFor();
  await take(page, 'gallery');
  await page.getByRole('link', { name: 'Tasks', exact: true }).first().click();
  await page
    .getByRole('row', { name: /castle/ })
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

/** Starts them; they are done long before the gallery is opened. */
async function makeImages(url: string, key: string): Promise<void> {
  const query =
    'mutation ($prompt: String!) { generateImage(input: { generator: "imga", prompt: $prompt }) { id } }';
  for (const prompt of PROMPTS) {
    const { errors } = await graphql(url, query, { prompt }, { authorization: `Bearer ${key}` });
    if (errors !== undefined) throw new Error(`${prompt}: ${errors[0]?.message}`);
  }
}

async function take(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle');
  // Those that are seen: others are not loaded, and a copy may be made when it is first asked for.
  await page.evaluate(
    'Promise.all([...document.images].filter((one) => one.getBoundingClientRect().top < innerHeight).map((one) => one.decode()))',
  );
  const image = await page.screenshot();
  await sharp(image)
    .webp({ quality: 80 })
    .toFile(path.join(FOLDER, `${name}.webp`));
}
