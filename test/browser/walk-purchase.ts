import type { Page } from './page.ts';
import type { Steps } from './steps.ts';

/** What is bought in a purchase. */
export interface Purchase {
  readonly template: string;
  readonly kind: 'image' | 'video';
}

/** Buys with a mouse, as the person who has signed in on this page, and asks for the money back at the end. */
export async function walkPurchase(
  url: string,
  page: Page,
  { holds }: Steps,
  { template, kind }: Purchase,
): Promise<void> {
  await page.open(`${url}/walk/app`);
  await page.click(`button[data-buy="${template}"]`);
  await page.until("document.title === 'Checkout (sandbox)'");
  await page.click('button[value="decline"]');
  await page.until("document.body.innerText.includes('Your card was declined')");
  await page.click('button');
  await page.click('button[value="card"]');
  await page.until("location.pathname === '/payment/success'");
  const { payment, execution } = JSON.parse(await page.until('document.body?.innerText')).data;
  holds(`${template}: a declined card, a good one, then success`, payment.status, 'completed');
  holds(`${template}: an execution has started`, typeof execution?.executionId, 'string');

  await page.open(`${url}/walk/app?view=watch&execution=${execution.executionId}`);
  await page.until('document.body.dataset.shown', 120_000);
  const seen = (await page.read(
    "[...document.querySelectorAll('#progress li')].map(({ dataset, textContent }) => [dataset.status, parseInt(textContent)])",
  )) as readonly (readonly [string, number])[];
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
  await page.until('document.body.dataset.closed');

  await page.open(`${url}/walk/app?view=history`);
  const listed = (status: string) =>
    page.until(`document.querySelector('[data-payment="${payment.id}"][data-status="${status}"]') !== null`);
  holds(`${template}: the history shows it`, await listed('COMPLETED'), true);
  await page.click(`button[data-refund="${payment.id}"]`);
  holds(`${template}: a refund gives it back`, await listed('REFUNDED'), true);
}

/** Goes back from the checkout without paying, as a browser that brings no token. */
export async function walkBack(url: string, page: Page, { holds }: Steps, template: string): Promise<void> {
  await page.open(`${url}/walk/app`);
  await page.click(`button[data-buy="${template}"]`);
  await page.click('button[value="back"]');
  await page.until("location.pathname === '/payment/cancel'");
  const { payment } = JSON.parse(await page.until('document.body?.innerText')).data;
  holds(`${template}: the way back without paying ends the checkout`, payment.status, 'cancelled');
}

interface Shown {
  /** As the browser sees it. */
  readonly seen: Readonly<Record<string, unknown>>;
  /** As the API has told it. */
  readonly facts: Readonly<Record<string, unknown>>;
}

async function lookAtImage(page: Page): Promise<Shown> {
  return (await page.read(`(async () => {
    const image = document.querySelector('#result img');
    await image.decode();
    const { duration: _, ...facts } = JSON.parse(image.dataset.facts);
    return { facts, seen: { width: image.naturalWidth, height: image.naturalHeight } };
  })()`)) as Shown;
}

/** Presses play and waits for its end, as the browser tells it. */
async function playVideo(page: Page): Promise<Shown> {
  await page.click('button[data-play]');
  await page.until("document.querySelector('#result video').dataset.ended");
  return (await page.read(`(() => {
    const video = document.querySelector('#result video');
    const { duration, ...facts } = JSON.parse(video.dataset.facts);
    const isAsLong = Math.abs(video.duration - duration) < 0.15;
    return {
      facts: { ...facts, duration: true },
      seen: { width: video.videoWidth, height: video.videoHeight, duration: isAsLong },
    };
  })()`)) as Shown;
}
