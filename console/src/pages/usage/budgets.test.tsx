import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';

import { caller, renderOverServer } from '../../testing/over-server.tsx';
import { t } from '../../text/text.ts';
import { Budgets } from './budgets.tsx';

afterEach(() => void vi.unstubAllGlobals());

const renewsAt = new Date(Date.now() + 2 * 86_400_000).toISOString();
const base = {
  __typename: 'Budget',
  period: 'MONTH',
  refusesUnknownPrices: false,
  currency: 'USD',
  amount: null,
  softAmount: null,
  maxRunning: null,
  startsPerMinute: null,
  spent: 0,
  reserved: 0,
  left: null,
  running: 0,
  renewsAt,
};
const soft = {
  ...base,
  id: 'b1',
  name: 'Soft',
  scope: 'USER',
  subject: 'usr_ben',
  amount: 10,
  softAmount: 5,
  spent: 4,
  reserved: 1,
  left: 5,
};
const full = {
  ...base,
  id: 'b2',
  name: 'Full',
  scope: 'KEY',
  subject: 'key_ci',
  period: 'DAY',
  amount: 1,
  spent: 2,
  left: 0,
  refusesUnknownPrices: true,
};
const fast = {
  ...base,
  id: 'b3',
  name: 'Fast',
  scope: 'GENERATOR',
  subject: 'imga',
  maxRunning: 3,
  running: 2,
  startsPerMinute: 7,
};
const none = {
  ...base,
  id: 'b4',
  name: 'None',
  scope: 'TOTAL',
  subject: null,
  amount: 0,
  left: 0,
};

const ben = { __typename: 'User', id: 'usr_ben', name: null, email: 'ben@example.org', subject: null };
const person = { ...ben, createdAt: renewsAt, lastSignInAt: null, openSessions: 0 };
const key = { __typename: 'ServiceKey', scopes: [], generators: null, createdAt: renewsAt, expiresAt: null };
const keys = [
  { ...key, id: 'key_ci', name: 'Build', lastUsedAt: null, revokedAt: null, formerUntil: null },
  { ...key, id: 'key_old', name: 'Old', lastUsedAt: null, revokedAt: renewsAt, formerUntil: null },
];
const pageInfo = { __typename: 'PageInfo', hasNextPage: false, endCursor: null };
const users = {
  __typename: 'Users',
  edges: [{ __typename: 'UserEdge', cursor: 'c', node: person }],
  pageInfo,
};

function open(seesAll: boolean, answers: Parameters<typeof renderOverServer>[0] = {}) {
  const budgets = [soft, full, fast, none];
  return renderOverServer(
    {
      Caller: () => caller(),
      Names: () => ({ serviceKeys: keys, users }),
      ServiceKeys: () => ({ serviceKeys: keys }),
      People: ({ search }) => ({ users: search === null ? users : { ...users, edges: [] } }),
      Budgets: () => ({ budgets }),
      OwnBudgets: () => ({ myBudgets: budgets }),
      ...answers,
    },
    <Budgets seesAll={seesAll} />,
  );
}

const button = (name: string) => screen.findByRole<HTMLButtonElement>('button', { name });
const click = async (name: string) => void fireEvent.click(await button(name));
const type = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const choose = (label: string, value: string) => userEvent.selectOptions(screen.getByLabelText(label), value);
const save = () => fireEvent.submit(document.querySelector('form') ?? document.body);
const isClosed = () => waitFor(() => expect(document.querySelector('form')).toBeNull());
/** The line of a budget, as its name stands in it. */
const findLine = (name: string) => screen.getByText(name).closest<HTMLElement>('div') ?? document.body;

it('a budget says what is used of it, by whom, and that it is nearly or wholly used up', async () => {
  open(true);
  expect(await screen.findByText('ben@example.org')).toBeDefined();
  const meters = screen
    .getAllByRole('progressbar')
    .map((one) => [one.getAttribute('aria-label'), one.getAttribute('aria-valuenow')]);
  expect(meters).toEqual([
    ['Soft', '40'],
    ['Full', '100'],
    ['None', '100'],
  ]);
  expect(findLine('Soft').textContent).toContain('$4.00 of $10.00');
  expect(findLine('Soft').textContent).toContain(t('usage.past', { amount: '$5.00' }));
  expect(findLine('Soft').textContent).toContain(t('usage.reserved', { amount: '$1.00' }));
  expect(findLine('Soft').querySelector('s')?.style.left).toBe('50%');
  expect(findLine('Soft').querySelector('i')?.style.width).toBe('40%');
  await waitFor(() => expect(findLine('Full').textContent).toContain('Build'));
  expect(findLine('Full').textContent).toContain(t('usage.stopped'));
  expect(findLine('Full').querySelector('s')).toBeNull();
  expect(findLine('None').querySelector('i')?.style.width).toBe('100%');
  const { textContent } = findLine('Fast');
  expect(textContent).toContain(t('usage.running', { count: 2, most: 3 }));
  expect(textContent).toContain(t('usage.rate', { count: 7 }));
  expect(textContent).not.toMatch(/imga|\$/);
  expect(within(findLine('Fast')).queryByRole('progressbar')).toBeNull();
});

it('one’s own budgets are shown and not changed; none, and a failure, are said', async () => {
  const { askedFor } = open(false);
  expect(await screen.findByText('Soft')).toBeDefined();
  expect([screen.queryAllByRole('button'), askedFor('Budgets')]).toEqual([[], []]);
  open(true, { Budgets: () => ({ budgets: [] }) });
  expect(await screen.findByText(t('usage.noBudgets'))).toBeDefined();
  expect(screen.queryByRole('alert')).toBeNull();
  open(false, { OwnBudgets: () => ({ code: 'FORBIDDEN' }) });
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('a budget is changed to what is typed, where an empty field is no bound', async () => {
  const { askedFor } = open(true, { UpdateBudget: () => ({ updateBudget: soft }) });
  await click(t('budget.change', { name: 'Full' }));
  expect(screen.getByLabelText<HTMLInputElement>(t('budget.amount')).value).toBe('1');
  expect(screen.queryByLabelText(t('budget.scope'))).toBeNull();
  type(t('field.name'), ' Fuller ');
  type(t('budget.amount'), '');
  type(t('budget.startsPerMinute'), '4');
  save();
  await isClosed();
  const without = { amount: null, softAmount: null, maxRunning: null, startsPerMinute: 4 };
  expect(askedFor('UpdateBudget')).toEqual([
    { id: 'b2', input: { name: 'Fuller', period: 'DAY', refusesUnknownPrices: true, ...without } },
  ]);
  await waitFor(() => expect(askedFor('Budgets')).toHaveLength(2));
});

it('a budget is deleted by whoever says yes', async () => {
  const { askedFor } = open(true, { DeleteBudget: () => ({ deleteBudget: soft }) });
  const confirm = vi.fn<() => boolean>().mockReturnValueOnce(false).mockReturnValueOnce(true);
  vi.stubGlobal('confirm', confirm);
  await click(t('budget.change', { name: 'Soft' }));
  await click(t('budget.delete'));
  expect(askedFor('DeleteBudget')).toEqual([]);
  await click(t('budget.delete'));
  await isClosed();
  expect(askedFor('DeleteBudget')).toEqual([{ id: 'b1' }]);
  expect(confirm).toHaveBeenCalledTimes(2);
});

it('a new budget is of a person, a key, a generator or everything; what refuses it is said', async () => {
  let isRefused = true;
  const CreateBudget = () => (isRefused ? { code: 'FORBIDDEN' } : { createBudget: fast });
  const { askedFor } = open(true, {
    CreateBudget,
    Models: () => ({ models: [] }),
  });
  await click(t('budget.new'));
  expect(screen.queryByRole('button', { name: t('budget.delete') })).toBeNull();
  await waitFor(() => expect(screen.getAllByRole('radio')).toHaveLength(2));
  fireEvent.click(screen.getByLabelText(/^ben@example.org/));
  type(t('budget.amount'), '2.5');
  fireEvent.click(screen.getByRole('checkbox'));
  await choose(t('budget.period'), 'DAY');
  save();
  expect(await screen.findByRole('alert')).toBeDefined();
  const input = { period: 'DAY', refusesUnknownPrices: true, amount: 2.5, softAmount: null };
  const whole = { ...input, maxRunning: null, startsPerMinute: null };
  expect(askedFor('CreateBudget')).toEqual([{ scope: 'USER', subject: 'usr_ben', input: whole }]);
  type(t('people.search'), 'nobody');
  expect(await screen.findByText(t('gallery.noMatch'))).toBeDefined();
  expect(screen.getByLabelText<HTMLInputElement>('usr_ben').checked).toBe(true);
  await choose(t('budget.scope'), 'KEY');
  expect(await screen.findByRole('option', { name: /^Build/ })).toBeDefined();
  expect(screen.queryByRole('option', { name: /^Old/ })).toBeNull();
  await choose(t('budget.scope'), 'GENERATOR');
  type(t('budget.subject.GENERATOR'), ' imga ');
  isRefused = false;
  save();
  await isClosed();
  await click(t('budget.new'));
  await choose(t('budget.scope'), 'TOTAL');
  expect(screen.queryAllByRole('radio')).toEqual([]);
  save();
  await isClosed();
  const subjects = askedFor('CreateBudget').map(({ scope, subject }) => [scope, subject]);
  expect(subjects.slice(1)).toEqual([
    ['GENERATOR', 'imga'],
    ['TOTAL', null],
  ]);
});
