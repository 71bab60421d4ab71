import type { Browser, Page } from 'playwright-core';

import { until } from '../../test/kit/clients/requests.ts';
import { holdOpen } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** The list of tasks as it follows work from elsewhere, and what a task's page tells. */
export async function walkTasks(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  const graphql = askWith(url, key);
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Tasks' }).first().click();
  await page.getByRole('group', { name: 'Filter by state' }).waitFor();
  await seeManyAtOnce(page, graphql, steps);
  await followOthers(page, graphql, steps);
  await seeFailure(page, graphql, steps);
  await redeliver(page, graphql, steps);
  await actOnAll(page, steps);
  await watched.finish(steps, 'tasks');
}

type Ask = (query: string, variables?: object) => Promise<string>;

/** Sends a mutation as another program would; answers the id of its task. */
function askWith(url: string, key: string): Ask {
  return async (query, variables = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, variables });
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    const answer = (await response.json()) as {
      readonly data?: { readonly task: { readonly id: string } | null };
      readonly errors?: readonly object[];
    };
    // What was refused is null, with the reason beside it.
    if (!answer.data?.task) throw new Error(`nothing was started: ${JSON.stringify(answer.errors)}`);
    return answer.data.task.id;
  };
}

const VIDEO =
  'mutation ($p: String!) { task: generateVideo(input: { generator: "agg/vidb", prompt: $p }) { id } }';

const IMAGE =
  'mutation ($p: String!) { task: generateImage(input: { generator: "imga", prompt: $p }) { id } }';
const MANY = 30;

/** Their events come in any order; each has its row, and the newest is on top. */
async function seeManyAtOnce(page: Page, ask: Ask, { holds }: Steps): Promise<void> {
  const ids = await Promise.all(
    Array.from({ length: MANY }, (_, index) => ask(IMAGE, { p: `one of many, ${index}` })),
  );
  const rows = page.getByRole('link', { name: /^one of many/ });
  const seen = new Set<string>();
  let looks = 0;
  await until(
    async () => {
      // Only the rows in the window are in the page.
      looks += 1;
      await page.evaluate(`scrollTo(0, ${(looks % 4) * 600})`);
      const addresses = await rows.evaluateAll((links) =>
        links.map((link) => (link as unknown as { readonly href: string }).href),
      );
      for (const id of ids) if (addresses.some((address) => address.endsWith(id))) seen.add(id);
      return seen.size;
    },
    (count) => count === MANY,
  );
  holds('tasks: of many that start at once each has its row', ids.toSorted(), [...seen].toSorted());
  await page.evaluate('scrollTo(0, 0)');
}

async function followOthers(page: Page, ask: Ask, steps: Steps): Promise<void> {
  const { holds } = steps;
  await ask(VIDEO, { p: 'a film of a low wave' });
  await page.getByRole('link', { name: 'a film of a low wave' }).waitFor();
  holds(
    'tasks: work that another program starts appears by itself',
    (await page.getByRole('progressbar').count()) > 0,
    true,
  );
  await ask(VIDEO, { p: 'a film of a high wave' });
  await page.getByRole('link', { name: 'a film of a high wave' }).focus();
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Cancel 2' }).click();
  // Other walks may have cancelled some as well.
  const cancelled = page
    .getByRole('row', { name: /a film of a (low|high) wave/ })
    .locator('[data-state="CANCELLED"]');
  await cancelled.nth(1).waitFor();
  await page.getByRole('region', { name: 'Selected tasks' }).waitFor({ state: 'detached' });
  const films = page.getByRole('row', { name: /a film of a (low|high) wave/ });
  holds('tasks: several are cancelled at once', await films.locator('[data-state="RUNNING"]').count(), 0);
  await page.keyboard.press('/');
  await page.keyboard.type('high wave');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'a film of a low wave' }).waitFor({ state: 'detached' });
  holds('tasks: the search is in the address', new URL(page.url()).searchParams.get('find'), 'high wave');
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Generator', { exact: true }).selectOption('agg/imga');
  await page.getByText('No tasks here').waitFor();
  await page.getByLabel('Generator', { exact: true }).selectOption('agg/vidb');
  await page.getByLabel('From', { exact: true }).fill('2026-01-01');
  await page.getByRole('link', { name: 'a film of a high wave' }).waitFor();
  await holdOpen(page, steps, 'tasks: the menu of filters');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^From/ }).click();
  const { searchParams } = new URL(page.url());
  holds('tasks: a filter is taken away alone', [...searchParams.keys()].toSorted(), ['find', 'generator']);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  holds('tasks: what is filtered is saved as a table', download.suggestedFilename(), 'tasks.csv');
  await page.getByRole('button', { name: /^Generator/ }).click();
}

/** What matches a filter is started once more, wherever in the list it is. */
async function actOnAll(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('link', { name: 'Tasks' }).first().click();
  await page.getByLabel('Search prompts').fill('one of many');
  await page.keyboard.press('Enter');
  await page.waitForURL(/find=one/);
  await page.getByRole('button', { name: 'Run all again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run all that match again?' });
  const start = dialog.getByRole('button', { name: /^Run \d+ tasks again$/ });
  await start.waitFor();
  await holdOpen(page, steps, 'tasks: what asks before many are started again');
  await start.click();
  const progress = page.getByRole('region', { name: 'Operations on many tasks' });
  await progress.getByText('Done · ').waitFor();
  await holdOpen(page, steps, 'tasks: how far an operation is');
  const [, done = '0', of = '1'] = /(\d+) of (\d+)/.exec((await progress.textContent()) ?? '') ?? [];
  holds('tasks: all that match are started again', Number(done) > 0 && done === of, true);
}

async function seeFailure(page: Page, ask: Ask, { holds }: Steps): Promise<void> {
  // The sandbox's Midjourney refuses this word.
  await ask(
    'mutation { task: generateImage(input: { generator: "imga", prompt: "refused image nsfw-test-banned" }) { id } }',
  );
  await page.getByLabel('Search prompts').fill('refused');
  await page.keyboard.press('Enter');
  await page.locator('tbody [data-state="FAILED"]').waitFor();
  await page.getByRole('link', { name: /^refused image/ }).click();
  const alert = page.getByRole('alert').first();
  await alert.waitFor();
  holds(
    'tasks: a failure names its reason and what to do',
    (await alert.textContent())?.includes('Refused by moderation. Change the prompt'),
    true,
  );
  holds(
    'tasks: its trace id is there to copy',
    /^[0-9a-f]{32}$/.test((await page.locator('[data-id-row] .font-mono').nth(1).textContent()) ?? ''),
    true,
  );
  await page.keyboard.press('r');
  holds(
    'tasks: R takes its settings to the Studio',
    await page.getByLabel('Prompt').inputValue(),
    'refused image nsfw-test-banned',
  );
}

async function redeliver(page: Page, ask: Ask, { holds }: Steps): Promise<void> {
  // Nothing answers there, and no program of this machine may be told.
  await ask(
    'mutation { task: generateImage(callbackUrl: "http://kiln-walk.invalid/hook", input: { generator: "imga", prompt: "told image" }) { id } }',
  );
  await page.getByRole('link', { name: 'Tasks' }).first().click();
  const row = page.getByRole('row', { name: /told image/ });
  await row.locator('[data-state="SUCCEEDED"]').waitFor();
  await row.getByRole('link', { name: 'told image' }).click();
  const told = page.getByText(/^Not delivered after/);
  await told.waitFor();
  const redelivery = page.waitForResponse(
    (response) => response.request().postData()?.includes('Redeliver') ?? false,
  );
  await page.getByRole('button', { name: 'Deliver again' }).click();
  const answer = (await (await redelivery).json()) as { readonly errors?: unknown };
  holds('tasks: a webhook that was not delivered says so, and is sent again', answer.errors, undefined);
}
