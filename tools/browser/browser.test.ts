import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import express from 'express';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createConsole } from '../../gateway/server/console.ts';
import {
  type KilnProcess,
  startKilnProcess,
  temporaryDataDir,
} from '../../test/kit/processes/kiln-process.ts';
import { findChromium, launchChromium } from './launch-chromium.ts';
import { holdView } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { cancelVideo, makeImage } from './walk-console.ts';
import { walkKeys } from './walk-keys.ts';
import { setOptions } from './walk-options.ts';
import { openPage } from './watch-page.ts';

/** The quick half of `npm run browser`. A machine may be busy with other tests: only what never comes fails. */
const PATIENCE_MS = 240_000;

const root = path.resolve(import.meta.dirname, '../..');
const program = findChromium(process.env);
const steps: Steps = {
  holds: (what, actual, expected) => assert.deepEqual(actual, expected, what),
  count: 0,
};

describe.skipIf(program === null)('the console in a browser (skipped without one: CONTRIBUTING.md)', () => {
  let kiln: KilnProcess & { readonly url: string };
  let remove: () => void;
  let browser: Browser;

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [path.join(root, 'console/build.ts'), '--if-stale'], {
      cwd: root,
      // The tests' own NODE_ENV would give React's development build.
      env: { ...process.env, NODE_ENV: 'production' },
    });
    const folder = await temporaryDataDir();
    remove = folder.remove;
    kiln = await startKilnProcess({ dataDir: folder.dataDir, settings: { SERVICE_KEYS: '' } });
    browser = await launchChromium(program ?? '');
  }, PATIENCE_MS);

  afterAll(async () => {
    await browser?.close();
    await kiln?.stop();
    remove?.();
  }, PATIENCE_MS);

  test(
    'makes an image with the mouse alone, recalls it, cancels a video and sets options of a model',
    async () => {
      const watched = await openPage(browser, { origin: kiln.url });
      await makeImage(kiln.url, watched, steps);
      await holdView(watched.page, steps, 'the Studio');
      await cancelVideo(kiln.url, watched.page, steps);
      await setOptions(kiln.url, watched.page, steps);
      await watched.finish(steps, 'a visitor');
      expect(browser.contexts(), 'every walk closes what it has opened').toHaveLength(0);
    },
    PATIENCE_MS,
  );

  test(
    'is opened by itself once it is built, with the code in its address',
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'kiln-console-'));
      const server = express()
        .use('/console', createConsole({ basePath: '', folder }))
        .listen(0, '127.0.0.1');
      try {
        await once(server, 'listening');
        const page = await browser.newPage();
        const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/console/#login_code=a`;
        await page.goto(address);
        await page.getByRole('heading', { name: 'The console is being built' }).waitFor();
        await writeFile(path.join(folder, 'index.html'), '<h1>Built</h1>');
        await page.getByRole('heading', { name: 'Built' }).waitFor();
        expect(page.url()).toBe(address);
        await page.close();
      } finally {
        server.close();
        server.closeAllConnections();
        await rm(folder, { recursive: true, force: true });
      }
    },
    PATIENCE_MS,
  );

  test(
    'is gone through with the keys',
    async () => {
      await walkKeys(kiln.url, browser, steps);
      expect(browser.contexts(), 'every walk closes what it has opened').toHaveLength(0);
    },
    PATIENCE_MS,
  );
});
