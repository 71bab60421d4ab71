import type { Page } from './page.ts';
import type { Steps } from './steps.ts';

/** The pages that need no internet: they show themselves and ask for nothing elsewhere. */
export async function walkExplorer(url: string, page: Page, { holds }: Steps): Promise<void> {
  page.requests();
  await page.open(`${url}/explorer`);
  await page.until("document.body.innerText.includes('query Health')");
  const foreign = () => {
    const asked = page.requests();
    if (asked.length === 0) throw new Error('the page has asked for nothing at all: it is not heard');
    return asked.filter((one) => !isOurs(one, url));
  };
  holds('the explorer asks for nothing from elsewhere', foreign(), []);
  holds('the explorer’s scripts run without an error', page.errors, []);
  for (const path of ['/docs', '/docs/workflow', '/sandbox']) {
    await page.open(`${url}${path}`);
    holds(`${path} neither`, foreign(), []);
  }
}

function isOurs(asked: string, url: string): boolean {
  return asked.startsWith('data:') || asked.startsWith('blob:') || new URL(asked).host === new URL(url).host;
}
