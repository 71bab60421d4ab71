import type { Browser, Page } from 'playwright-core';

import { until } from '../../test/kit/clients/requests.ts';
import { holdOpen } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** More than one page of the gallery. */
const UPLOADS = 260;

/** The gallery of somebody who has signed in: paging, rows, search, details, remix from the task, zip, delete. */
export async function walkGallery(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  const { holds } = steps;
  await fillGallery(url, key);
  await signIn(page, url, key);
  await page.getByRole('link', { name: 'Studio' }).first().click();
  await page.getByText('a lighthouse at dawn').click();
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-tile="done"] img').waitFor();
  // Another device knows nothing of what this browser has made.
  await page.evaluate("localStorage.removeItem('kiln.batches')");

  await page.getByRole('link', { name: 'Gallery' }).first().click();
  await page.locator('[data-piece] a').first().waitFor();
  await moveByKeys(page, steps);
  await scrollThrough(page, steps);
  await page.getByLabel('Search prompts').fill('lighthouse');
  await page.keyboard.press('Enter');
  const found = page.getByRole('link', { name: 'a lighthouse at dawn' });
  await found.first().click();
  holds('gallery: a search finds an image by its prompt', await page.locator('[data-drawer]').count(), 1);
  await page.getByText('SHA-256').waitFor();
  await holdOpen(page, steps, 'gallery: the drawer');
  await page.locator('[data-view-image]').click();
  await holdOpen(page, steps, 'gallery: the viewer');
  await page.keyboard.press('z');
  holds(
    'gallery: an image is looked at in its own pixels',
    await page.locator('[data-viewer="full"]').count(),
    1,
  );
  await page.keyboard.press('Escape');
  await share(page, steps);
  await page.getByRole('button', { name: 'Remix' }).click();
  holds(
    'gallery: remix recalls the task on any device',
    await page.getByLabel('Prompt').inputValue(),
    'a lighthouse at dawn, calm sea, long light',
  );
  await fillBoard(page, steps);
  // A key is kept by the page alone, which the shared board has left.
  await signIn(page, url, key);
  await page.getByRole('link', { name: 'Gallery' }).first().click();
  await page.locator('[data-piece] a').first().waitFor();
  await findByPalette(page, steps);
  await downloadAndDelete(page, steps);
  await watched.finish(steps, 'gallery');
}

async function signIn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

async function fillGallery(url: string, key: string): Promise<void> {
  const image = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR42mM4EaWhYZMHAAh3Ah3p4MNhAAAAAElFTkSuQmCC',
    'base64',
  );
  const upload = async (name: string) => {
    const form = new FormData();
    const query = 'mutation ($file: Upload!) { uploadFile(file: $file) { id } }';
    form.set('operations', JSON.stringify({ query, variables: { file: null } }));
    form.set('map', JSON.stringify({ 0: ['variables.file'] }));
    form.set('0', new Blob([image], { type: 'image/png' }), name);
    const headers = { authorization: `Bearer ${key}`, 'apollo-require-preflight': 'true' };
    await (await fetch(`${url}/graphql`, { method: 'POST', headers, body: form })).text();
  };
  for (let done = 0; done < UPLOADS; done += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => upload(`walk-${Math.floor(done / 20)}-${index}.png`)),
    );
  }
}

/** Arrows in the grid and in the viewer, and the address that keeps what is open. */
async function moveByKeys(page: Page, { holds }: Steps): Promise<void> {
  holds(
    'gallery: a day begins with its name',
    await page.locator('[data-grid] h2').first().textContent(),
    'Today',
  );
  const open = () => new URL(page.url()).searchParams.get('open');
  await page.locator('[data-piece] a').first().click();
  await page.locator('[data-drawer]').waitFor();
  const first = open();
  // The address changes before the page does.
  const drawn = () => page.locator(`[data-piece="${open()}"] a[aria-current]`).waitFor();
  await drawn();
  await page.keyboard.press('ArrowDown');
  await page.waitForURL((url) => url.searchParams.get('open') !== first);
  await drawn();
  await page.keyboard.press('ArrowUp');
  await page.waitForURL((url) => url.searchParams.get('open') === first);
  await drawn();
  await page.keyboard.press('ArrowRight');
  await page.waitForURL((url) => url.searchParams.get('open') !== first);
  holds('gallery: arrows move in rows and between them', open() === first, false);
  await page.keyboard.press('z');
  await page.locator('[data-viewer]').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.waitForURL((url) => url.searchParams.get('open') === first);
  await page.keyboard.press('+');
  await page.locator('[data-viewer="full"]').waitFor();
  holds('gallery: the viewer moves on and zooms by keys', open(), first);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close' }).click();
}

/** Shares what is open, and looks at it as somebody who has nothing but the address. */
async function share(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('button', { name: 'Share' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share by a link that ends' });
  await dialog.getByLabel('Ends in').selectOption('An hour');
  await dialog.getByRole('button', { name: 'Create a link' }).click();
  const field = dialog.getByRole('textbox', { name: 'Link' });
  await until(
    () => field.inputValue(),
    (text) => text !== '',
  );
  await holdOpen(page, steps, 'gallery: what shares a file');
  const answer = await fetch(await field.inputValue());
  const id = new URL(page.url()).searchParams.get('open') ?? '';
  holds(
    'gallery: a shared address shows the file and not its id',
    [answer.headers.get('content-type'), answer.url.includes(id)],
    ['image/png', false],
  );
  const { url } = answer;
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await until(
    () => field.count(),
    (count) => count === 0,
  );
  holds('gallery: a revoked address opens nothing', (await fetch(url)).status, 404);
  await page.keyboard.press('Escape');
}

/** A board is made, filled by a drag and from a selection, and passed on; a star finds its image. */
async function fillBoard(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('link', { name: 'Gallery' }).first().click();
  await page.locator('[data-piece] a').nth(3).waitFor();
  await page.getByRole('button', { name: 'New board' }).click();
  await page.getByPlaceholder('Name of the board').fill('Walked');
  await page.getByRole('button', { name: 'Save' }).click();
  const board = page.getByRole('link', { name: /^Walked/ });
  await page.locator('[data-piece]').nth(0).hover();
  await page.mouse.down();
  // A drag begins with a small move: a leap begins none.
  await page.mouse.move(400, 250, { steps: 3 });
  await board.hover();
  await page.mouse.up();
  await page.getByRole('link', { name: 'Walked 1' }).waitFor();
  await page.locator('[data-piece] [role=checkbox]').nth(1).click();
  await page.locator('[data-piece] [role=checkbox]').nth(2).click();
  await page.getByLabel('Put on a board').selectOption({ label: 'Walked' });
  await page.getByRole('link', { name: 'Walked 3' }).click();
  await page.waitForURL(/board=/);
  await until(
    () => page.locator('[data-piece]').count(),
    (count) => count === 3,
  );
  await holdOpen(page, steps, 'gallery: a board');
  await page.locator('[data-piece]').nth(0).hover();
  await page.locator('[data-piece] [aria-pressed]').nth(0).click();
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.getByRole('button', { name: 'Create a link' }).click();
  const address = await page.getByRole('dialog').locator('input.font-mono').inputValue();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Starred' }).click();
  await until(
    () => page.locator('[data-piece]').count(),
    (count) => count === 1,
  );
  holds('gallery: a star finds its image', await page.locator('[data-piece]').count(), 1);
  await page.goto(address);
  await page.getByRole('heading', { name: 'Walked' }).waitFor();
  holds(
    'gallery: a board is seen by whoever has its address',
    await page.locator('[data-shared-grid] li').count(),
    3,
  );
}

async function scrollThrough(page: Page, { holds }: Steps): Promise<void> {
  const drawn = await page.locator('[data-piece] a').count();
  holds('gallery: only what the window shows is drawn', drawn < UPLOADS / 2, true);
  // The oldest upload is on the second page.
  const oldest = page.getByRole('link', { name: /^walk-0-/ }).first();
  while (!(await oldest.isVisible())) {
    await page.mouse.move(600, 500);
    await page.mouse.wheel(0, 3_000);
    await page.waitForTimeout(50);
  }
  holds('gallery: the next page is loaded at the end', await page.locator('[data-drawer]').count(), 0);
}

/** The palette finds what was made by its prompt, and by its id. */
async function findByPalette(page: Page, { holds }: Steps): Promise<void> {
  const palette = page.getByRole('dialog', { name: 'Search or jump' });
  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill('lighthouse at');
  await palette.locator('[data-command]:has(img)').first().click();
  await page.locator('[data-drawer]').waitFor();
  holds('palette: an image is found by its prompt', new URL(page.url()).pathname, '/console/gallery');
  const id = new URL(page.url()).searchParams.get('open') ?? '';
  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill(id);
  await palette.locator('[data-command]:has(img)').waitFor();
  holds('palette: an image is found by its id', await palette.getByRole('option').count(), 1);
  await page.keyboard.press('Escape');
}

async function downloadAndDelete(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('link', { name: 'Gallery' }).first().click();
  await page.locator('[data-piece] a').first().waitFor();
  const before = Number(await page.locator('main header .tabular-nums').textContent());
  const ticks = page.locator('[data-piece] [role=checkbox]');
  await ticks.nth(1).click();
  await ticks.nth(3).click({ modifiers: ['Shift'] });
  await page.getByText('3 selected').waitFor();
  await holdOpen(page, steps, 'gallery: the bar of a selection');
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Generator', { exact: true }).waitFor();
  await holdOpen(page, steps, 'gallery: the menu of filters');
  await page.keyboard.press('Escape');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Download' }).click(),
  ]);
  holds(
    'gallery: several are downloaded as one zip',
    /^kiln-.*\.zip$/.test(download.suggestedFilename()),
    true,
  );
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Delete' }).click();
  const sure = page.getByRole('dialog', { name: 'Delete 3 files for good?' });
  await sure.waitFor();
  await holdOpen(page, steps, 'gallery: what asks before a deletion');
  await sure.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('region', { name: 'Selection' }).waitFor({ state: 'detached' });
  await page.getByText('3 selected').waitFor({ state: 'detached' });
  const left = Number(await page.locator('main header .tabular-nums').textContent());
  holds('gallery: what is deleted is gone from the grid', before - left, 3);
}
