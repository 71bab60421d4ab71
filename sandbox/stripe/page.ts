import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { HOUSE_STYLE, houseBar } from '../../platform/pages/house-style.ts';
import type { StripeContext } from './objects/catalog.ts';
import { StripeFailure } from './objects/failure.ts';
import { pay, settle, type PayMethod } from './objects/money.ts';
import type { StripeObject } from './objects/state.ts';

/** The hosted page of a checkout, with buttons instead of a card. It loads nothing and needs no script. */

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
const MAX_FORM = 10_000;
const METHODS: readonly string[] = ['card', 'decline', 'delayed'] satisfies readonly PayMethod[];

/** Answers a request for the page of a session. */
export async function serveCheckoutPage(
  world: StripeContext,
  sessionId: string,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const session = world.state.find('checkout.session', sessionId);
  if (session === undefined) return send(response, 404, '<h1>There is no such checkout</h1>');
  if (isWithTheBank(world, session)) return serveBank(world, session, { request, response });
  if (session['status'] !== 'open') {
    return send(response, 410, `<h1>This checkout is ${escape(String(session['status']))}</h1>`);
  }
  if (request.method !== 'POST') return send(response, 200, drawForm(session));
  const choice = await readChoice(request);
  if (choice === null) return send(response, 413, '<h1>Too large</h1>');
  if (choice === 'back') return leave(response, readText(session['cancel_url']) ?? '/');
  if (!METHODS.includes(choice)) return send(response, 400, '<h1>Choose one of the buttons</h1>');
  try {
    pay(world, sessionId, choice as PayMethod);
  } catch (error) {
    if (!(error instanceof StripeFailure)) throw error;
    return send(response, 410, `<h1>${escape(error.message)}</h1>`);
  } finally {
    await world.state.save();
  }
  if (choice === 'decline') {
    return send(
      response,
      402,
      '<h1>Your card was declined.</h1><form method="get"><button>Try again</button></form>',
    );
  }
  leave(response, (readText(session['success_url']) ?? '/').replaceAll('{CHECKOUT_SESSION_ID}', sessionId));
}

/** The pressed button; null for a form that is too large. */
async function readChoice(request: IncomingMessage): Promise<string | null> {
  if (Number(request.headers['content-length'] ?? Infinity) > MAX_FORM) return null;
  return new URLSearchParams((await buffer(request)).toString('utf8')).get('do') ?? '';
}

/** Whether a delayed payment is pending. */
function isWithTheBank({ state }: StripeContext, session: StripeObject): boolean {
  const intent = state.find('payment_intent', String(session['payment_intent']));
  return session['status'] === 'complete' && intent?.['status'] === 'processing';
}

/** The page that completes a delayed payment. */
async function serveBank(
  world: StripeContext,
  session: StripeObject,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  if (request.method !== 'POST') {
    const buttons = `${button('settle', 'The bank pays')}${button('refuse', 'The bank refuses')}`;
    return send(response, 200, `<h1>Waiting for the bank</h1><form method="post">${buttons}</form>`);
  }
  const choice = await readChoice(request);
  // Like any other completed checkout.
  if (choice !== 'settle' && choice !== 'refuse') {
    return send(response, 410, '<h1>This checkout is complete</h1>');
  }
  settle(world, session.id, choice === 'settle');
  await world.state.save();
  send(response, 200, choice === 'settle' ? '<h1>The bank has paid</h1>' : '<h1>The bank has refused</h1>');
}

function drawForm(session: StripeObject): string {
  const items = session['_items'] as readonly { readonly description: string; readonly quantity: number }[];
  const amount = Number(session['amount_total']);
  const price = new Intl.NumberFormat('en', { style: 'currency', currency: String(session['currency']) });
  const { maximumFractionDigits: digits = 2 } = price.resolvedOptions();
  const named = items.map(({ description, quantity }) => escape(`${description} × ${quantity}`)).join('<br>');
  return `<h1>${named}</h1><p class="price">${escape(price.format(amount / 10 ** digits))}</p>
<form method="post">${button('card', 'Pay with a test card')}${button('decline', 'Pay with a card that is declined')}
${amount > 0 ? button('delayed', 'Pay by a method that takes its time') : ''}${button('back', 'Back')}</form>`;
}

function button(choice: string, label: string): string {
  const look = choice === 'card' || choice === 'settle' ? ' class="pri"' : '';
  return `<button name="do" value="${choice}"${look}>${label}</button>`;
}

function leave(response: ServerResponse, location: string): void {
  response.writeHead(303, { location, 'cache-control': 'no-store' }).end();
}

function send(response: ServerResponse, status: number, main: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
  });
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Checkout (sandbox)</title>
<style>${HOUSE_STYLE}
.price{font-size:28px;line-height:36px;font-weight:600;margin:0 0 16px}</style>
${houseBar('Kiln sandbox')}<main>${main}<p class="dim">The sandbox's stand-in for a payment provider: no money moves.</p></main></html>`);
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
