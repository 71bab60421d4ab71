import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import type { ReactElement } from 'react';
import { afterEach, expect, it, vi } from 'vitest';

import { caller, renderOverServer } from '../../testing/over-server.tsx';
import { t } from '../../text/text.ts';
import { KeysPage } from './keys-page.tsx';
import { NewKey } from './new-key.tsx';
import { RotateKey } from './rotate-key.tsx';

afterEach(() => void vi.unstubAllGlobals());

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
const pageInfo = { __typename: 'PageInfo', hasNextPage: false, endCursor: null };
const edge = (node: object) => ({ __typename: 'Edge', cursor: 'c', node });
const ada = {
  __typename: 'User',
  id: 'usr_ada',
  name: 'Ada',
  email: 'ada@example.org',
  subject: 'ada',
  createdAt: at,
  lastSignInAt: at,
  openSessions: 2,
};
const nameless = {
  ...ada,
  id: 'usr_x',
  name: null,
  email: null,
  subject: 'x@idp',
  lastSignInAt: null,
  openSessions: 0,
};
const users = { __typename: 'Users', edges: [edge(ada), edge(nameless)], pageInfo };
const entry = {
  __typename: 'AuditEntry',
  id: 'a1',
  at,
  caller: 'usr_ada',
  address: '192.0.2.1',
  traceId: 't1',
};
const auditEntries = {
  __typename: 'AuditEntries',
  edges: [edge({ ...entry, what: 'createBudget', target: null })],
  pageInfo,
};
const viewer = { __typename: 'User', id: 'usr_ada', name: 'Ada', email: null };

function open(element: ReactElement, answers: Parameters<typeof renderOverServer>[0] = {}) {
  return renderOverServer(
    {
      Caller: () => caller(),
      ServiceKeys: () => ({ serviceKeys: [key] }),
      Names: () => ({ serviceKeys: [key], users }),
      People: ({ search }) => ({ users: search === null ? users : { ...users, edges: [] } }),
      Audit: ({ what }) => ({ auditEntries: what === null ? auditEntries : { ...auditEntries, edges: [] } }),
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

/** The row in which a text stands. */
const findRow = async (text: string) =>
  (await screen.findAllByText(text)).flatMap((one) => one.closest('tr') ?? [])[0] ?? document.body;
const readCells = (row: HTMLElement) => [...row.querySelectorAll('td')].map(({ textContent }) => textContent);

it('a key tells what it may, until when it and its former secret work, and when it was used', async () => {
  const other = { ...key, id: 'key_new', name: 'New', formerUntil: at };
  const old = {
    ...key,
    id: 'key_old',
    name: 'Old',
    generators: null,
    expiresAt: at,
    lastUsedAt: at,
    revokedAt: at,
  };
  open(<KeysPage />, { ServiceKeys: () => ({ serviceKeys: [key, other, { ...old, formerUntil: at }] }) });
  const may = `${t('keys.scope.read')}, ${t('keys.scope.admin')}`;
  const fresh = [may, 'imga, vida', t('keys.noEnd'), '3 days ago', t('keys.never')];
  expect(readCells(await findRow('Build')).slice(0, 6)).toEqual(['Build', ...fresh]);
  expect(readCells(await findRow('New')).slice(0, 6)).toEqual([
    `New${t('keys.former')} 3 days ago`,
    ...fresh,
  ]);
  const ended = [
    'Old',
    may,
    t('keys.anyGenerator'),
    '3 days ago',
    '3 days ago',
    '3 days ago',
    t('keys.revoked'),
  ];
  expect(readCells(await findRow('Old'))).toEqual(ended);
});

it('a key is revoked by whoever says yes', async () => {
  const { askedFor } = open(<KeysPage />, {
    RevokeServiceKey: () => ({ revokeServiceKey: { ...key, revokedAt: at } }),
  });
  vi.stubGlobal('confirm', vi.fn<() => boolean>().mockReturnValueOnce(false).mockReturnValueOnce(true));
  const revoke = await screen.findByRole('button', { name: t('keys.revoke') });
  fireEvent.click(revoke);
  expect(askedFor('RevokeServiceKey')).toEqual([]);
  fireEvent.click(revoke);
  expect(askedFor('RevokeServiceKey')).toEqual([{ id: 'key_ci' }]);
  expect(await screen.findByText(t('keys.revoked'))).toBeDefined();
});

it('each of the people leads to what they did and where they are signed in', async () => {
  const { askedFor } = open(<KeysPage />, {
    PersonSessions: () => ({ userSessions: sessions }),
    EndUserSessions: () => ({ endUserSessions: 1 }),
  });
  const nobody = await findRow('usr_x');
  expect(readCells(nobody).slice(1, 4)).toEqual(['usr_x', t('keys.never'), '0']);
  expect(within(nobody).getByText<HTMLButtonElement>(t('keys.sessions')).disabled).toBe(true);
  const person = await findRow('ada@example.org');
  expect(readCells(person).slice(0, 4)).toEqual(['Adaada@example.org', 'usr_ada', '3 days ago', '2']);
  const last = () => askedFor('Audit').at(-1);
  expect(last()).toEqual({ first: 20, what: null, caller: null, reads: true });
  fireEvent.click(within(person).getByText(t('audit.title')));
  await waitFor(() => expect(last()).toMatchObject({ caller: 'usr_ada', reads: true }));
  fireEvent.click(screen.getByLabelText(t('audit.changesOnly')));
  await waitFor(() => expect(last()).toMatchObject({ caller: 'usr_ada', reads: false }));
  fireEvent.click(screen.getByRole('button', { pressed: true }));
  await waitFor(() => expect(last()).toMatchObject({ caller: null }));
  fireEvent.click(within(person).getByText(t('keys.sessions')));
  const dialog = within(screen.getByRole('dialog'));
  const [first, second] = await dialog.findAllByRole('listitem');
  expect(first?.textContent).toContain(t('keys.current'));
  expect(first?.textContent).not.toContain(t('people.renewed'));
  expect(second?.textContent).toContain(t('people.renewed'));
  fireEvent.click(within(second ?? document.body).getByText(t('keys.end')));
  await waitFor(() => expect(askedFor('EndUserSessions')).toEqual([{ userId: 'usr_ada', sessionId: 's2' }]));
  vi.stubGlobal('confirm', vi.fn<() => boolean>().mockReturnValueOnce(false).mockReturnValueOnce(true));
  const all = dialog.getByText<HTMLButtonElement>(t('people.end'));
  await waitFor(() => expect(all.disabled).toBe(false));
  fireEvent.click(all);
  fireEvent.click(all);
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(askedFor('EndUserSessions').slice(1)).toEqual([{ userId: 'usr_ada' }]);
});

it('people and records that are not there are said', async () => {
  const none = { edges: [], pageInfo };
  open(<KeysPage />, {
    People: () => ({ users: { ...users, ...none } }),
    Audit: () => ({ auditEntries: { ...auditEntries, ...none } }),
    ServiceKeys: () => ({ serviceKeys: [] }),
    Sessions: () => ({ viewer, sessions: [] }),
  });
  for (const text of ['people.none', 'audit.none', 'keys.none'] as const)
    expect(await screen.findByText(t(text))).toBeDefined();
  expect(screen.queryByText(t('keys.sessions'))).toBeNull();
});
