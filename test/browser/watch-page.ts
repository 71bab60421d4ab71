import { setTimeout as pause } from 'node:timers/promises';

import type { Chromium } from './chromium.ts';

/** One tab, used as a person would: addresses, clicks, and looking at what is there. */
export interface Page {
  open(url: string): Promise<void>;
  /** The value of an expression in the page; promises are awaited. */
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the page says; the walk checks it
  read(expression: string): Promise<any>;
  /** Reads until it is truthy, over page changes too; answers it. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  until(expression: string, timeoutMs?: number): Promise<any>;
  /** Presses the mouse in the middle of what a selector finds, as soon as it is there. */
  click(selector: string): Promise<void>;
  url(): Promise<URL>;
  /** Every address that was asked for, from here or a frame or worker of it, since the last call. */
  requests(): readonly string[];
  /** What went wrong in its scripts. */
  readonly errors: readonly string[];
}

export interface PageOptions {
  /** Pages of the walk's own, by path, below the origin that is walked. */
  readonly pages: Readonly<Record<string, string>>;
  readonly origin: string;
}

/** A tab of its own, with no cookies of another. */
export async function openPage(chromium: Chromium, { pages, origin }: PageOptions): Promise<Page> {
  const { browserContextId } = await chromium.send('Target.createBrowserContext');
  const { targetId } = await chromium.send('Target.createTarget', { url: 'about:blank', browserContextId });
  const attached = await chromium.send('Target.attachToTarget', { targetId, flatten: true });
  const sessionId = String(attached['sessionId']);
  const own = new Set([sessionId]);
  const send = (method: string, parameters: object = {}) => chromium.send(method, parameters, sessionId);
  let asked: string[] = [];
  const errors: string[] = [];

  chromium.listen(({ method, params, sessionId: from = '' }) => {
    if (!own.has(from)) return;
    if (method === 'Network.requestWillBeSent') asked.push(String(params.request.url));
    if (method === 'Network.webSocketCreated') asked.push(String(params.url));
    if (method === 'Runtime.exceptionThrown')
      errors.push(JSON.stringify(params.exceptionDetails).slice(0, 500));
    if (method === 'Fetch.requestPaused') void answer(String(params.requestId), String(params.request.url));
    if (method === 'Target.attachedToTarget') {
      own.add(String(params.sessionId));
      // A frame or a worker may end before it is listened to.
      chromium.send('Network.enable', {}, String(params.sessionId)).catch(() => undefined);
    }
  });

  async function answer(requestId: string, url: string): Promise<void> {
    const body = pages[new URL(url).pathname] ?? '';
    await send('Fetch.fulfillRequest', {
      requestId,
      responseCode: 200,
      responseHeaders: [{ name: 'content-type', value: 'text/html; charset=utf-8' }],
      body: Buffer.from(body).toString('base64'),
    });
  }

  await Promise.all(['Page', 'Runtime', 'Network'].map((domain) => send(`${domain}.enable`)));
  await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
  await send('Fetch.enable', {
    patterns: Object.keys(pages).map((path) => ({ urlPattern: `${origin}${path}*` })),
  });

  const read: Page['read'] = async (expression) => {
    const parameters = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
    const { result, exceptionDetails } = await send('Runtime.evaluate', parameters);
    if (exceptionDetails !== undefined) {
      throw new Error(`the page says: ${JSON.stringify(exceptionDetails).slice(0, 500)}`);
    }
    return (result as { readonly value?: unknown }).value;
  };
  const until: Page['until'] = async (expression, timeoutMs = 60_000) => {
    const deadline = Date.now() + timeoutMs;
    let last = '';
    while (Date.now() < deadline) {
      try {
        const value: unknown = await read(expression);
        if (value) return value;
        last = JSON.stringify(value);
      } catch (error) {
        // The page may be about to change.
        last = String(error);
      }
      await pause(50);
    }
    throw new Error(`never came true: ${expression} (at last ${last})`);
  };
  return {
    read,
    until,
    errors,
    async open(url) {
      const { errorText } = await send('Page.navigate', { url });
      if (typeof errorText === 'string') throw new Error(`${url}: ${errorText}`);
      await until("document.readyState === 'complete' && location.href !== 'about:blank'");
    },
    async click(selector) {
      const { x, y } = (await until(`(() => {
        const found = document.querySelector(${JSON.stringify(selector)});
        found?.scrollIntoView({ block: 'center' });
        const box = found?.getBoundingClientRect();
        return box?.width && !found.disabled && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      })()`)) as { readonly x: number; readonly y: number };
      const mouse = { x, y, button: 'left', clickCount: 1 };
      for (const type of ['mousePressed', 'mouseReleased']) {
        await send('Input.dispatchMouseEvent', { type, ...mouse });
      }
    },
    url: async () => new URL(String(await read('location.href'))),
    requests() {
      const seen = asked;
      asked = [];
      return seen;
    },
  };
}
