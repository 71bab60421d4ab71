import type { Browser, BrowserContext, Page } from 'playwright-core';

import type { Steps } from './steps.ts';

/** A tab and what is noted of it, and of every other tab of its context. */
export interface WatchedPage {
  readonly page: Page;
  /** Every address that the page, its frames or its workers requested since the last call. */
  readonly takeRequests: () => readonly string[];
  /** Errors of its scripts. */
  readonly errors: readonly string[];
  /**
   * Holds what is true of every walk, and closes the tabs: nothing was requested from elsewhere, no script has failed,
   * nothing stands in the browser's console as an error, which is where what the policy refuses is told. `expected`:
   * errors that the walk itself has brought about.
   */
  readonly finish: (steps: Steps, walk: string, expected?: RegExp) => Promise<void>;
}

/** Where a tab is opened. */
interface Place {
  readonly origin: string;
  /** Pages that the walk itself serves below the origin, by path. */
  readonly pages?: Readonly<Record<string, string>>;
  /** Origin of an identity provider that the browser may leave for: pages of its own, which ask for nothing else. */
  readonly provider?: string;
}

/** Opens a tab without cookies. Certificates of test servers are accepted. */
export async function openPage(
  browser: Browser,
  { origin, pages = {}, provider }: Place,
): Promise<WatchedPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(60_000);
  const noted = note(context, provider);
  const page = await context.newPage();
  if (Object.keys(pages).length > 0) await servePages(page, origin, pages);
  const ours = new URL(origin).host;
  return {
    page,
    errors: noted.errors,
    takeRequests: () => noted.requests.splice(0),
    async finish({ holds }, walk, expected) {
      const foreign = [...noted.all].filter(
        (one) => /^(https?|wss?):/.test(one) && new URL(one).host !== ours,
      );
      holds(`${walk}: nothing was requested from elsewhere`, foreign, []);
      const noise = [...noted.errors, ...noted.noise].filter((one) => expected?.test(one) !== true);
      holds(`${walk}: no script has failed, and nothing was refused by the policy`, noise, []);
      await context.close();
    },
  };
}

/** Most addresses that are kept of a context. */
const KEPT = 100_000;

/** Notes what all tabs of a context request, and what fails there. */
function note(context: BrowserContext, provider: string | undefined) {
  const requests: string[] = [];
  const all = new Set<string>();
  const errors: string[] = [];
  const noise: string[] = [];
  const add = (address: string) => {
    if (requests.length < KEPT) requests.push(address);
    if (all.size < KEPT) all.add(address);
  };
  context.on('request', (request) => {
    if (request.isNavigationRequest() && new URL(request.url()).origin === provider) return;
    add(request.url());
  });
  context.on('page', (page) => page.on('websocket', (socket) => add(socket.url())));
  context.on('weberror', (error) => void errors.push(String(error.error())));
  context.on('console', (message) => {
    if (message.type() === 'error') noise.push(`${message.text()} (${message.location().url})`);
  });
  return { requests, errors, noise, all };
}

/** Serves these pages in the browser. `page.route` is not asked after a redirect, which is how a sign-in comes back. */
async function servePages(page: Page, origin: string, pages: Readonly<Record<string, string>>) {
  const session = await page.context().newCDPSession(page);
  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    const html = pages[new URL(request.url).pathname] ?? '';
    void session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: 200,
      responseHeaders: [{ name: 'content-type', value: 'text/html; charset=utf-8' }],
      body: Buffer.from(html).toString('base64'),
    });
  });
  const patterns = Object.keys(pages).map((path) => ({ urlPattern: `${origin}${path}*` }));
  await session.send('Fetch.enable', { patterns });
}
