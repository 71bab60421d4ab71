import { spawn } from 'node:child_process';
import path from 'node:path';

import type { Browser, Locator, Page } from 'playwright-core';

import { temporaryDataDir } from '../../test/kit/processes/kiln-process.ts';
import { startProgram } from '../../test/topology/processes.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** Seconds that a new user may need in all. */
const MOST_SECONDS = 120;

/** What a new user does, from `git clone` on, and how long each part takes. After the terminal the mouse does it alone. */
export async function walkFirstMinutes(browser: Browser, steps: Steps): Promise<void> {
  const { dataDir, remove } = await temporaryDataDir();
  const clock = createClock();
  try {
    const checkout = path.join(dataDir, 'kiln');
    await run('git', ['clone', '--quiet', path.resolve(import.meta.dirname, '../..'), checkout], dataDir);
    clock.note('git clone');
    await run('npm', ['ci'], checkout);
    clock.note('npm ci');
    const kiln = await startProgram({
      command: 'npm',
      words: ['start'],
      checkout,
      settings: { PORT: '0', DATA_DIR: path.join(dataDir, 'data') },
      ready: async (printed) => addressIn(printed) !== undefined,
    });
    try {
      clock.note('npm start, until it prints an address');
      await makeFirstFrame(addressIn(kiln.output()) ?? '', browser, steps, clock);
    } finally {
      await kiln.end();
    }
  } finally {
    remove();
  }
  const seconds = clock.total();
  steps.holds(
    `first minutes: under ${MOST_SECONDS} s in all`,
    seconds < MOST_SECONDS ? 'yes' : seconds,
    'yes',
  );
}

/** The address that the terminal shows. */
function addressIn(printed: string): string | undefined {
  return /(http\S+#login_code=\S+)/.exec(printed)?.[1];
}

async function makeFirstFrame(
  address: string,
  browser: Browser,
  { holds }: Steps,
  clock: Clock,
): Promise<void> {
  const watched = await openPage(browser, { origin: new URL(address).origin });
  const { page } = watched;
  const mouse = createMouse(page);
  await page.goto(address);
  await page.getByText('a lighthouse at dawn').waitFor();
  clock.note('until the console is there (built meanwhile)');
  await mouse.click(page.getByText('a lighthouse at dawn'));
  await mouse.click(page.getByRole('button', { name: 'Make it' }));
  await page.locator('[data-tile="done"] img').waitFor();
  clock.note('until the image is made');
  await mouse.click(page.getByRole('link', { name: 'Gallery', exact: true }).first());
  const image = page.locator('[data-piece] a img').first();
  await image.evaluate('(image) => image.decode()');
  clock.note('until it is seen in the gallery');
  holds('first minutes: clicks from the address to the image in the gallery', mouse.clicks(), 3);
  await watched.finish({ holds, count: 0 }, 'first minutes', BEING_BUILT);
}

/** Until it is built, the address of the console answers 503. */
const BEING_BUILT = /503 \(Service Unavailable\)/;

interface Mouse {
  click(what: Locator): Promise<void>;
  clicks(): number;
}

/** Moves to what is shown and presses; no key is typed. */
function createMouse(page: Page): Mouse {
  let clicks = 0;
  return {
    async click(what) {
      await what.scrollIntoViewIfNeeded();
      const box = await what.boundingBox();
      if (box === null) throw new Error('what is to be clicked is not shown');
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      clicks += 1;
    },
    clicks: () => clicks,
  };
}

interface Clock {
  /** Prints how long a part has taken that ends now. */
  note(what: string): void;
  /** Whole seconds since the beginning. */
  total(): number;
}

function createClock(): Clock {
  const began = performance.now();
  let last = began;
  return {
    note(what) {
      const now = performance.now();
      console.log(`${((now - last) / 1_000).toFixed(1).padStart(7)} s  ${what}`);
      last = now;
    },
    total: () => Math.round((performance.now() - began) / 1_000),
  };
}

/** Runs a program with nothing of the environment of this one but what it needs to run at all. */
function run(program: string, words: readonly string[], cwd: string): Promise<void> {
  // Without the certificates of its network npm tries for minutes before it takes what it has.
  const { PATH, HOME, TMPDIR, NODE_EXTRA_CA_CERTS } = process.env;
  const env = {
    PATH,
    HOME,
    ...(TMPDIR !== undefined && { TMPDIR }),
    ...(NODE_EXTRA_CA_CERTS !== undefined && { NODE_EXTRA_CA_CERTS }),
  };
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ${words.join(' ')} ended with ${String(code)}`)),
    );
  });
}
