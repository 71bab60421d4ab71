import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { spawnKiln, temporaryDataDir } from '../kit/processes/kiln-process.ts';
import { findChromium, startChromium, type Chromium } from './chromium.ts';
import { openPage } from './page.ts';
import { createSteps } from './steps.ts';
import { walkDocs } from './walk-docs.ts';
import { walkExplorer } from './walk-explorer.ts';
import { walkBack, walkPurchase } from './walk-purchase.ts';
import { walkSignIn } from './walk-sign-in.ts';

/** `npm run browser`: a real browser walks through a Kiln that `npm start` has started without any configuration. */

async function walk(url: string, chromium: Chromium): Promise<void> {
  const app = await readFile(path.join(import.meta.dirname, 'app.html'), 'utf8');
  const page = await openPage(chromium, { origin: url, pages: { '/walk/app': app } });
  const steps = createSteps();
  await walkSignIn(url, page, steps);
  await walkPurchase(url, page, steps, { template: 'poster', kind: 'image' });
  await walkPurchase(url, page, steps, { template: 'clip', kind: 'video' });
  await walkBack(url, page, steps, 'poster');
  await walkExplorer(url, page, steps);
  await walkDocs(url, page, steps);
  console.log(`${steps.count} of ${steps.count} hold in ${chromium.version}`);
}

async function main(): Promise<void> {
  const program = findChromium(process.env);
  if (program === null) {
    throw new Error('no browser here: set CHROMIUM_PATH, or have chromium on the PATH (CONTRIBUTING.md)');
  }
  const { dataDir, remove } = await temporaryDataDir();
  // Empty counts as unset: nothing is configured but a free port and a place for the data.
  const kiln = spawnKiln({ dataDir, by: 'npm', settings: { RATE_LIMIT: '', SERVICE_KEYS: '' } });
  let chromium: Chromium | null = null;
  try {
    const url = await kiln.ready;
    chromium = await startChromium(program);
    await walk(url, chromium);
  } finally {
    await chromium?.close();
    await kiln.stop();
    remove();
  }
}

await main();
