import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Browser } from 'playwright-core';

import { until } from '../kit/clients/requests.ts';
import { spawnKiln, temporaryDataDir } from '../kit/processes/kiln-process.ts';
import { findChromium, launchChromium } from './launch-chromium.ts';
import { createSteps } from './steps.ts';
import { takeScreens } from './take-screens.ts';
import { walkConsole } from './walk-console.ts';
import { walkDocs } from './walk-docs.ts';
import { walkExplorer } from './walk-explorer.ts';
import { walkGallery } from './walk-gallery.ts';
import { walkKeys } from './walk-keys.ts';
import { walkPeople } from './walk-people.ts';
import { walkBack, walkPurchase } from './walk-purchase.ts';
import { walkSession } from './walk-session.ts';
import { walkShop } from './walk-shop.ts';
import { walkSignIn } from './walk-sign-in.ts';
import { walkSigned } from './walk-signed.ts';
import { walkStudio } from './walk-studio.ts';
import { walkTasks } from './walk-tasks.ts';
import { openPage } from './watch-page.ts';

/** `npm run browser`: a real browser walks through a Kiln that `npm start` has started without any configuration. */

async function walk(url: string, browser: Browser, output: string): Promise<void> {
  const app = await readFile(path.join(import.meta.dirname, 'app.html'), 'utf8');
  const watched = await openPage(browser, { origin: url, pages: { '/walk/app': app } });
  const { page } = watched;
  const steps = createSteps();
  const key = /(kiln_[0-9a-f]{64})/.exec(output)?.[1] ?? '';
  const address = /(http\S+#login_code=\S+)/.exec(output)?.[1] ?? '';
  await walkConsole(url, browser, steps, key);
  await walkKeys(url, browser, steps);
  await walkStudio(url, browser, steps);
  await walkTasks(url, browser, steps, key);
  await walkSession(url, browser, steps, address);
  await walkSigned(url, browser, steps, key);
  await walkShop(url, browser, steps, key);
  await walkPeople(url, browser, steps, key);
  // Before the gallery is filled with rows that have no files.
  if (process.argv.includes('screens')) await takeScreens(url, browser, key);
  await walkGallery(url, browser, steps, key);
  await walkSignIn(url, page, steps);
  await walkPurchase(url, page, steps, { template: 'poster', kind: 'image' });
  await walkPurchase(url, page, steps, { template: 'clip', kind: 'video' });
  await walkBack(url, page, steps, 'poster');
  await walkExplorer(url, watched, steps);
  await walkDocs(url, watched, steps);
  console.log(`${steps.count} of ${steps.count} hold in Chromium ${browser.version()}`);
}

async function main(): Promise<void> {
  const program = findChromium(process.env);
  if (program === null) {
    throw new Error('no browser here: set CHROMIUM_PATH, or have chromium on the PATH (CONTRIBUTING.md)');
  }
  const { dataDir, remove } = await temporaryDataDir();
  // Empty counts as unset: nothing is configured but a free port and a place for the data.
  const kiln = spawnKiln({
    dataDir,
    by: 'npm',
    settings: { RATE_LIMIT: '', SERVICE_KEYS: '', CONSOLE_BUILD: '' },
  });
  let browser: Browser | null = null;
  try {
    const url = await kiln.ready;
    await consoleBuilt(url);
    browser = await launchChromium(program);
    await walk(url, browser, kiln.output());
  } finally {
    await browser?.close();
    await kiln.stop();
    remove();
  }
}

/** A fresh checkout builds the console in the background; until then its address answers 503. */
async function consoleBuilt(url: string): Promise<void> {
  await until(
    () => fetch(`${url}/console`),
    ({ status }) => status === 200,
  );
}

await main();
