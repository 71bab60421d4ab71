import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { ReactElement } from 'react';
import { expect, it } from 'vitest';

import { caller, renderOverServer } from '../../testing/over-server.tsx';
import { t } from '../../text/text.ts';
import { KeysPage } from './keys-page.tsx';
import { NewKey } from './new-key.tsx';
import { RotateKey } from './rotate-key.tsx';

const at = new Date(Date.now() - 3 * 86_400_000).toISOString();
const key = {
  __typename: 'ServiceKey',
  id: 'key_ci',
  name: 'Build',
  scopes: ['read', 'admin'],
  generators: ['imga', 'vida'],
  createdAt: at,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  formerUntil: null,
};
const session = {
  __typename: 'Session',
  id: 's1',
  platform: 'idp',
  createdAt: at,
  lastUsedAt: null,
  current: true,
};
const sessions = [session, { ...session, id: 's2', platform: 'wechat', lastUsedAt: at, current: false }];
const viewer = { __typename: 'User', id: 'usr_ada', name: 'Ada', email: null };

function open(element: ReactElement, answers: Parameters<typeof renderOverServer>[0] = {}) {
  return renderOverServer(
    {
      Caller: () => caller(),
      ServiceKeys: () => ({ serviceKeys: [key] }),
      Sessions: () => ({ viewer, sessions }),
      CreateServiceKey: () => ({ createServiceKey: { __typename: 'New', secret: 'kiln_new', key } }),
      RotateServiceKey: () => ({ rotateServiceKey: { __typename: 'New', secret: 'kiln_next', key } }),
      ...answers,
    },
    element,
  );
}

const type = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const choose = (label: string, value: string) => userEvent.selectOptions(screen.getByLabelText(label), value);
const fillName = async () => {
  await screen.findByText(t('keys.create'));
  type(t('field.name'), 'CI');
};
const create = () => fireEvent.submit(screen.getByText(t('keys.create')).closest('form') ?? document.body);

it('a key is made with what was typed, and its secret is shown', async () => {
  const { askedFor } = open(<NewKey />);
  expect((await screen.findByText<HTMLButtonElement>(t('keys.create'))).disabled).toBe(true);
  await fillName();
  expect(screen.getByText<HTMLButtonElement>(t('keys.create')).disabled).toBe(false);
  type(t('keys.generators'), ' imga,  vida ');
  await choose(t('keys.expires'), '90');
  fireEvent.click(screen.getByLabelText(t('keys.scope.manage')));
  fireEvent.click(screen.getByLabelText(t('keys.scope.admin')));
  const before = Date.now();
  create();
  expect(await screen.findByText('kiln_new')).toBeDefined();
  const [made] = askedFor('CreateServiceKey');
  expect(made).toMatchObject({
    name: 'CI',
    scopes: ['read', 'start', 'admin'],
    generators: ['imga', 'vida'],
  });
  const days = (Date.parse(String(made?.['expiresAt'])) - before) / 86_400_000;
  expect(days).toBeCloseTo(90, 2);
  expect(askedFor('CreateBudget')).toEqual([]);
  expect(screen.getByLabelText<HTMLInputElement>(t('field.name')).value).toBe('');
});

it('a key with bounds has a budget of its name; that it has none is said, with its secret', async () => {
  const { askedFor } = open(<NewKey />, { CreateBudget: () => ({ code: 'FORBIDDEN' }) });
  await fillName();
  type(t('keys.amount'), '5');
  create();
  expect(await screen.findByText(t('keys.unbounded'))).toBeDefined();
  expect(screen.getByText('kiln_new')).toBeDefined();
  const input = { period: 'MONTH', amount: 5, startsPerMinute: null, name: 'Build' };
  expect(askedFor('CreateBudget')).toEqual([{ scope: 'KEY', subject: 'key_ci', input }]);
  expect(askedFor('CreateServiceKey')).toMatchObject([{ generators: null, expiresAt: null }]);
});

it('a key that is refused is said, and what was typed stays', async () => {
  open(<NewKey />, { CreateServiceKey: () => ({ code: 'FORBIDDEN' }) });
  await fillName();
  create();
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.getByLabelText<HTMLInputElement>(t('field.name')).value).toBe('CI');
});

it('a secret is replaced with a day for programs to change theirs, or the time that is chosen', async () => {
  const { askedFor } = open(<RotateKey id="key_ci" name="Build" />);
  const rotate = async () =>
    void fireEvent.click(await screen.findByRole('button', { name: t('keys.rotate') }));
  await rotate();
  const dialog = within(screen.getByRole('dialog'));
  fireEvent.click(dialog.getByRole('button', { name: t('keys.rotate') }));
  expect(await screen.findByText('kiln_next')).toBeDefined();
  expect(dialog.queryByRole('button', { name: t('keys.rotate') })).toBeNull();
  fireEvent.click(dialog.getByRole('button', { name: t('dialog.close') }));
  for (const grace of ['now', 'hour', 'week']) {
    await rotate();
    await choose(t('keys.grace'), grace);
    fireEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: t('keys.rotate') }));
    await screen.findByText('kiln_next');
    fireEvent.click(screen.getByRole('button', { name: t('dialog.close') }));
  }
  expect(askedFor('RotateServiceKey').map(({ graceSeconds }) => graceSeconds)).toEqual([
    86_400, 0, 3_600, 604_800,
  ]);
});

it('who may issue no keys sees their own account alone, and ends their sessions', async () => {
  const { askedFor } = open(<KeysPage />, {
    Caller: () => caller({ mayIssueKeys: false }),
    RevokeSession: () => ({ revokeSession: true }),
  });
  expect(await screen.findByText(t('page.account'))).toBeDefined();
  expect(askedFor('ServiceKeys')).toEqual([]);
  const own = (await screen.findByText(/wechat/i)).closest('li') ?? document.body;
  expect(own.textContent).not.toContain(t('keys.current'));
  expect(own.previousElementSibling?.textContent).toContain(t('keys.current'));
  fireEvent.click(within(own).getByRole('button', { name: t('keys.end') }));
  expect(askedFor('RevokeSession')).toEqual([{ id: 's2' }]);
  await waitFor(() => expect(askedFor('Sessions')).toHaveLength(2));
});
