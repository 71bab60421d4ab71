import { fireEvent, render, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago, createList, createModel } from '../../testing/things.ts';
import { submit } from '../../testing/use.ts';
import {
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  NOW,
  openConsole,
  refusal,
} from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';
import { Chart } from './chart.tsx';
import { type Row, sumsBy } from './sums.ts';

afterEach(closeConsole);

const day = (back: number) => new Date(NOW.getTime() - back * 86_400_000).toISOString().slice(0, 10);
const row = (model: string | null, back: number, amount: number | null, change: Fields = {}): Fields => ({
  day: day(back),
  model,
  generator: `of ${model}`,
  owner: model === null ? null : `usr_${model}`,
  succeeded: 3,
  failed: 1,
  cancelled: 2,
  chats: 1,
  unpriced: 0,
  cost: {
    amount,
    currency: amount === null ? null : 'USD',
    units: { pictures: 5, seconds: 2.5, inputTokens: 1_200, outputTokens: 30 },
  },
  ...change,
});
interface Asked {
  readonly by: readonly string[];
  readonly sandbox: boolean | null;
}
const usage = ({ by, sandbox }: Asked): readonly Fields[] => {
  if (by.length === 1) return [row('before', 10, 2.5)];
  if (sandbox === true) return [row('small', 0, 0.5), row('odd', 0, null, { unpriced: 1 })];
  return [row('large', 0, 30), row('large', 2, 7), row('small', 2, 1), row(null, 3, null, { unpriced: 4 })];
};
const budget = (id: string, change: Fields = {}): Fields => ({
  id,
  name: `Budget ${id}`,
  scope: 'USER',
  subject: 'usr_ben',
  period: 'MONTH',
  currency: 'USD',
  spent: 0,
  reserved: 0,
  running: 0,
  renewsAt: ago(-86_400),
  ...change,
});
const budgets = [
  budget('soft', { amount: 10, softAmount: 5, spent: 4, reserved: 1, left: 5 }),
  budget('full', { scope: 'KEY', subject: 'key_ci', amount: 1, spent: 2, left: 0, startsPerMinute: 7 }),
  budget('fast', { scope: 'GENERATOR', subject: 'imga', maxRunning: 3, running: 2 }),
  budget('none', { scope: 'TOTAL', subject: null, amount: 0, left: 0 }),
  budget('half', { scope: 'TOTAL', subject: null, amount: 8, softAmount: 7, spent: 2, left: 6 }),
];
const administrated: Fields = {
  ...ADMINISTRATOR,
  usage,
  budgets,
  serviceKeys: [{ id: 'key_ci', name: 'Build' }],
};

it('shows a week with its bars, sums and budgets', async () => {
  await openConsole('/usage?days=7', administrated);
  await screen.findByText('Budget half');
  await screen.findByText('Build');
  await expect(outline()).toMatchFileSnapshot('outlines/usage.txt');
});

it('shows a month by people, and names the days that there is room for', async () => {
  await openConsole('/usage?by=OWNER', { ...administrated, budgets: [] });
  await screen.findByText(t('usage.noBudgets'));
  await screen.findByText(t('usage.costPerDay'));
  await expect(outline(document.querySelectorAll('section')[1])).toMatchFileSnapshot(
    'outlines/usage-month.txt',
  );
  await expect(outline(document.querySelector('table'))).toMatchFileSnapshot('outlines/usage-people.txt');
});

it('waits with the whole page, and says that it cannot be asked', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { hasAsked } = await openConsole('/usage', {
    usage: (asked: Asked) => (asked.by.length === 1 ? [] : new Promise((resolve) => (answer = resolve))),
  });
  await hasAsked('Usage', 3);
  expect(document.querySelectorAll('[aria-busy=true]')).toHaveLength(1);
  expect(screen.queryByText(t('usage.spent'))).toBeNull();
  answer([]);
  await closeConsole();
  await openConsole('/usage', {
    usage: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.queryByText(t('usage.none'))).toBeNull();
});

it('leaves out what is not known of the days before', async () => {
  await openConsole('/usage?days=7', {
    usage: (asked: Asked) =>
      asked.by.length === 1 ? [row('before', 10, null, { unpriced: 1 })] : [row('a', 0, 1)],
  });
  await screen.findByText(t('usage.costPerDay'));
  expect(document.body.textContent).not.toContain('in the previous');
});

it('has a budget made by a form, whose subject is chosen', async () => {
  const { askedFor, hasAsked } = await openConsole('/usage', {
    ...administrated,
    users: createList([
      { id: 'usr_ben', name: 'Ben', email: 'ben@example.org' },
      { id: 'usr_cid', email: 'cid@example.org' },
      { id: 'usr_dan', subject: 'dan@idp' },
      { id: 'usr_eve' },
    ]),
    serviceKeys: [
      { id: 'key_ci-and-more', name: 'Build' },
      { id: 'key_old', name: 'Old', revokedAt: ago(60) },
    ],
    models: [createModel(), createModel({ id: 'other', generator: 'hills' }), createModel({ id: 'third' })],
    createBudget: budget('new'),
  });
  fireEvent.click(await screen.findByText(t('budget.new')));
  await waitFor(() => expect(document.querySelectorAll('dialog input[type=radio]')).toHaveLength(5));
  const dialog = screen.getByRole('dialog');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/budget-new.txt');
  await userEvent.selectOptions(screen.getByLabelText(t('budget.scope')), 'KEY');
  await screen.findByText(/^Build \(/);
  await expect(outline(dialog.querySelector('form'))).toMatchFileSnapshot('outlines/budget-key.txt');
  await userEvent.selectOptions(screen.getByLabelText(t('budget.scope.KEY')), 'key_ci-and-more');
  submit(dialog.querySelector('form'));
  await hasAsked('CreateBudget');
  expect(askedFor('CreateBudget')[0]).toMatchObject({ scope: 'KEY', subject: 'key_ci-and-more' });
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  fireEvent.click(screen.getByText(t('budget.new')));
  await userEvent.selectOptions(await screen.findByLabelText(t('budget.scope')), 'GENERATOR');
  await waitFor(() => expect(document.querySelectorAll('datalist option')).toHaveLength(2));
  expect([...document.querySelectorAll('datalist option')].map((one) => one.getAttribute('value'))).toEqual([
    'lakes',
    'hills',
  ]);
});

it('has the subject typed by who sees no lists', async () => {
  const caller = { ...(ADMINISTRATOR['caller'] as Fields), mayIssueKeys: false };
  const { askedFor, hasAsked } = await openConsole('/usage', {
    ...administrated,
    caller,
    createBudget: budget('new'),
  });
  fireEvent.click(await screen.findByText(t('budget.new')));
  fireEvent.change(await screen.findByLabelText(t('budget.subject.USER')), { target: { value: 'usr_x' } });
  await userEvent.selectOptions(screen.getByLabelText(t('budget.scope')), 'KEY');
  const field = await screen.findByLabelText<HTMLInputElement>(t('budget.subject.KEY'));
  // Of another scope it is another one.
  expect(field.value).toBe('');
  fireEvent.change(field, { target: { value: 'key_x' } });
  submit(document.querySelector('dialog form'));
  await hasAsked('CreateBudget');
  expect(askedFor('CreateBudget')).toMatchObject([{ scope: 'KEY', subject: 'key_x' }]);
  expect([askedFor('People'), askedFor('ServiceKeys')]).toEqual([[], []]);
});

it('says that people cannot be asked', async () => {
  await openConsole('/usage', {
    ...administrated,
    users: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  fireEvent.click(await screen.findByText(t('budget.new')));
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('has a budget changed in its form', async () => {
  await openConsole('/usage', administrated);
  fireEvent.click(await screen.findByText('Budget soft'));
  await screen.findByRole('dialog');
  await expect(outline(document.querySelector('dialog'))).toMatchFileSnapshot('outlines/budget-change.txt');
});

it.each([
  [1, '100%'],
  [2, '100%'],
  [3, '75%'],
  [4, '100%'],
  [5, '62.5%'],
  [8, '100%'],
  [9, '90%'],
  [10, '100%'],
  [16, '80%'],
  [300, '75%'],
])('draws %i up to the next round number', (succeeded, height) => {
  const used = { ...row('large', 0, 1, { succeeded, chats: 0 }), sandbox: false } as unknown as Row;
  const sums = sumsBy([used], 'MODEL', ({ done }) => done);
  render(
    <Chart
      rows={[used]}
      days={[day(0)]}
      group="MODEL"
      sums={sums}
      weigh={({ done }) => done}
      isMoney={false}
    />,
  );
  expect(document.querySelector<HTMLElement>('[role=img] i')?.style.height).toBe(height);
});
