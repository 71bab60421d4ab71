import type { Page } from 'playwright-core';

import type { Steps } from './steps.ts';

/** What is bought in a purchase. */
export interface Purchase {
  readonly template: string;
  readonly kind: 'image' | 'video';
}

/** Buys with a mouse, as the user who has signed in on this page, and has the payment refunded at the end. */
export async function walkPurchase(
  url: string,
  page: Page,
  { holds }: Steps,
  { template, kind }: Purchase,
): Promise<void> {
  await page.goto(`${url}/walk/app`);
  await page.click(`button[data-buy="${template}"]`);
  await page.waitForFunction("document.title === 'Checkout (sandbox)'");
  await page.click('button[value="decline"]');
  await page.getByText('Your card was declined').waitFor();
  await page.locator('button').first().click();
  await page.click('button[value="card"]');
  const { payment, execution } = await dataAt(page, '/payment/success');
  holds(`${template}: a declined card, a good one, then success`, payment.status, 'completed');
  holds(`${template}: an execution has started`, typeof execution?.executionId, 'string');

  await page.goto(`${url}/walk/app?view=watch&execution=${execution.executionId}`);
  await page.waitForFunction('document.body.dataset.shown', undefined, { timeout: 120_000 });
  const seen: readonly (readonly [string, number])[] = await page.evaluate(
    "[...document.querySelectorAll('#progress li')].map(({ dataset, textContent }) => [dataset.status, parseInt(textContent)])",
  );
  const order = seen.map(([, seq]) => seq);
  holds(
    `${template}: ${seen.length} entries came over the WebSocket, in order`,
    order,
    order.toSorted((a, b) => a - b),
  );
  holds(`${template}: the last one is the end`, seen.at(-1)?.[0], 'COMPLETED');
  const media = await (kind === 'image' ? lookAtImage(page) : playVideo(page));
  holds(
    `${template}: the ${kind} is shown as it was measured (${JSON.stringify(media.facts)})`,
    media.seen,
    media.facts,
  );
  await page.waitForFunction('document.body.dataset.closed');

  await page.goto(`${url}/walk/app?view=history`);
  const isListed = async (status: string) => {
    await page.locator(`[data-payment="${payment.id}"][data-status="${status}"]`).waitFor();
    return true;
  };
  holds(`${template}: the history shows it`, await isListed('COMPLETED'), true);
  await page.click(`button[data-refund="${payment.id}"]`);
  holds(`${template}: a refund gives it back`, await isListed('REFUNDED'), true);
}

/** Goes back from the checkout without paying, as a browser that brings no token. */
export async function walkBack(url: string, page: Page, { holds }: Steps, template: string): Promise<void> {
  await page.goto(`${url}/walk/app`);
  await page.click(`button[data-buy="${template}"]`);
  await page.click('button[value="back"]');
  const { payment } = await dataAt(page, '/payment/cancel');
  holds(`${template}: the way back without paying ends the checkout`, payment.status, 'cancelled');
}

/** `data` of what a path of the API answers to programs, once the browser has come there; the browser sees a page. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever the API replies; the walk checks it
async function dataAt(page: Page, pathname: string): Promise<any> {
  await page.waitForURL((url) => url.pathname === pathname);
  await page.locator('h1').waitFor();
  const answer = await page.context().request.get(page.url(), { headers: { accept: 'application/json' } });
  return (await answer.json()).data;
}

interface Shown {
  /** As the browser sees it. */
  readonly seen: Readonly<Record<string, unknown>>;
  /** As the API reports it. */
  readonly facts: Readonly<Record<string, unknown>>;
}

async function lookAtImage(page: Page): Promise<Shown> {
  return page.evaluate(`(async () => {
    const image = document.querySelector('#result img');
    await image.decode();
    const { duration: _, ...facts } = JSON.parse(image.dataset.facts);
    return { facts, seen: { width: image.naturalWidth, height: image.naturalHeight } };
  })()`);
}

/** Presses play and waits for the end. */
async function playVideo(page: Page): Promise<Shown> {
  await page.click('button[data-play]');
  await page.waitForFunction("document.querySelector('#result video').dataset.ended");
  return page.evaluate(`(() => {
    const video = document.querySelector('#result video');
    const { duration, ...facts } = JSON.parse(video.dataset.facts);
    const isAsLong = Math.abs(video.duration - duration) < 0.15;
    return {
      facts: { ...facts, duration: true },
      seen: { width: video.videoWidth, height: video.videoHeight, duration: isAsLong },
    };
  })()`);
}
