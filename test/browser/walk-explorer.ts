import type { Steps } from './steps.ts';
import type { WatchedPage } from './watch-page.ts';

/** The pages that need no internet: they show themselves and request nothing from elsewhere. */
export async function walkExplorer(
  url: string,
  { page, takeRequests, errors }: WatchedPage,
  { holds }: Steps,
): Promise<void> {
  takeRequests();
  await page.goto(`${url}/explorer`);
  await page.waitForFunction("document.body.innerText.includes('mutation CreateTask')");
  const foreign = () => {
    const requests = takeRequests();
    if (requests.length === 0) throw new Error('no request of the page was noticed');
    return requests.filter((one) => !isOurs(one, url));
  };
  holds('the explorer asks for nothing from elsewhere', foreign(), []);
  holds('the explorer’s scripts run without an error', errors, []);
  for (const path of ['/docs', '/docs/workflow', '/sandbox']) {
    await page.goto(`${url}${path}`);
    holds(`${path} neither`, foreign(), []);
  }
}

function isOurs(request: string, url: string): boolean {
  return (
    request.startsWith('data:') || request.startsWith('blob:') || new URL(request).host === new URL(url).host
  );
}
