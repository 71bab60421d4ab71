import type { Browser, Page } from 'playwright-core';

/** A tab and what is noted of it. */
export interface WatchedPage {
  readonly page: Page;
  /** Every address that the page, its frames or its workers requested since the last call. */
  readonly takeRequests: () => readonly string[];
  /** Errors of its scripts. */
  readonly errors: readonly string[];
}

/** Opens a tab without cookies. `pages` are served below the origin by the walk itself, by path. */
export async function openPage(
  browser: Browser,
  { origin, pages }: { readonly origin: string; readonly pages: Readonly<Record<string, string>> },
): Promise<WatchedPage> {
  const context = await browser.newContext();
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  let requests: string[] = [];
  const errors: string[] = [];
  context.on('request', (request) => void requests.push(request.url()));
  page.on('websocket', (socket) => void requests.push(socket.url()));
  page.on('pageerror', (error) => void errors.push(String(error)));
  await servePages(page, origin, pages);
  return {
    page,
    errors,
    takeRequests() {
      const taken = requests;
      requests = [];
      return taken;
    },
  };
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
