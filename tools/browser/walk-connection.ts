import type { Browser, Page } from 'playwright-core';

import { until } from '../../test/kit/clients/requests.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** What a browser says of requests and sockets while it is offline; of a socket that is opened as it goes online, nothing. */
const OFFLINE = /ERR_INTERNET_DISCONNECTED|ERR_NETWORK|^WebSocket connection to '\S+' failed: +\(/;

/** The connection is lost while work goes on: it is said, heals by itself, and what was missed is replayed. */
export async function walkConnection(
  url: string,
  browser: Browser,
  steps: Steps,
  key: string,
): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await loseWhileTaskRuns(url, page, steps);
  await loseOnTasks(url, page, steps, key);
  await watched.finish(steps, 'connection', OFFLINE);
}

async function loseWhileTaskRuns(url: string, page: Page, { holds }: Steps): Promise<void> {
  const seen: number[] = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const seq = /"seq":(\d+)/.exec(String(payload))?.[1];
      if (seq !== undefined) seen.push(Number(seq));
    }),
  );
  await page.goto(`${url}/console/?kind=video`);
  await page.getByLabel('Prompt').fill('a wave that nobody watches');
  const asked = page.waitForResponse(
    (response) => response.request().postData()?.includes('mutation') ?? false,
  );
  await page.getByRole('button', { name: 'Make it' }).click();
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(await (await asked).text())?.[0] ?? '';
  await page.getByRole('progressbar').first().waitFor();
  await until(
    async () => seen.length,
    (count) => count > 0,
  );
  await page.context().setOffline(true);
  await page.getByText('Connection lost').waitFor();
  holds('connection: a loss is said', await page.locator('[data-tile="done"]').count(), 0);
  const { lastSeq } = await until(
    () => readTask(url, id),
    ({ state }) => state === 'SUCCEEDED',
    60_000,
  );
  holds('connection: the end of the task is missed meanwhile', seen.includes(lastSeq), false);
  const before = seen.length;
  await page.context().setOffline(false);
  await page.locator('[data-tile="done"]').waitFor();
  await page.getByText('Connection lost').waitFor({ state: 'detached' });
  // The first ones came with the task itself. Every event carries the task as it is now, so that one of the missed is enough.
  const first = Math.min(...seen);
  const known = [...new Set(seen)].toSorted((a, b) => a - b);
  holds('connection: it heals, and what was missed is replayed', seen.length > before, true);
  holds(
    'connection: from where the cut was, without a gap',
    known,
    known.map((_, index) => first + index),
  );
}

async function readTask(
  url: string,
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly state: string; readonly lastSeq: number }> {
  const body = JSON.stringify({
    query: 'query ($id: ID!) { task(id: $id) { state lastSeq } }',
    variables: { id },
  });
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return ((await response.json()) as { readonly data: { readonly task: { state: string; lastSeq: number } } })
    .data.task;
}

async function loseOnTasks(url: string, page: Page, { holds }: Steps, key: string): Promise<void> {
  const start = async (prompt: string) => {
    const query =
      'mutation ($p: String!) { task: generateImage(input: { generator: "imga", prompt: $p }) { id } }';
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, variables: { p: prompt } });
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    return ((await response.json()) as { readonly data: { readonly task: { readonly id: string } } }).data
      .task.id;
  };
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Tasks' }).first().click();
  await start('seen before the cut');
  await page.getByRole('link', { name: 'seen before the cut' }).waitFor();
  await page.context().setOffline(true);
  const id = await start('made during the cut');
  await page.getByText('Connection lost').waitFor();
  await until(
    () => readTask(url, id, { authorization: `Bearer ${key}` }),
    ({ state }) => state === 'SUCCEEDED',
    60_000,
  );
  await page.context().setOffline(false);
  const row = page.getByRole('row', { name: /made during the cut/ });
  await row.locator('[data-state="SUCCEEDED"]').waitFor();
  await page
    .getByRole('row', { name: /seen before the cut/ })
    .locator('[data-state="SUCCEEDED"]')
    .waitFor();
  holds('connection: Tasks shows what began and ended during a cut', await row.count(), 1);
}
