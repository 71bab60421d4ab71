import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import type { Browser, Page } from 'playwright-core';

import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;

/** The snippets of "Start here" are read from the page and run as they stand, by a visitor and with a key. */
export async function walkStart(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await page.goto(`${url}/console/start`);
  await runAll(page, steps, { who: 'a visitor' });
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Start here' }).first().click();
  await page.getByText('KILN_KEY').first().waitFor();
  await runAll(page, steps, { who: 'a key', key });
  await watched.finish(steps, 'start');
}

/** Programs that run a snippet, and what they print when it has worked. */
const RUNNERS: Readonly<
  Record<string, readonly [program: string, words: readonly string[], printed: RegExp]>
> = {
  curl: ['sh', ['-c'], /"state":"QUEUED"/],
  // Its sources stand for the package, which is built when it is packed.
  '@kiln/client': [
    process.execPath,
    ['--conditions=kiln-source', '--input-type=module', '-e'],
    /state: 'SUCCEEDED'/,
  ],
  fetch: [process.execPath, ['--input-type=module', '-e'], /state: 'QUEUED'/],
  'Apollo Client': [process.execPath, ['--input-type=module', '-e'], /"state":"SUCCEEDED"/],
  urql: [process.execPath, ['--input-type=module', '-e'], /"state":"SUCCEEDED"/],
  Python: ['python3', ['-c'], /'state': 'QUEUED'/],
};

async function runAll(
  page: Page,
  { holds }: Steps,
  { who, key }: { readonly who: string; readonly key?: string },
): Promise<void> {
  for (const [title, [program, words, printed]] of Object.entries(RUNNERS)) {
    await page.getByRole('tab', { name: title, exact: true }).click();
    const code = await page.locator('[role=tabpanel] pre').innerText();
    // Where the packages are that a snippet imports.
    const cwd = path.join(import.meta.dirname, '../..');
    const env = { ...process.env, KILN_KEY: key };
    const { stdout } = await run(program, [...words, code], { cwd, env, timeout: TIMEOUT_MS }).catch(
      withoutProgram,
    );
    if (stdout === null) {
      console.log(`no ${program} here: its snippet is not run`);
      continue;
    }
    holds(`start: the snippet for ${title} runs for ${who}`, printed.test(stdout) ? '' : stdout, '');
  }
}

/** Not every machine has every program. */
function withoutProgram(error: NodeJS.ErrnoException): { readonly stdout: null } {
  if (error.code !== 'ENOENT') throw error;
  return { stdout: null };
}
