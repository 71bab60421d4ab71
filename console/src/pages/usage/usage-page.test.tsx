import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';

import { setCredential } from '../../api/caller.ts';
import { caller, renderOverServer } from '../../testing/over-server.tsx';
import { t } from '../../text/text.ts';
import { UsagePage } from './usage-page.tsx';

afterEach(() => void vi.unstubAllGlobals());

const dayBack = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10);
const units = { __typename: 'Units', pictures: 0, seconds: 0, inputTokens: 0, outputTokens: 0 };
/** Usage of a model on a day; null: its price is not known. */
const row = (model: string, back: number, amount: number | null, change: object = {}) => ({
  __typename: 'Usage',
  day: dayBack(back),
  model,
  generator: `generator of ${model}`,
  provider: null,
  owner: null,
  key: null,
  succeeded: 1,
  failed: 0,
  cancelled: 0,
  chats: 0,
  unpriced: 0,
  cost: { __typename: 'Cost', amount, currency: amount === null ? null : 'USD', units },
  ...change,
});
const counted = { ...units, pictures: 3, seconds: 2.5, inputTokens: 1_200, outputTokens: 300 };

interface Asked {
  readonly by: readonly string[];
  readonly sandbox: boolean | null;
}
type Usage = (asked: Asked) => readonly object[];

/** Large models on two days, one of the sandbox, and what was spent before. */
const usual: Usage = ({ by, sandbox }) => {
  if (by.length === 1) return [row('before', 10, 2.5)];
  if (sandbox === true) return [row('small', 0, 0.5, { succeeded: 2 })];
  const cost = { __typename: 'Cost', amount: 3, currency: 'USD', units: counted };
  return [
    row('large', 0, 3, { failed: 2, cancelled: 1, chats: 4, cost }),
    row('small', 1, 1, { unpriced: 2 }),
  ];
};

function open(address = '/usage', usage: Usage = usual, rights: object = {}) {
  setCredential({ kind: 'key', token: 'kiln_key', expiresAt: null });
  return renderOverServer(
    {
      Caller: () => caller(rights),
      Usage: (asked) => ({ usage: usage(asked as unknown as Asked) }),
      Budgets: () => ({ budgets: [] }),
      OwnBudgets: () => ({ myBudgets: [] }),
      Names: () => ({ serviceKeys: [], users: { __typename: 'Users', edges: [] } }),
    },
    <UsagePage />,
    address,
  );
}

/** What stands under a name of the totals. */
const figure = (name: string) => screen.getByText(name).closest('p')?.textContent?.slice(name.length);
const bars = () =>
  screen.getAllByRole('img').map((bar) => bar.ariaLabel ?? bar.getAttribute('aria-label') ?? '');
const heights = (bar: HTMLElement | undefined) =>
  [...(bar?.querySelectorAll('i') ?? [])].map(({ style }) => style.height);

it('says what was spent, by day and by model, beside what the sandbox would have cost', async () => {
  const { askedFor } = open('/usage?days=7');
  expect(await screen.findByText(t('usage.costPerDay'))).toBeDefined();
  const would = t('usage.wouldCost', { amount: '$0.50' });
  const before = t('usage.before', { amount: '$2.50', count: 7 });
  expect(figure(t('usage.spent'))).toBe(`$4.00${would}${before}${t('usage.unpriced', { count: 2 })}`);
  expect(figure(t('usage.tasks'))).toBe(`11${t('usage.failed', { count: 2, cancelled: 1 })}`);
  expect(figure(t('usage.seconds'))).toBe(`2.5 s${t('usage.pictures', { count: '3' })}`);
  expect(figure(t('usage.tokens'))).toBe(`1.5K${t('usage.inOut', { input: '1.2K', output: '300' })}`);
  const all = screen.getAllByRole('img');
  expect(bars().map((text) => text.split(': ')[1])).toEqual([
    ...Array.from({ length: 5 }, () => '$0.00'),
    '$1.00',
    '$3.00',
  ]);
  // The axis ends at the next round number.
  expect([heights(all[6]), heights(all[5]), heights(all[0])]).toEqual([['0%', '75%'], ['25%'], []]);
  const rows = within(screen.getByRole('table')).getAllByRole('row').slice(1);
  expect(rows.map((one) => [...one.children].map(({ textContent }) => textContent))).toEqual([
    ['large', '5', '75 %', '3', '2.5', '$3.00'],
    ['small', '3', '25 %', '0', '0.0', `$1.00${would}`],
    [t('usage.total'), '8', '100 %', '3', '2.5', '$4.00'],
  ]);
  const [first] = askedFor('Usage');
  expect(first).toEqual({ by: ['DAY', 'MODEL'], from: `${dayBack(6)}T00:00:00Z`, sandbox: false });
  expect(askedFor('Usage').find(({ by }) => (by as readonly string[]).length === 1)).toEqual({
    by: ['DAY'],
    from: `${dayBack(13)}T00:00:00Z`,
    to: `${dayBack(6)}T00:00:00Z`,
    sandbox: false,
  });
});

it('counts work where it cost next to nothing, and puts the sixth group with the others', async () => {
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name, at) =>
    row(name, 0, 0.001, { succeeded: 7 - at }),
  );
  open('/usage', ({ by, sandbox }) => (by.length === 1 || sandbox === true ? [] : many));
  expect(await screen.findByText(t('usage.perDay'))).toBeDefined();
  expect(bars()).toHaveLength(30);
  expect(bars().at(-1)).toMatch(/: 28$/);
  const parts = heights(screen.getAllByRole('img').at(-1));
  expect(parts).toEqual([3, 3, 4, 5, 6, 7].map((count) => `${(count / 40) * 100}%`));
  const legend = screen.getByText(t('usage.other')).closest('ul');
  expect([...(legend?.children ?? [])].map(({ textContent }) => textContent)).toEqual([
    'a 7',
    'b 6',
    'c 5',
    'd 4',
    'e 3',
    t('usage.other'),
  ]);
  expect(figure(t('usage.spent'))).toBe('$0.007');
});

it('is of the work, the days and the groups that are chosen, which the address keeps', async () => {
  const { askedFor, search } = open('/usage?only=real');
  expect(await screen.findByText(t('usage.costPerDay'))).toBeDefined();
  expect(askedFor('Usage').every(({ sandbox }) => sandbox === false)).toBe(true);
  expect(screen.queryByText(/^sandbox: would/)).toBeNull();
  await userEvent.selectOptions(screen.getByLabelText(t('usage.what')), 'sandbox');
  await waitFor(() => expect(search()).toEqual({ only: 'sandbox' }));
  await waitFor(() => expect(askedFor('Usage').at(-1)).toMatchObject({ sandbox: true }));
  await userEvent.selectOptions(screen.getByLabelText(t('usage.what')), '');
  await userEvent.selectOptions(screen.getByLabelText(t('usage.days')), '90');
  await waitFor(() => expect(search()).toEqual({ days: 90 }));
  await waitFor(() => expect(bars()).toHaveLength(90));
  fireEvent.click(screen.getByText(t('usage.GENERATOR')));
  await waitFor(() => expect(search()).toEqual({ days: 90, by: 'GENERATOR' }));
  expect((await screen.findAllByText('generator of large')).length).toBeGreaterThan(0);
});

it('groups by people and keys for administrators alone, and says that there is nothing', async () => {
  open('/usage', () => [], { mayAdministrate: false });
  expect(await screen.findByText(t('usage.none'))).toBeDefined();
  expect(figure(t('usage.spent'))).toBe('–');
  expect([screen.queryByText(t('usage.OWNER')), screen.queryByRole('table')]).toEqual([null, null]);
});

it('is saved as a table with the choices that are made', async () => {
  open('/usage?days=7&only=sandbox');
  const asked = vi.fn<(url: URL, init: RequestInit) => Promise<Response>>();
  asked
    .mockResolvedValueOnce(new Response('no', { status: 403 }))
    .mockResolvedValue(new Response('day,model'));
  vi.stubGlobal('fetch', asked);
  const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
  fireEvent.click(await screen.findByText(t('usage.csv')));
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(saved).not.toHaveBeenCalled();
  fireEvent.click(screen.getByText(t('usage.csv')));
  await waitFor(() => expect(saved).toHaveBeenCalledOnce());
  expect(screen.queryByRole('alert')).toBeNull();
  const [address, { headers } = {}] = asked.mock.lastCall ?? [];
  expect(address?.pathname).toMatch(/\/usage\.csv$/);
  expect(Object.fromEntries(address?.searchParams ?? [])).toEqual({
    by: 'day,model,generator,owner',
    from: dayBack(6),
    sandbox: 'true',
  });
  expect(headers).toEqual({ authorization: 'Bearer kiln_key' });
  saved.mockRestore();
});

it('is shown to nobody who is not signed in', () => {
  renderOverServer({}, <UsagePage />, '/usage');
  return expect(screen.findByText(t('signIn.needed'))).resolves.toBeDefined();
});
