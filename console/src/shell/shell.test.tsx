import { act, fireEvent, waitFor } from '@testing-library/preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { chooseCell, inChosenCell } from '../api/addresses.ts';
import { currentCredential, setCredential } from '../api/caller.ts';
import { outline } from '../testing/outline.ts';
import { createList } from '../testing/things.ts';
import { all, choose, find, gone, key, press, resizeTo, shown } from '../testing/use.ts';
import { ADA, ADMINISTRATOR, closeConsole, openConsole } from '../testing/whole-console.tsx';
import { noteSignInProblem } from './sign-in-problem.ts';

const VISITOR = { caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true }, viewer: null };
const root = { tasks: createList([]), medias: createList([]) };

beforeEach(() => {
  vi.spyOn(location, 'reload').mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  noteSignInProblem(null);
  resizeTo(1_024);
  chooseCell(null);
  delete document.documentElement.dataset['theme'];
  await closeConsole();
});

const side = () => shown('nav[aria-label=Main]');
const places = () =>
  [...document.querySelectorAll<HTMLElement>('[data-place]')]
    .map(({ dataset }) => dataset['place'])
    .join(' ');

it('has the places of a user at its side, and who they are', async () => {
  resizeTo(1_280);
  const { address } = await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  await waitFor(async () => expect((await side()).textContent).toContain('Ada'));
  await expect(outline(await side())).toMatchFileSnapshot('outlines/side.txt');
  expect(document.querySelector('a[href="#main"]')).not.toBeNull();
  await press('Models');
  await waitFor(() => expect(address()).toBe('/models'));
});

it('has for administrators what is theirs too', async () => {
  resizeTo(1_280);
  await openConsole('/tasks', { ...root, ...ADMINISTRATOR });
  await waitFor(() =>
    expect(places()).toBe('studio gallery cast tasks shop models machines usage keys start workflows'),
  );
  await waitFor(async () => expect((await side()).textContent).toContain('Grace'));
  await expect((await side()).textContent).toMatchFileSnapshot('outlines/side-of-administrator.txt');
});

it('is a rail of short names where there is less room', async () => {
  resizeTo(1_000);
  await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  await waitFor(async () => expect((await side()).textContent).toContain('Ada'));
  await expect((await side()).textContent).toMatchFileSnapshot('outlines/rail.txt');
});

it('has on phones its places at the foot, and what else there is at the top', async () => {
  resizeTo(600);
  await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  await expect(outline(document.querySelector('main > div'))).toMatchFileSnapshot('outlines/phone-top.txt');
  await expect(outline(await shown('nav'))).toMatchFileSnapshot('outlines/phone-bar.txt');
  await press('Search or jump');
  await shown('dialog[open]');
});

it.each([
  ['/tasks', true],
  ['/keys', false],
  ['/shared/token', false],
])('is closed at %s for a visitor who may do nothing without signing in: %s', async (address, isClosed) => {
  resizeTo(1_280);
  await openConsole(
    address,
    { ...root, ...VISITOR, caller: { ...VISITOR.caller, mayStart: false } },
    { isVisitor: true },
  );
  await waitFor(() => expect(document.querySelector('main h1, main h2')).not.toBeNull());
  await waitFor(() => expect(all('main h2', 'Sign in first').length === 1).toBe(isClosed));
});

it('lets a visitor sign in, and says why that has failed', async () => {
  resizeTo(1_280);
  const assign = vi.spyOn(location, 'assign').mockImplementation(() => undefined);
  noteSignInProblem(new Error('the code is old'));
  await openConsole('/tasks', { ...root, ...VISITOR }, { isVisitor: true });
  expect((await shown('main [role=alert]')).textContent).toBe('the code is old');
  await press('Sign in', await side());
  await waitFor(() => expect(assign).toHaveBeenCalled());
});

it('goes to pages by G and a letter, and says which there are while it waits', async () => {
  const { address } = await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  expect(key('g')).toBe(true);
  await expect(outline(await shown('[data-letters]'))).toMatchFileSnapshot('outlines/letters.txt');
  expect(key('Shift')).toBe(false);
  expect(document.querySelector('[data-letters]')).not.toBeNull();
  expect(key('g')).toBe(true);
  await waitFor(() => expect(address()).toBe('/gallery'));
  await gone('[data-letters]');
  for (const [letter, to] of [
    ['t', '/tasks'],
    ['p', '/models'],
    ['s', '/'],
  ] as const) {
    key('g');
    key(letter);
    await waitFor(() => expect(address()).toBe(to));
  }
});

it('does not wait any more after another key, a click or a leave', async () => {
  const { address } = await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  const ends: readonly (() => unknown)[] = [
    () => key('q'),
    () => fireEvent(document.body, new Event('pointerdown', { bubbles: true })),
    () => window.dispatchEvent(new Event('blur')),
  ];
  for (const end of ends) {
    key('g');
    await shown('[data-letters]');
    end();
    await gone('[data-letters]');
    expect(key('t')).toBe(false);
  }
  expect(key('g', { repeat: true })).toBe(false);
  expect(address()).toBe('/tasks');
});

it('begins a new image by N, and changes the theme by Shift and D', async () => {
  const { address } = await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  expect(key('D', { shiftKey: true })).toBe(true);
  expect(document.documentElement.dataset['theme']).toBe('dark');
  expect(localStorage.getItem('kiln.theme')).toBe('dark');
  document.documentElement.style.colorScheme = 'dark';
  key('D', { shiftKey: true });
  expect(document.documentElement.dataset['theme']).toBe('light');
  expect(localStorage.getItem('kiln.theme')).toBe('light');
  document.documentElement.style.colorScheme = '';
  expect(key('n', { ctrlKey: true })).toBe(false);
  key('n');
  await waitFor(() => expect(address()).toBe('/?kind=image'));
});

it('lists its keys by ?, where single ones are turned off', async () => {
  await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  key('?');
  const dialog = await shown('dialog[open]');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/key-list.txt');
  const box = dialog.querySelector('input') as HTMLInputElement;
  fireEvent.click(box);
  await waitFor(() => expect(box.checked).toBe(false));
  expect(localStorage.getItem('kiln.keys')).toBe('off');
  await press('Close', dialog);
  await gone('dialog');
  expect(key('g')).toBe(false);
});

it('opens the palette by Ctrl or Cmd and K, once', async () => {
  await openConsole('/tasks', root);
  await find('h2', 'No tasks here');
  expect(key('k', { ctrlKey: true, shiftKey: true })).toBe(false);
  expect(key('k')).toBe(false);
  expect(key('K', { metaKey: true })).toBe(true);
  await shown('dialog[open] input');
  expect(key('k', { ctrlKey: true })).toBe(false);
});

it('changes the language', async () => {
  resizeTo(1_280);
  await openConsole('/tasks', root);
  await press('简体中文', await side());
  expect(localStorage.getItem('kiln.language')).toBe('zh');
});

const cells = (own: number, list: readonly object[]) => ({
  paths: { '/cells': () => Response.json({ own, cells: list }) },
});

it('lets administrators choose among cells', async () => {
  resizeTo(1_280);
  const asked: string[] = [];
  await openConsole(
    '/tasks',
    { ...root, ...ADMINISTRATOR },
    {
      paths: {
        '/cells': ({ headers }) => {
          asked.push(headers.get('authorization') ?? 'nobody');
          return Response.json({
            own: 1,
            cells: [
              { number: 1, ready: true },
              { number: 2, ready: false },
            ],
          });
        },
      },
    },
  );
  const select = await find<HTMLSelectElement>('select', 'Which cell is shown');
  expect(asked).toEqual(['Bearer kiln_key']);
  await expect(outline(select)).toMatchFileSnapshot('outlines/cells.txt');
  const fetched = vi.spyOn(globalThis, 'fetch');
  const asks = () => fetched.mock.calls.map(([address]) => address as string);
  await choose('Which cell is shown', '2');
  await waitFor(() => expect(asks().join()).toContain('graphql?cell=2'));
  fetched.mockClear();
  await choose('Which cell is shown', '1');
  await waitFor(() => expect(asks().length).toBeGreaterThan(0));
  expect(asks().join()).not.toContain('cell=');
});

it('shows the cell of its address to whoever comes after an administrator who has chosen another', async () => {
  resizeTo(1_280);
  const two = [1, 2].map((number) => ({ number, ready: true }));
  await openConsole('/tasks', { ...root, ...ADMINISTRATOR }, cells(1, two));
  await find('select', 'Which cell is shown');
  await choose('Which cell is shown', '2');
  await waitFor(() => expect(inChosenCell('/graphql')).toBe('/graphql?cell=2'));
  void act(() => setCredential({ kind: 'key', token: 'of-somebody-else', expiresAt: null }));
  expect(inChosenCell('/graphql')).toBe('/graphql');
  const select = await find<HTMLSelectElement>('select', 'Which cell is shown');
  await waitFor(() => expect(select.value).toBe('1'));
});

it('asks for no cells with the credential of somebody who may not know of them', async () => {
  resizeTo(1_280);
  const asked: (string | null)[] = [];
  const two = [1, 2].map((number) => ({ number, ready: true }));
  const paths = {
    '/cells': ({ headers }: Request) => {
      asked.push(headers.get('authorization'));
      return Response.json({ own: 1, cells: two });
    },
  };
  const isRoot = () => currentCredential()?.token === 'kiln_key';
  const caller = () => (isRoot() ? ADMINISTRATOR : ADA)['caller'];
  await openConsole('/tasks', { ...root, ...ADMINISTRATOR, caller }, { paths });
  await find('select', 'Which cell is shown');
  void act(() => setCredential({ kind: 'key', token: 'of-somebody-else', expiresAt: null }));
  await waitFor(() => expect(all('select', 'Which cell is shown')).toEqual([]));
  expect(asked).toEqual(['Bearer kiln_key']);
});

it('shows the cell of its address to whoever comes next also where the page has no choice of cells', async () => {
  resizeTo(500);
  await openConsole('/tasks', { ...root, ...ADMINISTRATOR });
  await find('h2', 'No tasks here');
  void act(() => chooseCell(2));
  void act(() => setCredential({ kind: 'key', token: 'of-somebody-else', expiresAt: null }));
  expect(inChosenCell('/graphql')).toBe('/graphql');
});

it.each([
  ['there is one', ADMINISTRATOR, cells(1, [{ number: 1, ready: true }])],
  ['they are not told', ADMINISTRATOR, {}],
  [
    'somebody is no administrator',
    {},
    cells(1, [
      { number: 1, ready: true },
      { number: 2, ready: true },
    ]),
  ],
])('has no choice of cells where %s', async (_, who, options) => {
  resizeTo(1_280);
  await openConsole('/tasks', { ...root, ...who }, options);
  await find('h2', 'No tasks here');
  expect(all('select', 'Which cell is shown')).toEqual([]);
});
