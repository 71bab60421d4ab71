import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { daysAgo, execution, createPage, template } from '../../testing/shop.ts';
import { submit } from '../../testing/use.ts';
import {
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  openConsole,
  refusal,
} from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';

afterEach(async () => {
  sessionStorage.clear();
  await closeConsole();
});

const VISITOR: Fields = {
  caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true, mayRunUnpaid: false },
  viewer: null,
};
const poster = template('poster');
const film = template('film', { templateType: 'VIDEO', salePrice: null });
const gift = template('gift', { creditCost: 0, salePrice: { amount: 0, currency: 'usd' } });
const selling = (...nodes: Fields[]): Fields => ({ templatesConnection: createPage(nodes) });
const buttons = () => [...(document.querySelector('form[aria-label]')?.querySelectorAll('button') ?? [])];
const press = async (words: string) =>
  void fireEvent.click(await screen.findByText(words, { selector: 'button, button *' }));
const prompt = () => screen.findByLabelText<HTMLTextAreaElement>(t('field.prompt'));

it('shows what is for sale, and the form of what is chosen', async () => {
  const { address } = await openConsole('/shop', selling(poster, film, gift));
  await press('The poster');
  const text = await prompt();
  expect(address()).toBe('/shop?template=poster');
  fireEvent.input(text, { target: { value: 'a lake' } });
  await expect(outline()).toMatchFileSnapshot('outlines/shop.txt');
  await press('The gift');
  await waitFor(() => expect(address()).toBe('/shop?template=gift'));
  // Another template begins anew.
  await waitFor(async () => expect((await prompt()).value).toBe(''));
  await press('The gift');
  await waitFor(() => expect(address()).toBe('/shop'));
  await waitFor(() => expect(screen.queryByLabelText(t('field.prompt'))).toBeNull());
});

it('says that nothing is for sale, and that it cannot be asked', async () => {
  await openConsole('/shop', selling());
  expect(await screen.findByText(t('shop.none'))).toBeDefined();
  expect(screen.queryByRole('alert')).toBeNull();
  await closeConsole();
  const templatesConnection = () => {
    throw refusal('UNAVAILABLE');
  };
  await openConsole('/shop', { templatesConnection });
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.queryByText(t('shop.none'))).toBeNull();
});

it('buys with what the form holds, and comes back to it from a payment that was given up', async () => {
  const assign = vi.spyOn(location, 'assign').mockReturnValue();
  const checkout = { url: 'https://pay.test/cs_1', payment: { id: 'pay_1' } };
  const { askedFor, hasAsked } = await openConsole('/shop?template=poster', {
    ...selling(poster),
    checkout,
  });
  const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView');
  fireEvent.input(await prompt(), { target: { value: 'a lake' } });
  expect(scrolled).toHaveBeenCalledWith({ block: 'nearest' });
  scrolled.mockRestore();
  expect(buttons().map(({ textContent, type }) => [textContent, type])).toEqual([
    [t('shop.buy', { price: '$2.50' }), 'submit'],
    [t('shop.runUnpaid'), 'button'],
  ]);
  submit(document.querySelector('form[aria-label]'));
  await hasAsked('Checkout');
  expect(askedFor('Checkout')[0]).toMatchObject({
    code: 'poster',
    userId: 'usr_ada',
    parameters: { prompt: 'a lake' },
  });
  await waitFor(() => expect(assign).toHaveBeenCalledWith('https://pay.test/cs_1'));
  assign.mockRestore();
  expect(buttons().every(({ disabled }) => disabled)).toBe(true);
  await closeConsole();
  await openConsole('/shop?template=poster', selling(poster));
  expect((await prompt()).value).toBe('a lake');
  await waitFor(() => expect(sessionStorage.getItem('kiln.checkout')).toBeNull());
});

it('does not fill one form with what another one was left with', async () => {
  sessionStorage.setItem('kiln.checkout', '{"paymentId":"p","code":"film","values":{"prompt":"of a film"}}');
  await openConsole('/shop?template=poster', selling(poster, film));
  expect((await prompt()).value).toBe('');
});

it('runs without a payment what may be run so, and shows its execution', async () => {
  const { askedFor, address } = await openConsole('/shop?template=poster', {
    ...selling(poster),
    executeTemplate: execution('one'),
    execution: execution('one'),
  });
  fireEvent.input(await prompt(), { target: { value: 'a lake' } });
  await press(t('shop.runUnpaid'));
  await waitFor(() => expect(address()).toBe('/shop/executions/task-one'));
  expect(askedFor('ExecuteTemplate')[0]).toMatchObject({ code: 'poster', parameters: { prompt: 'a lake' } });
  expect(askedFor('Checkout')).toEqual([]);
});

it('runs by its form what costs nothing, and says why that is refused', async () => {
  const executeTemplate = () => {
    throw refusal('FORBIDDEN');
  };
  const { askedFor } = await openConsole('/shop?template=gift', {
    ...VISITOR,
    ...selling(gift),
    executeTemplate,
  });
  await prompt();
  expect(buttons().map(({ textContent, type }) => [textContent, type])).toEqual([[t('shop.run'), 'submit']]);
  submit(document.querySelector('form[aria-label]'));
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(askedFor('ExecuteTemplate')).toHaveLength(1);
  await expect(outline()).toMatchFileSnapshot('outlines/shop-refused.txt');
});

it.each([
  ['nothing where it is not sold', 'film', VISITOR, false],
  ['a purchase alone to who may not run it unpaid', 'poster', VISITOR, true],
] as const)('offers %s', async (_, code, who, isSold) => {
  await openConsole(`/shop?template=${code}`, { ...who, ...selling(poster, film) });
  await prompt();
  expect(buttons()).toHaveLength(isSold ? 1 : 0);
  expect(screen.queryByText(t('shop.notForSale')) === null).toBe(isSold);
  expect(screen.queryByRole('link', { name: t('shop.edit') })).toBeNull();
});

it('leads administrators to the template and to all of them', async () => {
  const { address } = await openConsole('/shop?template=poster', {
    ...ADMINISTRATOR,
    ...selling(poster),
    unrunnableTemplates: [],
  });
  const edit = await screen.findByRole('link', { name: t('shop.edit') });
  expect(edit.getAttribute('href')).toBe('/console/shop/templates/poster');
  await press(t('shop.view.manage'));
  await waitFor(() => expect(address()).toBe('/shop?view=manage'));
  expect(await screen.findByText(t('shop.newTemplate'))).toBeDefined();
  await press(t('shop.view.templates'));
  await waitFor(() => expect(address()).toBe('/shop'));
});

it('keeps the catalog from who is no administrator', async () => {
  await openConsole('/shop?view=manage', selling(poster));
  expect(await screen.findByText(t('signIn.administrators'))).toBeDefined();
  expect(screen.queryByRole('button', { name: t('shop.view.manage') })).toBeNull();
  expect(screen.queryByText(t('shop.newTemplate'))).toBeNull();
  await expect(outline()).toMatchFileSnapshot('outlines/shop-administrators-only.txt');
});

const running = { stageInfo: { code: 'RENDERING', text: 'rendering' }, id: 'task-two' };

it('lists what was run, with what it does or why it failed', async () => {
  const executions = (asked: { readonly after?: string | null }) =>
    typeof asked.after === 'string'
      ? createPage([execution('last', { userId: null, user: null })])
      : createPage(
          [
            execution('one'),
            execution('two', { status: 'RUNNING', progress: 40, endedAt: null, task: running }),
            execution('three', {
              status: 'PENDING',
              progress: 0,
              endedAt: null,
              createdAt: daysAgo(0),
              userId: 'visitor-12345678-9',
              user: null,
            }),
            execution('four', { status: 'FAILED', error: { code: 'TIMED_OUT', message: 'too late' } }),
            execution('five', { status: 'RUNNING', endedAt: null }),
          ],
          { cursor: 'next' },
        );
  const { askedFor, hasAsked } = await openConsole('/shop?view=executions', { executions });
  await screen.findAllByText('The poster');
  await expect(outline()).toMatchFileSnapshot('outlines/executions.txt');
  expect(askedFor('Executions')).toEqual([{ first: 25, userId: null }]);
  await press(t('list.more'));
  await hasAsked('Executions', 2);
  await waitFor(() => expect(screen.getAllByText('The poster')).toHaveLength(6));
  expect(askedFor('Executions')[1]).toEqual({ first: 25, userId: null, after: 'next' });
  expect(screen.queryByText(t('list.more'))).toBeNull();
});

it('lists a visitor’s own runs by the name that their browser keeps', async () => {
  const { askedFor } = await openConsole('/shop?view=executions', { ...VISITOR, executions: createPage([]) });
  expect(await screen.findByText(t('shop.noExecutions'))).toBeDefined();
  const [asked] = askedFor('Executions');
  expect(asked?.['userId']).toMatch(/^visitor-/);
  expect(asked?.['userId']).toBe(localStorage.getItem('kiln.buyer'));
});
