import { fireEvent, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';

import { currentCredential, setCredential } from '../../api/caller.ts';
import { outline } from '../../testing/outline.ts';
import { ago, createList } from '../../testing/things.ts';
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

afterEach(closeConsole);

const DAY = 86_400;
const key = (id: string, change: Fields = {}): Fields => ({
  id,
  name: `Key ${id}`,
  scopes: ['read', 'of-its-own'],
  createdAt: ago(9 * DAY),
  ...change,
});
const person = (id: string, change: Fields = {}): Fields => ({
  id,
  name: `User ${id}`,
  email: `${id}@example.org`,
  createdAt: ago(9 * DAY),
  lastSignInAt: ago(DAY),
  openSessions: 2,
  ...change,
});
const session = (id: string, change: Fields = {}): Fields => ({
  id,
  platform: 'idp',
  createdAt: ago(DAY),
  current: false,
  ...change,
});
const entry = (id: string, change: Fields = {}): Fields => ({
  id,
  at: ago(60),
  caller: 'usr_root',
  address: '192.0.2.1',
  what: 'createBudget',
  traceId: `trace ${id}`,
  ...change,
});
const administrated: Fields = {
  ...ADMINISTRATOR,
  serviceKeys: [
    key('key_a', { generators: ['imga', 'vida'], lastUsedAt: ago(60) }),
    key('key_b', { formerUntil: ago(-DAY), expiresAt: ago(-2 * DAY) }),
    key('key_c', { revokedAt: ago(60), formerUntil: ago(-DAY) }),
  ],
  sessions: [session('s1', { current: true }), session('s2', { platform: 'of-its-own' })],
  users: createList([
    person('usr_ada'),
    person('usr_ben', { name: null, email: null, subject: 'ben@idp', openSessions: 0, lastSignInAt: null }),
    person('usr_cid', { name: null, email: null }),
    person('usr_dan', { name: null }),
  ]),
  userSessions: [session('s1', { current: true }), session('s2', { lastUsedAt: ago(60) })],
  auditEntries: createList([entry('e1', { target: 'key_a' }), entry('e2')]),
};
const refused = () => {
  throw refusal('FORBIDDEN');
};
const press = async (words: string, at = 0) =>
  void fireEvent.click((await screen.findAllByText(words, { selector: 'button' }))[at] ?? document.body);

it('shows administrators the keys, who has signed in, and what was done', async () => {
  const { askedFor } = await openConsole('/keys', administrated);
  await screen.findByText('usr_ben');
  await screen.findAllByText('createBudget');
  await screen.findByText(t('keys.sessions'), { selector: 'h2' });
  await expect(outline()).toMatchFileSnapshot('outlines/keys.txt');
  expect(askedFor('People')).toEqual([{ first: 20, search: null }]);
  expect(askedFor('Audit')).toEqual([{ first: 20, what: null, caller: null, reads: true }]);
});

it('shows a user their account alone', async () => {
  const { askedFor } = await openConsole('/keys', { sessions: [session('s1', { current: true })] });
  await screen.findByText(t('page.account'), { selector: 'h1' });
  await screen.findByText(t('keys.current'));
  await expect(outline()).toMatchFileSnapshot('outlines/account.txt');
  expect([askedFor('ServiceKeys'), askedFor('People'), askedFor('Audit')]).toEqual([[], [], []]);
});

it('shows a key, which has no sessions, its keys', async () => {
  const caller = { ...(ADMINISTRATOR['caller'] as Fields), kind: 'KEY' };
  const { askedFor } = await openConsole('/keys', { ...administrated, caller, viewer: null });
  expect(await screen.findByText('Key key_a')).toBeDefined();
  expect(screen.getByText(t('page.keys'), { selector: 'h1' })).toBeDefined();
  expect(askedFor('Sessions')).toEqual([]);
});

const VISITOR: Fields = { caller: { id: 'anon', kind: 'ANONYMOUS' }, viewer: null };
const keyField = () => screen.findByLabelText<HTMLInputElement>(t('keys.key'));

it('is signed in with a key for this tab, and signed out', async () => {
  const { hasAsked } = await openConsole('/keys', VISITOR, { isVisitor: true });
  const field = await keyField();
  await expect(outline()).toMatchFileSnapshot('outlines/sign-in.txt');
  fireEvent.change(field, { target: { value: '  ' } });
  submit(field.form);
  expect(currentCredential()).toBeNull();
  fireEvent.change(field, { target: { value: ' kiln_two ' } });
  submit(field.form);
  await waitFor(() => expect(currentCredential()).toMatchObject({ kind: 'key', token: 'kiln_two' }));
  expect(await screen.findByText(t('keys.signedIn'))).toBeDefined();
  await press(t('keys.signOut'));
  // Nothing is remembered of it, nor is there a login page that would.
  expect((await keyField()).value).toBe('');
  await hasAsked('Caller', 2);
  expect(screen.queryByText(t('signIn.out'))).toBeNull();
});

it.each([
  ['https://login.test/out', 1],
  [null, 0],
] as const)(
  'says after the end of a session where the login page still knows them: %s',
  async (signOutUrl, count) => {
    const { hasAsked } = await openConsole(
      '/keys',
      { ...VISITOR, signOutUrl },
      { paths: { '/auth/browser/revoke': () => Response.json({ message: '' }) } },
    );
    await screen.findByText(t('keys.signOut'));
    setCredential({ kind: 'session', token: 'token', expiresAt: NOW.getTime() + 3_600_000 });
    expect(await screen.findByText(t('signIn.session'))).toBeDefined();
    await press(t('keys.signOut'));
    expect(await keyField()).toBeDefined();
    await hasAsked('SignOutUrl');
    await waitFor(() => expect(screen.queryAllByText(t('signIn.outThere'))).toHaveLength(count));
    expect(screen.queryByText(t('signIn.outThere'))?.getAttribute('href') ?? null).toBe(signOutUrl);
  },
);

it('says that keys cannot be asked', async () => {
  await openConsole('/keys', { ...administrated, serviceKeys: refused });
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.queryByText(t('keys.none'))).toBeNull();
});

it('says that a key was not revoked, or a session not ended', async () => {
  vi.stubGlobal('confirm', () => true);
  await openConsole('/keys', { ...administrated, revokeServiceKey: refused, revokeSession: refused });
  await press(t('keys.revoke'));
  await waitFor(() => expect(screen.getAllByRole('alert')).toHaveLength(1));
  await press(t('keys.end'), 1);
  await waitFor(() => expect(screen.getAllByRole('alert')).toHaveLength(2));
});

it('shows where somebody is signed in, and ends that', async () => {
  const { askedFor } = await openConsole('/keys', { ...administrated, endUserSessions: refused });
  await screen.findByText('usr_ada');
  await press(t('keys.sessions'));
  const dialog = await screen.findByRole('dialog');
  await screen.findByText(t('people.end'));
  await waitFor(() => expect(dialog.querySelectorAll('li')).toHaveLength(2));
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/person-sessions.txt');
  const confirm = vi.fn<(words?: string) => boolean>().mockReturnValueOnce(false).mockReturnValue(true);
  vi.stubGlobal('confirm', confirm);
  await press(t('people.end'));
  expect(confirm).toHaveBeenCalledWith(t('people.sure', { name: 'User usr_ada' }));
  await press(t('people.end'));
  expect(await screen.findByRole('alert')).toBeDefined();
  // Refused, it is still open.
  expect(dialog.isConnected).toBe(true);
  expect(askedFor('EndUserSessions')).toEqual([{ userId: 'usr_ada' }]);
  fireEvent.click(screen.getByLabelText(t('dialog.close')));
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
});

it('says that somebody has no sessions any more', async () => {
  await openConsole('/keys', { ...administrated, userSessions: [] });
  await screen.findByText('usr_ada');
  await press(t('keys.sessions'));
  expect(await screen.findByText(t('people.noSessions'))).toBeDefined();
  expect(screen.getByText<HTMLButtonElement>(t('people.end')).disabled).toBe(true);
});

it('finds people and records by words', async () => {
  const { askedFor } = await openConsole('/keys', {
    ...administrated,
    users: ({ search }: { readonly search?: string | null }) =>
      createList(search == null ? [person('usr_ada')] : []),
  });
  await screen.findByText('usr_ada');
  const find = (label: string, words: string) => {
    const field = screen.getByLabelText<HTMLInputElement>(label);
    fireEvent.input(field, { target: { value: words } });
    submit(field.form);
  };
  find(t('people.search'), 'nobody');
  expect(await screen.findByText(t('gallery.noMatch'))).toBeDefined();
  find(t('audit.whatHelp'), 'budget');
  await waitFor(() => expect(askedFor('Audit').at(-1)).toMatchObject({ what: 'budget' }));
  find(t('people.search'), '');
  expect(await screen.findByText('usr_ada')).toBeDefined();
});

it('shows what one of them did, and takes that away again', async () => {
  const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView').mockReturnValue();
  const { askedFor } = await openConsole('/keys', administrated);
  await screen.findAllByText('createBudget');
  await press(t('audit.title'));
  await waitFor(() => expect(askedFor('Audit').at(-1)).toMatchObject({ caller: 'usr_ada' }));
  expect(scrolled.mock.contexts.map((one) => (one as Element).id)).toEqual(['audit']);
  scrolled.mockRestore();
  const chip = await waitFor(() => {
    const found = document.querySelector('#audit [aria-pressed=true]');
    if (found === null) throw new Error('nobody is chosen');
    return found;
  });
  await expect(outline(chip.parentElement)).toMatchFileSnapshot('outlines/audit-of.txt');
  fireEvent.click(chip);
  await waitFor(() => expect(askedFor('Audit').at(-1)).toMatchObject({ caller: null }));
  fireEvent.click(document.querySelector('#audit td button') ?? document.body);
  await waitFor(() => expect(askedFor('Audit').at(-1)).toMatchObject({ caller: 'usr_root' }));
});

it('gives a key another secret, shown once, and says why not', async () => {
  let isRefused = true;
  await openConsole('/keys', {
    ...administrated,
    rotateServiceKey: () => (isRefused ? refused() : { secret: 'kiln_next', key: key('key_a') }),
  });
  await screen.findByText('Key key_a');
  await press(t('keys.rotate'));
  const dialog = await screen.findByRole('dialog');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/rotate.txt');
  const rotate = () => fireEvent.click(dialog.querySelector('footer button') ?? document.body);
  rotate();
  expect(await screen.findByRole('alert')).toBeDefined();
  isRefused = false;
  await waitFor(() => expect(dialog.querySelector<HTMLButtonElement>('footer button')?.disabled).toBe(false));
  rotate();
  await screen.findByText('kiln_next');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/rotated.txt');
});

it('makes a key by a form that begins with the usual rights, and is empty after', async () => {
  const { askedFor } = await openConsole('/keys', {
    ...administrated,
    createServiceKey: { secret: 'kiln_new', key: key('key_new') },
    createBudget: {},
  });
  await screen.findByText('Key key_a');
  const field = (label: string) =>
    screen.getAllByLabelText<HTMLInputElement>(label)[0] ?? document.createElement('input');
  const name = field(t('field.name'));
  fireEvent.change(name, { target: { value: 'CI' } });
  fireEvent.change(field(t('keys.amount')), { target: { value: ' ' } });
  fireEvent.change(field(t('budget.startsPerMinute')), { target: { value: '7' } });
  fireEvent.change(field(t('keys.generators')), { target: { value: 'imga, vida' } });
  const ends = [...field(t('keys.expires')).querySelectorAll('option')].map(({ value }) => value);
  expect(ends).toEqual(['0', '30', '90', '365']);
  await userEvent.selectOptions(field(t('keys.expires')), '30');
  submit(name.form);
  await screen.findByText('kiln_new');
  expect(askedFor('CreateServiceKey')).toEqual([
    {
      name: 'CI',
      scopes: ['read', 'start', 'manage'],
      generators: ['imga', 'vida'],
      expiresAt: ago(-30 * DAY),
    },
  ]);
  await waitFor(() => expect(askedFor('CreateBudget')).toHaveLength(1));
  expect(askedFor('CreateBudget')[0]).toMatchObject({
    scope: 'KEY',
    subject: 'key_new',
    input: { period: 'MONTH', amount: null, startsPerMinute: 7 },
  });
  await waitFor(() => expect(name.value).toBe(''));
  expect(field(t('budget.startsPerMinute')).value).toBe('');
  // Without any right it would be of no use.
  fireEvent.change(name, { target: { value: 'None' } });
  const create = screen.getByText<HTMLButtonElement>(t('keys.create'));
  await waitFor(() => expect(create.disabled).toBe(false));
  for (const scope of ['read', 'start', 'manage'] as const) fireEvent.click(field(t(`keys.scope.${scope}`)));
  await waitFor(() => expect(create.disabled).toBe(true));
});
