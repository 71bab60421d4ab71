import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { afterPause, aModel, collects, openStudio, readTexts, type } from '../../../testing/studio.ts';
import { ago } from '../../../testing/things.ts';
import { holdUploads } from '../../../testing/uploads.ts';
import { press } from '../../../testing/use.ts';
import { closeConsole, type Fields, refusal } from '../../../testing/whole-console.tsx';
import {
  endPending,
  findPending,
  keepChats,
  keptChats,
  noteConversation,
  notePending,
} from './kept-chats.ts';

afterEach(closeConsole);

const models = [aModel('wise', { kinds: ['CHAT'], generator: 'llm', inputs: ['image', 'audio'] })];
const conversation = (id: string, change: Fields = {}) => ({
  id,
  title: `About ${id}`,
  generator: 'llm',
  model: 'wise',
  system: 'short',
  temperature: 0.5,
  maxTokens: 9,
  options: { a: 1 },
  currentId: 'm9',
  revision: `r-${id}`,
  updatedAt: ago(60),
  ...change,
});
const messages = [
  { id: 'q1', parentId: null, role: 'USER', text: 'hot?', createdAt: ago(9) },
  { id: 'm9', parentId: 'q1', role: 'ASSISTANT', text: 'yes', createdAt: ago(8), model: 'wise' },
];
const open = async (address: string, root: Fields = {}, options = {}) => {
  const conversations = [conversation('c1'), conversation('c2')];
  const opened = await openStudio(
    address,
    {
      models,
      conversations,
      conversation: ({ id }: { readonly id: string }) => conversation(id),
      conversationMessages: messages,
      ...root,
    },
    options,
  );
  await screen.findByLabelText('Your message');
  return opened;
};
const links = () => [...document.querySelectorAll('aside a')].map((link) => link.getAttribute('title'));
const dialog = () => screen.findByRole('dialog');

it('lists conversations, marks the open one, opens another and begins a new one', async () => {
  const { address, askedFor } = await open('/?kind=chat&chat=c1');
  await waitFor(() => expect(links()).toEqual(['About c1', 'About c2']));
  expect(askedFor('Conversations')).toEqual([{ first: 50 }]);
  await expect(outline(document.querySelector('aside'))).toMatchFileSnapshot('outlines/history.txt');
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(2));
  fireEvent.click(screen.getByRole('link', { name: /^About c2/ }));
  await waitFor(() => expect(address()).toBe('/?kind=chat&chat=c2'));
  await waitFor(() => expect(askedFor('OneConversation').at(-1)).toEqual({ id: 'c2' }));
  fireEvent.click(screen.getAllByRole('button', { name: 'New conversation' })[0] ?? document.body);
  await waitFor(() => expect(address()).toBe('/?kind=chat'));
  await waitFor(() => expect(readTexts('[data-said]')).toEqual([]));
});

it('is shown in a dialog where there is no room for it, which closes when one is chosen', async () => {
  const { address } = await open('/?kind=chat');
  await press('Conversations');
  fireEvent.click(await within(await dialog()).findByRole('link', { name: /^About c2/ }));
  await waitFor(() => expect(address()).toBe('/?kind=chat&chat=c2'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await press('Conversations');
  fireEvent.click(within(await dialog()).getByRole('button', { name: 'New conversation' }));
  await waitFor(() => expect(address()).toBe('/?kind=chat'));
  expect(screen.queryByRole('dialog')).toBeNull();
  await press('Conversations');
  fireEvent(await dialog(), new Event('close'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

it('searches once the words rest, and says that there is nothing', async () => {
  const { askedFor, hasAsked } = await open('/?kind=chat', { conversations: () => [] });
  await screen.findByText('Your conversations will be listed here.');
  await afterPause(249, () => type('Search conversations', 'clay'));
  expect(askedFor('Conversations')).toHaveLength(1);
  await afterPause(250, () => type('Search conversations', ' glaze '));
  await hasAsked('Conversations', 2);
  expect(askedFor('Conversations')[1]).toEqual({ first: 50, search: 'glaze' });
  await screen.findByText('No conversation has these words.');
});

it('loads those before, after a full page', async () => {
  const pageFrom = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => conversation(`n${from + at}`));
  const { field, given } = collects((count) => (count === 1 ? pageFrom(0, 50) : pageFrom(50, 3)));
  await open('/?kind=chat', { conversations: field });
  await waitFor(() => expect(links()).toHaveLength(50));
  await press('Show more');
  await waitFor(() => expect(links()).toHaveLength(53));
  expect(given[1]).toEqual({ first: 50, after: 'r-n49' });
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
});

it('asks for those before once, however often that is pressed', async () => {
  const older = Promise.withResolvers<readonly Fields[]>();
  const many = Array.from({ length: 50 }, (_, at) => conversation(`n${at}`));
  const { field, given } = collects((count) => (count === 1 ? many : older.promise));
  await open('/?kind=chat', { conversations: field });
  await press('Show more');
  await waitFor(() => expect(given).toHaveLength(2));
  await press('Show more');
  older.resolve([conversation('older')]);
  await waitFor(() => expect(links()).toHaveLength(51));
  expect(given).toHaveLength(2);
});

it('says why those before can not be loaded', async () => {
  const many = Array.from({ length: 50 }, (_, at) => conversation(`n${at}`));
  await open('/?kind=chat', {
    conversations: ({ after }: Fields) => (after === undefined ? many : refusal('UNAVAILABLE')),
  });
  await press('Show more');
  await waitFor(() => expect(document.querySelector('aside [role=alert]')).not.toBeNull());
  expect(links()).toHaveLength(50);
});

it('finds those of a visitor by the ids that this browser keeps', async () => {
  const { field, given } = collects(() => [conversation('c1')]);
  const caller = { id: 'anon', kind: 'ANONYMOUS', mayStart: true };
  await open('/?kind=chat', { conversations: field, caller, viewer: null }, { isVisitor: true });
  await waitFor(() => expect(links()).toEqual(['About c1']));
  keepChats({ ids: ['c1'] });
  await afterPause(250, () => type('Search conversations', 'clay'));
  await waitFor(() => expect(given.at(-1)).toEqual({ first: 50, ids: ['c1'], search: 'clay' }));
  expect(given[0]).toEqual({ first: 50, ids: [] });
});

it('says why conversations can not be listed', async () => {
  await open('/?kind=chat', { conversations: () => refusal('UNAVAILABLE') });
  await waitFor(() => expect(document.querySelector('aside [role=alert]')).not.toBeNull());
  expect(screen.queryByText('Your conversations will be listed here.')).toBeNull();
});

it('renames a conversation with all else of it as it was', async () => {
  const { given, field } = collects((count) =>
    count === 1 ? refusal('UNAVAILABLE') : conversation('c1', { title: 'Clay' }),
  );
  const { hasAsked } = await open('/?kind=chat', { saveConversation: field });
  await press('Rename “About c1”');
  type('Name', ' ');
  expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'Save' })).disabled).toBe(true);
  type('Name', 'Clay');
  await expect(outline(await dialog())).toMatchFileSnapshot('outlines/rename.txt');
  await press('Save');
  await within(await dialog()).findByRole('alert');
  await press('Save');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const { id: _, revision: __, updatedAt: ___, ...same } = conversation('c1');
  expect(given[1]).toEqual({ id: 'c1', input: { ...same, title: 'Clay' } });
  await hasAsked('Conversations', 2);
});

it('deletes a conversation, forgets it and leaves it where it is open', async () => {
  const { given, field } = collects((count) => (count === 1 ? refusal('UNAVAILABLE') : conversation('c1')));
  const { address, hasAsked } = await open('/?kind=chat&chat=c1', { deleteConversation: field });
  keepChats({ ids: ['c1', 'c2'] });
  await press('Delete “About c1”');
  await expect(outline(await dialog())).toMatchFileSnapshot('outlines/delete.txt');
  await press('Delete');
  await within(await dialog()).findByRole('alert');
  expect([address(), keptChats().ids]).toEqual(['/?kind=chat&chat=c1', ['c1', 'c2']]);
  await press('Delete');
  await waitFor(() => expect(address()).toBe('/?kind=chat'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect([given.map(({ id }) => id), keptChats().ids]).toEqual([['c1', 'c1'], ['c2']]);
  await hasAsked('Conversations', 2);
  await press('Delete “About c2”');
  fireEvent(await dialog(), new Event('close'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

it('exports what is shown as Markdown, and all of it as JSON', async () => {
  const saved: { name: string; text: Promise<string>; type: string }[] = [];
  let file = new Blob();
  const make = vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
    file = blob as Blob;
    return 'blob:x';
  });
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function click(
    this: HTMLAnchorElement,
  ) {
    saved.push({ name: this.download, text: file.text(), type: file.type });
  });
  await open('/?kind=chat&chat=c1');
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(2));
  await press('As Markdown');
  await press('As JSON, with all versions');
  expect(saved.map(({ name, type: of }) => [name, of])).toEqual([
    ['About-c1.md', 'text/markdown'],
    ['About-c1.json', 'application/json'],
  ]);
  expect(await saved[0]?.text).toBe('# About c1\n\n## You\n\nhot?\n\n## Model (wise)\n\nyes\n');
  expect(JSON.parse((await saved[1]?.text) ?? '')).toMatchObject({
    title: 'About c1',
    messages: [{ id: 'q1' }, { id: 'm9' }],
  });
  make.mockRestore();
  click.mockRestore();
});

it('attaches files by choice, drop and paste, and sends nothing before they are there', async () => {
  const uploads = holdUploads();
  const { given, field } = collects(() => conversation('new'));
  await open('/?kind=chat', { saveConversation: field });
  const area = screen.getByLabelText('Your message');
  const bytes = (name: string) =>
    new File([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1)], name, { type: 'image/png' });
  const drop = (...files: readonly File[]) => {
    const dataTransfer = new DataTransfer();
    for (const one of files) dataTransfer.items.add(one);
    return dataTransfer;
  };
  expect(fireEvent.dragOver(area)).toBe(false);
  expect(fireEvent.drop(area, { dataTransfer: drop(bytes('a.png')) })).toBe(false);
  await waitFor(() => expect(uploads).toHaveLength(1));
  uploads[0]?.send(40);
  await waitFor(() => expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('40'));
  const send = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Send' });
  type('Your message', 'look');
  expect(send().disabled).toBe(true);
  fireEvent.keyDown(area, { key: 'Enter' });
  expect(given).toEqual([]);
  uploads[0]?.store('f1');
  await waitFor(() => expect(readTexts('[data-file]')).toHaveLength(1));
  expect([screen.queryByRole('progressbar'), send().disabled]).toEqual([null, false]);
  fireEvent.paste(area, { clipboardData: drop(bytes('b.png')) });
  await waitFor(() => expect(uploads).toHaveLength(2));
  uploads[1]?.store('f2');
  await waitFor(() => expect(readTexts('[data-file]')).toHaveLength(2));
  fireEvent.click(screen.getAllByLabelText('Remove the file')[0] ?? document.body);
  expect(readTexts('[data-file]')).toHaveLength(1);
  fireEvent.paste(area, { clipboardData: drop() });
  fireEvent.paste(area, { clipboardData: drop(bytes('c.png')) });
  await waitFor(() => expect(uploads).toHaveLength(3));
  fireEvent.click(screen.getByRole('button', { name: 'Add files' }));
  await waitFor(() => expect(uploads[2]?.isAborted()).toBe(true));
  await waitFor(() => expect(screen.queryByRole('progressbar')).toBeNull());
  expect(fireEvent.keyDown(area, { key: 'Enter', isComposing: true })).toBe(true);
  expect(fireEvent.keyDown(area, { key: 'Enter' })).toBe(false);
  await waitFor(() => expect(given).toHaveLength(1));
  expect(given[0]).toMatchObject({ input: { messages: [{ text: 'look', mediaIds: ['f2'] }] } });
  expect(uploads[0]?.operations.variables['listed']).toBe(true);
  fireEvent.drop(area, { dataTransfer: drop(...Array.from({ length: 11 }, (_, at) => bytes(`${at}.png`))) });
  expect((await screen.findByRole('alert')).textContent).toBe('This takes no more files.');
});

it('keeps what other tabs begin and wait for, and forgets what they end', () => {
  keepChats({ words: 'mine', ids: ['c1'], pending: [] });
  // Another tab has the storage alone in common with this one.
  const stored = () =>
    JSON.parse(localStorage.getItem('kiln.chats') ?? '') as [{ value: object; at: number }];
  const [entry] = stored();
  const theirs = { words: 'theirs', ids: ['c2', 'c1'], pending: [{ question: 'q', answer: 'a' }] };
  localStorage.setItem('kiln.chats', JSON.stringify([{ ...entry, at: entry.at + 1, value: theirs }]));
  keepChats({ words: 'mine too' });
  expect(keptChats()).toMatchObject({ ...theirs, words: 'mine too' });
  expect(stored()[0].value).toMatchObject({ ...theirs, words: 'mine too' });
});

it('keeps what is typed, and a bounded number of what is begun and pending', () => {
  keepChats({ words: 'half a', ids: [], pending: [] });
  expect(keptChats().words).toBe('half a');
  for (let at = 0; at < 102; at += 1) noteConversation(`c${at}`);
  noteConversation('c50');
  expect([keptChats().ids.length, keptChats().ids[0], keptChats().ids.at(-1)]).toEqual([100, 'c101', 'c2']);
  for (let at = 0; at < 21; at += 1) notePending(`q${at}`, `a${at}`);
  expect([keptChats().pending.length, findPending('q0'), findPending('q1'), findPending('q20')]).toEqual([
    20,
    undefined,
    'a1',
    'a20',
  ]);
  endPending('a20');
  expect([findPending('q20'), keptChats().pending.length]).toEqual([undefined, 19]);
});
