import type { Steps } from './steps.ts';
import type { WatchedPage } from './watch-page.ts';

/**
 * The pages that need no internet: they show themselves and request nothing from elsewhere. The explorer's tabs have an
 * identity: what the first starts is in the list of the last.
 */
export async function walkExplorer(
  url: string,
  { page, takeRequests, errors }: WatchedPage,
  { holds }: Steps,
): Promise<void> {
  takeRequests();
  await page.goto(`${url}/explorer`);
  await page.waitForFunction("document.body.innerText.includes('Send Request')");
  const foreign = () => {
    const requests = takeRequests();
    if (requests.length === 0) throw new Error('no request of the page was noticed');
    return requests.filter((one) => !isOurs(one, url));
  };
  await sendTab(page, 'createTask', '"state": "QUEUED"');
  await sendTab(page, 'tasks', '"totalCount": 1');
  holds('the explorer asks for nothing from elsewhere', foreign(), []);
  holds('the explorer’s scripts run without an error', errors, []);
  for (const path of ['/docs', '/docs/workflow', '/sandbox']) {
    await page.goto(`${url}${path}`);
    holds(`${path} neither`, foreign(), []);
  }
}

/** Sends the request of a tab and waits until its answer has these words. */
async function sendTab(page: WatchedPage['page'], tab: string, words: string): Promise<void> {
  await page.getByText(tab, { exact: true }).first().click();
  await page.waitForFunction(`document.body.innerText.includes('Send Request')`);
  await page.locator('button:has-text("Send Request")').first().click();
  await page.waitForFunction(`document.body.innerText.includes('${words}')`);
}

function isOurs(request: string, url: string): boolean {
  return (
    request.startsWith('data:') || request.startsWith('blob:') || new URL(request).host === new URL(url).host
  );
}
