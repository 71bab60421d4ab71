import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';

import type { Steps } from './steps.ts';
import { openPage, type WatchedPage } from './watch-page.ts';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
export const VIEWS = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 800 },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 800 },
  { name: 'phone', colorScheme: 'light', width: 390, height: 844 },
] as const;
const PAGES = [
  '',
  '?kind=video',
  '?kind=chat',
  '?kind=analysis',
  '?kind=templates',
  'gallery',
  'tasks',
  'shop?template=poster',
  'models',
  'usage',
  'keys',
  'start',
];

/** The console as a new user meets it: a picture with the mouse alone, remixed, found again, a video cancelled, a key. */
export async function walkConsole(
  url: string,
  browser: Browser,
  steps: Steps,
  developmentKey: string,
): Promise<void> {
  const watched = await openPage(browser, { origin: url, pages: { '/walk/none': '' } });
  const noise: string[] = [];
  watched.page.on('console', (message) => {
    if (message.type() === 'error') noise.push(message.text());
  });
  await makePicture(url, watched, steps);
  await cancelVideo(url, watched.page, steps);
  await lookAround(url, watched.page, steps);
  await useKeys(url, watched.page, steps, developmentKey);
  const foreign = watched
    .takeRequests()
    .filter((one) => !one.startsWith(url) && !one.startsWith(socketOf(url)));
  const { holds } = steps;
  holds(
    'console: nothing was requested from elsewhere',
    foreign.filter((one) => /^(https?|wss?):/.test(one)),
    [],
  );
  holds(
    'console: no script has failed, nothing was refused by the policy',
    [...watched.errors, ...noise],
    [],
  );
  await watched.page.context().close();
}

function socketOf(url: string): string {
  return url.replace(/^http/, 'ws');
}

async function makePicture(url: string, { page }: WatchedPage, { holds }: Steps): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Prompt').waitFor();
  holds('console: a browser that opens the address is sent there', new URL(page.url()).pathname, '/console/');
  await page.getByText('a lighthouse at dawn').click();
  await page.getByRole('button', { name: 'Make it' }).click();
  const progress = page.getByRole('progressbar');
  await progress.waitFor();
  holds('console: a picture shows its progress', await progress.getAttribute('aria-valuemax'), '100');
  const picture = page.locator('.tile.done img');
  await picture.waitFor();
  await picture.evaluate('(image) => image.decode()');
  holds('console: a picture is made with two clicks', await picture.count(), 1);

  await page.reload();
  await page.getByRole('button', { name: 'Remix' }).click();
  const prompt = await page.getByLabel('Prompt').inputValue();
  holds(
    'console: remix recalls the prompt after a reload',
    prompt,
    'a lighthouse at dawn, calm sea, long light',
  );
  const shape = page.getByRole('radio', { name: '16:9' });
  holds('console: and the shape', await shape.getAttribute('aria-checked'), 'true');
}

async function cancelVideo(url: string, page: Page, { holds }: Steps): Promise<void> {
  await page.goto(`${url}/console/?kind=video`);
  await page.getByLabel('Prompt').fill('waves at a beach');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.getByRole('button', { name: 'Cancel' }).first().click();
  await page.getByText('Cancelled').first().waitFor();
  holds('console: a video is cancelled', await page.locator('.tile.ended .CANCELLED').count(), 1);
}

async function lookAround(url: string, page: Page, { holds }: Steps): Promise<void> {
  await page.getByRole('link', { name: 'Gallery' }).first().click();
  await page.locator('.jg a').first().click();
  await page.getByText('SHA-256').waitFor();
  holds('console: the gallery shows the picture with its details', await page.locator('.jg a').count(), 1);
  await page.getByRole('link', { name: 'Open task' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  holds('console: its task tells who was asked', (await page.locator('.tl .ln').count()) > 0, true);
  const task = new URL(page.url()).pathname.replace('/console/', '');

  for (const { name, colorScheme, width, height } of VIEWS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    for (const path of [...PAGES, task]) {
      await page.goto(`${url}/console/${path}`);
      await page.locator('main h1').waitFor({ state: 'attached' });
      await page.waitForLoadState('networkidle');
      holds(`console: /${path.split('/')[0]} in ${name} is accessible and fits`, await faultsOf(page), []);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** What axe finds against WCAG A and AA, and whether the page is wider than the window. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  // Not as a script of the page, which the console's policy refuses.
  const session = await page.context().newCDPSession(page);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(WCAG)} }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`;
  await session.send('Runtime.evaluate', { expression: axe.source });
  const { result } = await session.send('Runtime.evaluate', {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  const isWide = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  return [...(result.value as string[]), ...(isWide === true ? ['wider than the window'] : [])];
}

async function useKeys(url: string, page: Page, { holds }: Steps, developmentKey: string): Promise<void> {
  await page.goto(`${url}/console/keys`);
  await signIn(page, developmentKey);
  await page.getByLabel('Name', { exact: true }).fill('walk');
  await page.getByRole('button', { name: 'Make a key' }).click();
  const secret = (await page.locator('.note code').textContent()) ?? '';
  holds('console: a key is made and shown once', secret.startsWith('kiln_'), true);
  await page.getByRole('cell', { name: 'walk' }).waitFor();
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

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
