import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import type { Browser } from 'playwright-core';

import { spawnKiln, temporaryDataDir } from '../../test/kit/processes/kiln-process.ts';
import { findChromium, launchChromium } from './launch-chromium.ts';
import { createSteps, type Steps } from './steps.ts';
import { takeScreens } from './take-screens.ts';
import { WALKS, WALKS_APART } from './walks.ts';

/** `npm run browser`: a real browser walks through a Kiln that `npm start` has started without any configuration, and one in production. */

const SCREENS = 'screens';
const CONSOLE_BUILD = path.join(import.meta.dirname, '../../console/build.ts');
const run = promisify(execFile);

/** What to do, by the words of the command line; without words all walks. */
interface Chosen {
  readonly walks: readonly string[];
  readonly walksApart: readonly string[];
  readonly takesScreens: boolean;
}

function choose(names: readonly string[]): Chosen {
  const known = [...Object.keys(WALKS), ...Object.keys(WALKS_APART), SCREENS];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`no such walk: ${unknown.join(', ')}; there are ${known.join(', ')}`);
  }
  const isAll = names.every((name) => name === SCREENS);
  const isChosen = (name: string) => isAll || names.includes(name);
  return {
    walks: Object.keys(WALKS).filter(isChosen),
    walksApart: Object.entries(WALKS_APART)
      .filter(([name, { byNameOnly }]) => (byNameOnly ? names.includes(name) : isChosen(name)))
      .map(([name]) => name),
    takesScreens: names.includes(SCREENS),
  };
}

async function main(): Promise<void> {
  const program = findChromium(process.env);
  if (program === null) {
    throw new Error('no browser here: set CHROMIUM_PATH, or have chromium on the PATH (CONTRIBUTING.md)');
  }
  const chosen = choose(process.argv.slice(2));
  const browser = await launchChromium(program);
  const steps = createSteps();
  try {
    if (chosen.walks.length > 0 || chosen.takesScreens) await walkOnOne(browser, steps, chosen);
    for (const name of chosen.walksApart) await WALKS_APART[name]?.walk(browser, steps);
    console.log(`${steps.count} of ${steps.count} hold in Chromium ${browser.version()}`);
  } catch (error) {
    await image(browser);
    throw error;
  } finally {
    await browser.close();
  }
}

/** Walks through one Kiln that `npm start` has started without any configuration. */
async function walkOnOne(browser: Browser, steps: Steps, { walks, takesScreens }: Chosen): Promise<void> {
  // Else a build of older sources is served, and replaced in the middle of a walk.
  await run(process.execPath, [CONSOLE_BUILD, '--if-stale']);
  const { dataDir, remove } = await temporaryDataDir();
  // Empty counts as unset: nothing is configured but a free port and a place for the data.
  const kiln = spawnKiln({
    dataDir,
    by: 'npm',
    settings: { RATE_LIMIT: '', SERVICE_KEYS: '', CONSOLE_BUILD: '' },
  });
  try {
    const url = await kiln.ready;
    const output = kiln.output();
    const key = /(kiln_[0-9a-f]{64})/.exec(output)?.[1] ?? '';
    const address = /(http\S+#login_code=\S+)/.exec(output)?.[1] ?? '';
    for (const name of Object.keys(WALKS)) {
      // Before the gallery is filled with rows that have no files.
      if (name === 'gallery' && takesScreens) await takeScreens(url, browser, key);
      if (walks.includes(name)) await WALKS[name]?.({ url, browser, steps, key, address });
    }
  } finally {
    await kiln.stop();
    remove();
  }
}

/** What the tabs show where a walk has stopped, for whoever looks for the cause. */
async function image(browser: Browser): Promise<void> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  for (const [index, page] of pages.entries()) {
    const file = path.join(tmpdir(), `kiln-browser-${process.pid}-${index}.png`);
    const taken = await page.screenshot({ path: file, timeout: 5_000 }).then(
      () => file,
      () => 'no image',
    );
    console.error(`stopped at ${page.url()} (${taken})`);
  }
}

await main();
