import { Client, type ClientConfig } from 'pg';
import type { Browser } from 'playwright-core';

import { graphql, until } from '../../../test/kit/clients/requests.ts';
import { serviceKey } from '../../../test/kit/processes/kiln-process.ts';
import type { Figure } from '../bench.ts';
import type { BenchedKiln } from '../kiln.ts';
import { openSignedIn } from './signed-in.ts';

const FRAME_MS = 1000 / 60;
const SCROLL_MS = 20_000;
const STEP_PX = 90;
/** Images that are really there; every other row shows one of them. */
const REAL = 8;

/** Scrolls at a steady speed for so long; answers the time of each frame, and how far it came. */
const SCROLL = `new Promise((resolve) => {
  const frames = [];
  let last = performance.now();
  const end = last + ${SCROLL_MS};
  const step = (now) => {
    frames.push(now - last);
    last = now;
    if (now > end) resolve({ frames: frames.slice(1), to: scrollY });
    else { scrollBy(0, ${STEP_PX}); requestAnimationFrame(step); }
  };
  requestAnimationFrame(step);
})`;

/** Frame times while a gallery of so many images is scrolled, its pages loaded on the way. */
export async function measureScrolling(
  browser: Browser,
  kiln: BenchedKiln,
  images: number,
  say: (line: string) => void,
): Promise<Figure> {
  await makeImages(kiln);
  await copyImages(kiln, images);
  const page = await openSignedIn(browser, kiln.url);
  await page.getByRole('link', { name: 'Gallery' }).first().click();
  await page.locator('.jg a').first().waitFor();
  say(`scrolling through ${images} images for ${SCROLL_MS / 1000} s`);
  const { frames, to } = await page.evaluate<{ readonly frames: number[]; readonly to: number }>(SCROLL);
  const drawn = await page.locator('.jg a').count();
  await page.context().close();
  const sorted = frames.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  const dropped = frames.reduce((sum, ms) => sum + Math.max(0, Math.round(ms / FRAME_MS) - 1), 0);
  const share = dropped / (dropped + frames.length);
  return {
    what: `frames while scrolling ${images} images`,
    ours: `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(1)} ms`,
    baseline: `${FRAME_MS.toFixed(1)} ms`,
    ratio: null,
    note: `${(share * 100).toFixed(1)} % of the frames dropped; ${to.toFixed(0)} px, ${drawn} images in the page at its end`,
  };
}

async function makeImages({ url }: BenchedKiln): Promise<void> {
  const query = `mutation ($prompt: String!) { generateImage(input: { generator: "imga", prompt: $prompt }) { id } }`;
  const state = 'query ($id: ID!) { task(id: $id) { state } }';
  const made = Array.from({ length: REAL }, async (_, index) => {
    const { data } = await graphql(url, query, { prompt: `an image to scroll by, ${index}` }, serviceKey);
    await until(
      () => graphql(url, state, { id: String(data.generateImage.id) }, serviceKey),
      ({ data: { task } }) => task.state === 'SUCCEEDED',
      60_000,
    );
  });
  await Promise.all(made);
}

/** Rows of their own, with the files of those that were made. */
async function copyImages({ connection }: BenchedKiln, count: number): Promise<void> {
  const client = new Client(JSON.parse(connection) as ClientConfig);
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'media' and table_name = 'media' and is_generated = 'NEVER'`,
    );
    const names = rows.map(({ name }) => `"${name}"`);
    const values = names.map((name) => {
      if (name === '"id"') return 'uuidv7(make_interval(secs => -number))';
      return name === '"created_at"' ? `m.created_at - make_interval(secs => number)` : `m.${name}`;
    });
    await client.query(
      `insert into media.media (${names.join(', ')})
       select ${values.join(', ')} from generate_series(1, ${count}) number
       join (select *, row_number() over (order by id) - 1 as place from media.media where state = 'STORED') m
         on m.place = number % (select count(*) from media.media where state = 'STORED')`,
    );
  } finally {
    await client.end();
  }
}
