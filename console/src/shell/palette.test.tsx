import { fireEvent, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../testing/outline.ts';
import { afterPause } from '../testing/studio.ts';
import { ago, createFile, createInput, createList, createTask } from '../testing/things.ts';
import { all, find, gone, key, shown } from '../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../testing/whole-console.tsx';
import { t } from '../text/text.ts';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeConsole();
});

const FOUND = {
  tasks: createList([
    createTask('t1', { input: createInput('a lake'), createdAt: ago(120) }),
    createTask('t2', { input: null, state: 'FAILED', kind: 'VIDEO' }),
  ]),
  medias: createList([
    createFile('one', {
      task: createTask('t9', { input: createInput('a lake by night') }),
      createdAt: ago(240),
    }),
    createFile('mine', { task: null, thumbnail: null, name: 'lake.png' }),
  ]),
};

async function open(root: Fields = {}, options = {}) {
  const opened = await openConsole(
    '/models',
    {
      templatesConnection: createList([{ code: 'poster', name: 'The poster', id: 'poster' }]),
      ...FOUND,
      ...root,
    },
    options,
  );
  await find('h1', 'Models');
  key('k', { ctrlKey: true });
  const input = await shown<HTMLInputElement>('dialog[open] input');
  return { ...opened, input, type: (words: string) => fireEvent.input(input, { target: { value: words } }) };
}
const commands = () => all('[data-command]', /./).map(({ textContent }) => textContent);
const run = async (name: RegExp) => fireEvent.click(await find('[data-command]', name));

it('has pages, kinds of work, templates and actions', async () => {
  await open();
  await find('[data-command]', /The poster/);
  await expect(outline(await shown('dialog'))).toMatchFileSnapshot('outlines/palette.txt');
});

it.each([
  [/^Gallery/, '/gallery'],
  [/^New: [Vv]ideo/, '/?kind=video'],
  [/^The poster/, '/shop?template=poster'],
])('goes to %s', async (name, to) => {
  const { address } = await open();
  await run(name);
  await gone('dialog');
  await waitFor(() => expect(address()).toBe(to));
});

it('does what is done from everywhere', async () => {
  vi.spyOn(location, 'reload').mockImplementation(() => undefined);
  await open();
  await run(/^简体中文/);
  expect(localStorage.getItem('kiln.language')).toBe('zh');
  await gone('dialog');
  key('k', { ctrlKey: true });
  await run(/^Light or dark/);
  expect(document.documentElement.dataset['theme']).toBe('dark');
  delete document.documentElement.dataset['theme'];
  await gone('dialog');
  key('k', { ctrlKey: true });
  await run(/^Keyboard shortcuts/);
  await find('dialog h2', 'Keyboard shortcuts');
});

it('signs out, and lets a visitor sign in', async () => {
  await open();
  await run(/^Sign out/);
  await gone('dialog');
  const assign = vi.spyOn(location, 'assign').mockImplementation(() => undefined);
  key('k', { ctrlKey: true });
  await run(/^Sign in$/);
  await waitFor(() => expect(assign).toHaveBeenCalled());
});

it('finds a task or a file by its id', async () => {
  const id = '0198a000-0000-7000-8000-00000000000A';
  const { type, askedFor, address } = await open({
    task: createTask(id, { input: createInput('by id') }),
    media: null,
  });
  await afterPause(200, () => type(id));
  await find('[data-command]', /^by id/);
  expect([askedFor('FindById'), askedFor('Find')]).toEqual([[{ id }], []]);
  await run(/^by id/);
  await waitFor(() => expect(address()).toBe(`/tasks/${id}`));
});

it.each([
  [/^a lake(?! by)/, '/tasks/t1'],
  [/^a lake by night/, '/gallery?open=one'],
  [/^lake\.png/, '/gallery?open=mine'],
])('finds %s by its words, and goes there', async (name, to) => {
  const { type, askedFor, address } = await open();
  await afterPause(200, () => type('lake'));
  await find('[data-command]', name);
  expect(askedFor('Find')).toMatchObject([{ text: 'lake' }]);
  await run(name);
  await waitFor(() => expect(address()).toBe(to));
});

it('says that nothing is found, and looks for nothing of a visitor by words', async () => {
  const { type, askedFor } = await open(
    { caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true }, viewer: null },
    { isVisitor: true },
  );
  await afterPause(200, () => type('zzzz'));
  await waitFor(() => expect(commands()).toEqual([]));
  expect((await shown('dialog')).textContent).toContain('No results');
  expect(askedFor('Find')).toEqual([]);
});

it('says that it is looking, and why it could not look', async () => {
  let refuse: (why: Error) => void = () => undefined;
  const { type } = await open({ tasks: () => new Promise((_, reject) => (refuse = reject)) });
  await afterPause(200, () => type('zzzz'));
  const dialog = await shown('dialog');
  await waitFor(() => expect(dialog.textContent).toContain('Loading'));
  refuse(refusal('UNAVAILABLE'));
  await waitFor(() => expect(dialog.textContent).toContain(t('refusal.UNAVAILABLE')));
  expect(dialog.textContent).not.toContain('No results');
});
