import { HOUSE_STYLE, houseBar } from '../../../platform/pages/house-style.ts';
import { escape } from '../../docs/html.ts';
import type { RequestFacts } from '../../route/route.ts';

/** The page that a buyer's browser sees when it comes back from a checkout to a shop without pages of its own. */

const WORDS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  pending: [
    'Payment pending',
    'Your payment has not arrived yet. This page shows it when you load it again.',
  ],
  completed: ['Payment received', 'Thank you. What you bought is being made.'],
  failed: ['Payment failed', 'Your bank did not accept the payment. Nothing was charged.'],
  cancelled: ['Payment cancelled', 'The checkout has ended. Nothing was charged.'],
  refunded: ['Payment refunded', 'All of it was given back.'],
};

/** Whether the request comes from a browser: it names HTML, and no JSON before it. */
export function prefersPage({ headers: { accept = '' } }: Pick<RequestFacts, 'headers'>): boolean {
  const [html, json] = [accept.search(/text\/html/i), accept.search(/application\/json/i)];
  return html !== -1 && (json === -1 || html < json);
}

/** The page for a payment in this status; `id` is of our own making. */
export function returnPage({ id, status }: { readonly id: string; readonly status: string }): string {
  const [title, text] = WORDS[status] ?? ['Payment', ''];
  return renderPage(title, text, `Payment ${id}`);
}

/** The page for a browser whose payment can't be told; null for programs. */
export function failurePage(message: string, request: Pick<RequestFacts, 'headers'>): string | null {
  if (!prefersPage(request)) return null;
  const title = 'This payment can not be shown';
  return renderPage(
    title,
    'Nothing was changed. Ask the shop, with the address of this page.',
    escape(message),
  );
}

function renderPage(title: string, text: string, small: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${HOUSE_STYLE}</style>
${houseBar('Kiln')}
<main><h1>${title}</h1>
<p>${text}</p>
<p><small>${small}</small></p></main>
</html>
`;
}
