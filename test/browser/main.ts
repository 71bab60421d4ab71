import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Browser } from 'playwright-core';

import { until } from '../kit/clients/requests.ts';
import { spawnKiln, temporaryDataDir } from '../kit/processes/kiln-process.ts';
import { findChromium, launchChromium } from './launch-chromium.ts';
import { createSteps } from './steps.ts';
import { takeScreens } from './take-screens.ts';
import { type Started, WALKS } from './walks.ts';

/** `npm run browser`: a real browser walks through a Kiln that `npm start` has started without any configuration. */

const SCREENS = 'screens';

/** The walks of these names, in their order; without names all of them. */
async function walk(started: Started, names: readonly string[]): Promise<void> {
  const { browser, steps } = started;
  const unknown = names.filter((name) => !Object.hasOwn(WALKS, name) && name !== SCREENS);
  if (unknown.length > 0) {
    throw new Error(
      `no such walk: ${unknown.join(', ')}; there are ${Object.keys(WALKS).join(', ')}, ${SCREENS}`,
    );
  }
  const chosen = names.filter((name) => name !== SCREENS);
  for (const [name, run] of Object.entries(WALKS)) {
    // Before the gallery is filled with rows that have no files.
    if (name === 'gallery' && names.includes(SCREENS)) await takeScreens(started.url, browser, started.key);
    if (chosen.length === 0 || chosen.includes(name)) await run(started);
  }
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
    const output = kiln.output();
    const key = /(kiln_[0-9a-f]{64})/.exec(output)?.[1] ?? '';
    const address = /(http\S+#login_code=\S+)/.exec(output)?.[1] ?? '';
    await walk({ url, browser, steps: createSteps(), key, address }, process.argv.slice(2));
  } catch (error) {
    if (browser !== null) await picture(browser);
    throw error;
  } finally {
    await browser?.close();
    await kiln.stop();
    remove();
  }
}

/** What the tabs show where a walk has stopped, for whoever looks for the cause. */
async function picture(browser: Browser): Promise<void> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  for (const [index, page] of pages.entries()) {
    const file = path.join(tmpdir(), `kiln-browser-${process.pid}-${index}.png`);
    const taken = await page.screenshot({ path: file, timeout: 5_000 }).then(
      () => file,
      () => 'no picture',
    );
    console.error(`stopped at ${page.url()} (${taken})`);
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
