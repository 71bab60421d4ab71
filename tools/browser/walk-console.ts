import type { Browser, Page } from 'playwright-core';

import { holdPages, MOVING } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage, type WatchedPage } from './watch-page.ts';

/** Every page, and forms of the Studio that differ. */
export const PAGES = [
  '',
  '?kind=video',
  '?kind=chat',
  '?kind=analysis',
  '?kind=templates',
  'gallery',
  'tasks',
  'shop',
  'shop?template=poster',
  'models',
  'usage',
  'keys',
  'start',
  'cast',
  'workflows',
];

/** The console as a new user meets it: an image with the mouse alone, remixed, found again, a video cancelled, a key. */
export async function walkConsole(
  url: string,
  browser: Browser,
  steps: Steps,
  developmentKey: string,
): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  await makeImage(url, watched, steps);
  await cancelVideo(url, watched.page, steps);
  await lookAround(url, watched.page, steps);
  await useKeys(url, watched.page, steps, developmentKey);
  await watched.finish(steps, 'console');
}

/** An image with two clicks, watched until it is there, and recalled after a reload. */
export async function makeImage(url: string, { page }: WatchedPage, { holds }: Steps): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Prompt').waitFor();
  holds('console: a browser that opens the address is sent there', new URL(page.url()).pathname, '/console/');
  await page.getByText('a lighthouse at dawn').click();
  await page.getByRole('button', { name: 'Make it' }).click();
  const progress = page.getByRole('progressbar');
  await progress.waitFor();
  holds('console: an image shows its progress', await progress.getAttribute('aria-valuemax'), '100');
  const image = page.locator('[data-tile="done"] img');
  await image.waitFor();
  await image.evaluate('(image) => image.decode()');
  holds('console: an image is made with two clicks', await image.count(), 1);

  await page.reload();
  await page.getByRole('button', { name: 'Remix' }).click();
  const prompt = await page.getByLabel('Prompt').inputValue();
  holds(
    'console: remix recalls the prompt after a reload',
    prompt,
    'a lighthouse at dawn, calm sea, long light',
  );
  const shape = page.getByRole('radio', { name: '16:9' });
  holds('console: and the shape', await shape.isChecked(), true);
}

/** A video that is cancelled while it is made. */
export async function cancelVideo(url: string, page: Page, { holds }: Steps): Promise<void> {
  await page.goto(`${url}/console/?kind=video`);
  await page.getByLabel('Prompt').fill('waves at a beach');
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-tile="RUNNING"]').waitFor();
  holds('console: running work moves', (await movingIn(page, '[data-tile="RUNNING"]')) > 0, true);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  holds(
    'console: and stands still for who wishes less motion',
    await movingIn(page, '[data-tile="RUNNING"]'),
    0,
  );
  await page.getByRole('button', { name: 'Cancel' }).first().click();
  await page.getByText('Cancelled').first().waitFor();
  holds(
    'console: a video is cancelled',
    await page.locator('[data-tile="ended"] [data-state="CANCELLED"]').count(),
    1,
  );
}

/** How many parts move while there is what `running` selects; -1 when there is none. */
function movingIn(page: Page, running: string): Promise<number> {
  return page.evaluate(`document.querySelector('${running}') === null ? -1 : ${MOVING}.length`);
}

async function lookAround(url: string, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('link', { name: 'Gallery' }).first().click();
  await page.locator('[data-piece] a').first().click();
  await page.getByText('SHA-256').waitFor();
  holds(
    'console: the gallery shows the image with its details',
    await page.locator('[data-piece] a').count(),
    1,
  );
  await page.getByRole('link', { name: 'Open task' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  holds('console: its task tells who was asked', (await page.locator('[data-line]').count()) > 0, true);
  const task = new URL(page.url()).pathname.replace('/console/', '');

  await holdPages(page, steps, { url, who: 'visitor', paths: [...PAGES, task] });
}

async function useKeys(url: string, page: Page, { holds }: Steps, developmentKey: string): Promise<void> {
  await page.goto(`${url}/console/keys`);
  await signIn(page, developmentKey);
  await page.getByLabel('Name', { exact: true }).fill('walk');
  await page.getByLabel('Budget a month').fill('5');
  await page.getByRole('button', { name: 'Make a key' }).click();
  const secret = (await page.locator('[data-note] code').textContent()) ?? '';
  holds('console: a key is made and shown once', secret.startsWith('kiln_'), true);
  // The audit log names it as well.
  await page.getByRole('cell', { name: 'walk' }).first().waitFor();
  await rotateKey(page, { holds }, secret);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Service key or access token').waitFor();
  holds(
    'console: keys are hidden after the sign-out',
    await page.getByRole('cell', { name: 'walk' }).count(),
    0,
  );
  await signIn(page, secret);
  await page.getByRole('link', { name: 'Tasks' }).first().click();
  await page.getByText('No tasks here').waitFor();
  holds('console: the new key sees its own tasks, which are none', await page.locator('tbody tr').count(), 0);
}

/** A key gets another secret, and is told to bear both for a day. */
async function rotateKey(page: Page, { holds }: Pick<Steps, 'holds'>, secret: string): Promise<void> {
  await page.getByRole('row', { name: /^walk/ }).getByRole('button', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Give walk a new secret?' });
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const next = (await dialog.locator('[data-note] code').textContent()) ?? '';
  holds('console: a key gets another secret', next.startsWith('kiln_') && next !== secret, true);
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: /Previous secret ends/ }).waitFor();
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
