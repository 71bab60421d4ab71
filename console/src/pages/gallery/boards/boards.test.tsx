import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { createFile, createList, createTask } from '../../../testing/things.ts';
import { all, choose, find, gone, press, shown, submit, write } from '../../../testing/use.ts';
import { closeConsole, type Fields, NOW, openConsole, refusal } from '../../../testing/whole-console.tsx';

afterEach(closeConsole);

const share = { url: 'https://kiln.test/shared/b', endsAt: NOW.toISOString() };
const board = (id: string, name: string, change: Fields = {}): Fields => ({ id, name, count: 2, ...change });
const BOARDS = [
  board('b1', 'Trip', { cover: createFile('one') }),
  board('b2', 'Work', { share }),
  board('b3', 'Bare', { cover: createFile('bare', { thumbnail: null }) }),
];
const FILES = ['one', 'two', 'three'].map((id) => createFile(id, { starred: id === 'two' }));

const open = (address: string, root: Fields = {}) =>
  openConsole(address, { medias: createList(FILES), boards: BOARDS, task: createTask('any'), ...root });
const tick = (name: string) => press(`Select a lake, ${name}`);
const pieces = () =>
  [...document.querySelectorAll('[data-piece]')].map((each) => each.getAttribute('data-piece'));
const selection = () => document.querySelector('[role=region]');
const nameIt = (name: string) => write('Name of the board', name);
const link = (name: string) =>
  [...document.querySelectorAll<HTMLElement>('main nav a')].find((each) =>
    each.textContent.startsWith(name),
  ) as HTMLElement;

it('the boards of the gallery stand above it, each with its first image and how many it has', async () => {
  const { address } = await open('/gallery?board=b2');
  await find('h2', 'Work');
  await expect(outline(document.querySelector('main nav'))).toMatchFileSnapshot('outlines/boards.txt');
  await expect(outline((await find('h2', 'Work')).parentElement)).toMatchFileSnapshot(
    'outlines/board-head.txt',
  );
  fireEvent.click(link('Starred'));
  await waitFor(() => expect(address()).toBe('/gallery?starred=true'));
  await waitFor(() => expect(link('Starred').className).not.toBe(link('Work').className));
  expect(all('h2', 'Work')).toEqual([]);
  fireEvent.click(link('All files'));
  await waitFor(() => expect(address()).toBe('/gallery'));
  await waitFor(() => expect(link('All files').className).not.toBe(link('Starred').className));
});

it('the boards of the gallery are made under a name, which is asked for until it is taken', async () => {
  let isTaken = true;
  const boards = [...BOARDS];
  const { askedFor } = await open('/gallery', {
    boards: () => boards,
    createBoard: ({ name }: { readonly name: string }) => {
      if (isTaken) throw refusal('RATE_LIMITED');
      boards.push(board('b4', name));
      return board('b4', name);
    },
  });
  await press('New board');
  const dialog = await shown('dialog[open]');
  expect(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.tagName).toBe('INPUT');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/new-board.txt');
  const form = (await nameIt('   ')).form as HTMLFormElement;
  await waitFor(() => expect(form.querySelector('button')?.disabled).toBe(true));
  await nameIt('  Holiday ');
  await waitFor(() => expect(form.querySelector('button')?.disabled).toBe(false));
  submit(form);
  submit(form);
  // What lies below the dialog is told to nobody.
  await shown('dialog[open] [role=alert]');
  isTaken = false;
  submit(form);
  await gone('dialog');
  expect(document.querySelector('[role=alert]')).toBeNull();
  expect(link('Holiday')).toBeTruthy();
  expect(askedFor('CreateBoard')).toEqual([{ name: 'Holiday' }, { name: 'Holiday' }]);
  await press('New board');
  await press('Close');
  await gone('dialog');
});

it('the boards of the gallery get another name', async () => {
  const { askedFor } = await open('/gallery?board=b1', {
    renameBoard: ({ id, name }: { readonly id: string; readonly name: string }) => board(id, name),
  });
  await press('Rename');
  expect(await screen.findByDisplayValue('Trip')).toBeTruthy();
  submit(await nameIt('Journey'));
  await find('h2', 'Journey');
  expect(askedFor('RenameBoard')).toEqual([{ id: 'b1', name: 'Journey' }]);
  await gone('dialog');
});

it('the boards of the gallery are deleted after a question, which stays with the reason when they are not', async () => {
  let isAway = true;
  let boards = BOARDS;
  const { askedFor, address } = await open('/gallery?board=b1', {
    boards: () => boards,
    deleteBoard: ({ id }: { readonly id: string }) => {
      if (isAway) throw refusal('RATE_LIMITED');
      boards = BOARDS.slice(1);
      return board(id, 'Trip');
    },
  });
  await press('Delete the board');
  const dialog = await shown('dialog[open]');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/delete-board.txt');
  const remove = dialog.querySelector('footer button') as HTMLElement;
  fireEvent.click(remove);
  await shown('dialog[open] [role=alert]');
  expect(address()).toBe('/gallery?board=b1');
  isAway = false;
  fireEvent.click(remove);
  await waitFor(() => expect(address()).toBe('/gallery'));
  expect(askedFor('DeleteBoard')).toEqual([{ id: 'b1' }, { id: 'b1' }]);
  await waitFor(() => expect(link('Trip')).toBeUndefined());
});

it('the boards of the gallery are shared by an address for so long, which is revoked', async () => {
  let mayShare = false;
  const { askedFor } = await open('/gallery?board=b1', {
    shareBoard: () => {
      if (!mayShare) throw refusal('RATE_LIMITED');
      return board('b1', 'Trip', { share });
    },
    unshareBoard: () => board('b1', 'Trip', { share: null }),
  });
  await press('Share');
  const dialog = await shown('dialog[open]');
  await press('Create a link');
  await shown('[role=alert]');
  mayShare = true;
  await choose('Ends in', '86400');
  await press('Create a link');
  await screen.findByDisplayValue(share.url);
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/share-board.txt');
  expect(askedFor('ShareBoard')).toEqual([
    { id: 'b1', seconds: 604_800 },
    { id: 'b1', seconds: 86_400 },
  ]);
  await press('Revoke');
  await waitFor(() => expect(screen.queryByDisplayValue(share.url)).toBeNull());
  expect(askedFor('UnshareBoard')).toEqual([{ id: 'b1' }]);
});

/** What the browser reports of a drag. */
function drag(type: string, element: Element, data: DataTransfer): Event {
  const event = new Event(type, { bubbles: true, cancelable: true });
  Object.defineProperty(event, 'dataTransfer', { value: data });
  element.dispatchEvent(event);
  return event;
}

const moved = { addToBoard: ({ id }: { readonly id: string }) => board(id, 'Any'), starMedia: ['one'] };

it('files are dragged onto a board, all that are ticked when one of these is taken', async () => {
  const { askedFor, hasAsked } = await open('/gallery', moved);
  await tick('one');
  await tick('three');
  await waitFor(() => expect(selection()?.textContent).toContain('2 selected'));
  const data = new DataTransfer();
  drag('dragstart', document.querySelector('[data-piece=three]') as Element, data);
  expect(data.effectAllowed).toBe('copyMove');
  const plain = link('Work').className;
  expect(drag('dragover', link('Work'), data).defaultPrevented).toBe(true);
  await waitFor(() => expect(link('Work').className).not.toBe(plain));
  drag('dragleave', link('Work'), data);
  await waitFor(() => expect(link('Work').className).toBe(plain));
  drag('dragover', link('Work'), data);
  await waitFor(() => expect(link('Work').className).not.toBe(plain));
  expect(drag('drop', link('Work'), data).defaultPrevented).toBe(true);
  await hasAsked('AddToBoard');
  expect(askedFor('AddToBoard')).toEqual([{ id: 'b2', mediaIds: ['one', 'three'], from: null }]);
  await waitFor(() => expect(link('Work').className).toBe(plain));
  await waitFor(() => expect(selection()).toBeNull());
  expect(pieces()).toEqual(['one', 'two', 'three']);
});

it('files are dragged onto the stars, one alone when it is not ticked', async () => {
  const { askedFor, hasAsked } = await open('/gallery', moved);
  await tick('one');
  await waitFor(() => expect(selection()).not.toBeNull());
  const data = new DataTransfer();
  drag('dragstart', document.querySelector('[data-piece=three]') as Element, data);
  drag('drop', link('Starred'), data);
  await hasAsked('StarMedia');
  expect(askedFor('StarMedia')).toEqual([{ ids: ['three'], starred: true }]);
});

it('files are dragged and nothing else is: a text stays where it is dropped', async () => {
  const { askedFor, hasAsked } = await open('/gallery', moved);
  await screen.findByAltText('a lake, one');
  const data = new DataTransfer();
  data.setData('text/plain', 'words');
  expect(drag('dragover', link('Work'), data).defaultPrevented).toBe(false);
  expect(drag('dragover', link('All files'), data).defaultPrevented).toBe(false);
  drag('drop', link('Starred'), data);
  await hasAsked('StarMedia');
  expect(askedFor('StarMedia')).toEqual([{ ids: [], starred: true }]);
});

const root = {
  addToBoard: ({ id }: { readonly id: string }) => board(id, 'Any'),
  removeFromBoard: ({ id }: { readonly id: string }) => board(id, 'Any'),
  starMedia: [],
};

it('what is ticked is starred, and when all of it is, no more', async () => {
  const { askedFor, hasAsked } = await open('/gallery', root);
  const star = (name: string) => all('button', `Star a lake, ${name}`)[0] as HTMLElement;
  await screen.findByAltText('a lake, one');
  expect(star('two').getAttribute('aria-pressed')).toBe('true');
  fireEvent.click(star('one'));
  await waitFor(() => expect(star('one').getAttribute('aria-pressed')).toBe('true'));
  await tick('two');
  await tick('three');
  await press('Star');
  await find('button', 'Remove star');
  expect(star('three').getAttribute('aria-pressed')).toBe('true');
  await press('Remove star');
  await find('button', 'Star');
  await waitFor(() => expect(star('two').getAttribute('aria-pressed')).toBe('false'));
  expect(star('one').getAttribute('aria-pressed')).toBe('true');
  await hasAsked('StarMedia', 3);
  expect(askedFor('StarMedia')).toEqual([
    { ids: ['one'], starred: true },
    { ids: ['two', 'three'], starred: true },
    { ids: ['two', 'three'], starred: false },
  ]);
});

it('what is ticked moves from the board that is open to another, and leaves it', async () => {
  const { askedFor } = await open('/gallery?board=b1', root);
  await tick('one');
  await find('select', 'Move to a board');
  await expect(outline(selection())).toMatchFileSnapshot('outlines/selection-of-board.txt');
  await choose('Move to a board', '');
  await choose('Move to a board', 'b2');
  await waitFor(() => expect(pieces()).toEqual(['two', 'three']));
  expect(askedFor('AddToBoard')).toEqual([{ id: 'b2', mediaIds: ['one'], from: 'b1' }]);
  expect(selection()).toBeNull();
  await tick('two');
  await press('Take off this board');
  await waitFor(() => expect(pieces()).toEqual(['three']));
  expect(askedFor('RemoveFromBoard')).toEqual([{ id: 'b1', mediaIds: ['two'] }]);
});

it('what is ticked stays ticked where the server refuses to move it', async () => {
  const refuse = () => {
    throw refusal('RATE_LIMITED');
  };
  const { hasAsked } = await open('/gallery?board=b1', {
    ...root,
    addToBoard: refuse,
    removeFromBoard: refuse,
  });
  await tick('one');
  await find('select', 'Move to a board');
  await choose('Move to a board', 'b2');
  await shown('[role=alert]');
  await press('Take off this board');
  await hasAsked('RemoveFromBoard');
  await shown('[role=alert]');
  expect(pieces()).toEqual(['one', 'two', 'three']);
  expect(selection()).not.toBeNull();
});

it('what is ticked is put on a board that is made for it', async () => {
  const { askedFor } = await open('/gallery', {
    ...root,
    createBoard: ({ name }: { readonly name: string }) => board('b9', name),
  });
  await tick('one');
  await find('select', 'Put on a board');
  await choose('Put on a board', 'new');
  submit(await nameIt('Fresh'));
  await waitFor(() => expect(selection()).toBeNull());
  expect(askedFor('CreateBoard')).toEqual([{ name: 'Fresh' }]);
  expect(askedFor('AddToBoard')).toEqual([{ id: 'b9', mediaIds: ['one'], from: null }]);
  expect(pieces()).toEqual(['one', 'two', 'three']);
});
