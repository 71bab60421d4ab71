import { expect, it } from 'vitest';

import { failurePage, prefersPage, returnPage } from './return-page.ts';

const accepting = (accept?: string) => ({ headers: accept === undefined ? {} : { accept } });

it.each([
  ['text/html,application/xhtml+xml', true],
  ['text/html, application/json', true],
  ['application/json, text/html', false],
  ['Text/HTML', true],
  ['*/*', false],
  [undefined, false],
])('is for who accepts %j: %s', (accept, isPage) => {
  expect(prefersPage(accepting(accept))).toBe(isPage);
  expect(failurePage('no payment', accepting(accept)) !== null).toBe(isPage);
});

it.each([
  ['pending', 'Payment pending', 'has not arrived yet'],
  ['completed', 'Payment received', 'Thank you'],
  ['failed', 'Payment failed', 'Nothing was charged'],
  ['cancelled', 'Payment cancelled', 'The checkout has ended'],
  ['refunded', 'Payment refunded', 'was given back'],
  ['disputed', 'Payment', '<p></p>'],
])('of a payment that is %s says so', (status, title, text) => {
  const page = returnPage({ id: 'pay_7', status });
  for (const part of [`<title>${title}</title>`, `<h1>${title}</h1>`, text, 'Payment pay_7'])
    expect(page).toContain(part);
});

it('of what can not be told shows why, as text', () => {
  const page = failurePage('no <payment>', accepting('text/html'));
  expect(page).toContain('<title>This payment can not be shown</title>');
  expect(page).toContain('Nothing was changed');
  expect(page).toContain('no &lt;payment&gt;');
});
