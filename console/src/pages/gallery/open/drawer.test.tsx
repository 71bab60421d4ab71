import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import {
  createFile,
  createInput,
  createList,
  createModel,
  NEXT_WEEK,
  createTask,
} from '../../../testing/things.ts';
import { all, choose, find, gone, press, shown } from '../../../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../../testing/whole-console.tsx';

afterEach(closeConsole);

const lake = createFile('one');
const film = createFile('film', {
  contentType: 'video/mp4',
  duration: 5.25,
  thumbnail: null,
  name: 'film.mp4',
});
const mine = createFile('mine', {
  task: null,
  contentType: 'audio/wav',
  width: null,
  height: null,
  duration: 2.5,
});
const source = createTask('task-one', {
  input: createInput('a lake, one', {
    options: { aspectRatio: '16:9', seed: 7, options: { deep: true }, odd: 'yes' },
    files: [
      { input: 'images', media: createFile('mine', { task: null }) },
      { input: 'mask', media: null, url: 'https://elsewhere.test/mask' },
      { input: 'odd', media: film },
    ],
  }),
  cost: { amount: 0.25, currency: 'USD', estimated: false },
});
const used = (total: number) => ({
  ...createList([
    createTask('task-two', { kind: 'VIDEO', outputs: [film, createFile('two')] }),
    createTask('task-three', { state: 'RUNNING', outputs: [] }),
  ]),
  totalCount: total,
});

const open = (address: string, root: Fields = {}, options = {}) =>
  openConsole(
    address,
    {
      medias: createList([lake, film, mine]),
      task: source,
      tasks: used(2),
      models: [createModel()],
      ...root,
    },
    options,
  );
const drawer = () => shown('aside');
const pressIn = async (name: string) => press(name, await drawer());

it('the drawer shows a piece large, what it is, what it was made from and what was made from it', async () => {
  const { askedFor } = await open('/gallery?open=one');
  await within(await drawer()).findByText('Made into');
  await within(await drawer()).findByText('Made from');
  await expect(outline(await drawer())).toMatchFileSnapshot('outlines/drawer.txt');
  expect(askedFor('TaskInputs')).toEqual([{ id: 'task-one' }]);
  expect(askedFor('MadeFrom')).toEqual([{ file: 'one', first: 12 }]);
});

it('the drawer shows an upload by its name, without a task', async () => {
  const { askedFor } = await open('/gallery?open=mine', { tasks: createList([]) });
  await expect(outline(await drawer())).toMatchFileSnapshot('outlines/drawer-of-upload.txt');
  expect(askedFor('TaskInputs')).toEqual([]);
});

it('the drawer shows a film that was made in the sandbox, which had no price', async () => {
  await open('/gallery?open=film', {
    task: { ...source, sandbox: true, model: null, provider: null, input: null },
  });
  await waitFor(async () => expect((await drawer()).textContent).toContain('Made into'));
  await expect(outline(await drawer())).toMatchFileSnapshot('outlines/drawer-of-film.txt');
});

it('the drawer shows what the list does not have, found by its id', async () => {
  const { askedFor } = await open('/gallery?open=far', {
    media: createFile('far', { task: null, name: 'far away.png' }),
  });
  expect(within(await drawer()).getByText('far away.png')).toBeTruthy();
  expect(askedFor('PieceById')).toEqual([{ id: 'far' }]);
});

it('the drawer leads from a piece to what it was made from, as no step to go back to', async () => {
  const { address } = await open('/gallery?kind=image&open=one');
  const pushed = vi.spyOn(history, 'pushState');
  await press(/mine.png/, await drawer());
  await waitFor(() => expect(address()).toBe('/gallery?kind=image&open=mine'));
  expect(pushed).not.toHaveBeenCalled();
  pushed.mockRestore();
  await waitFor(async () => expect((await drawer()).textContent).toContain('mine.png'));
});

it('the drawer is closed by its cross, and the filters stay', async () => {
  const { address } = await open('/gallery?kind=image&open=one');
  await shown('aside');
  const pushed = vi.spyOn(history, 'pushState');
  await pressIn('Close');
  await waitFor(() => expect(address()).toBe('/gallery?kind=image'));
  expect(pushed).not.toHaveBeenCalled();
  pushed.mockRestore();
  await gone('aside');
});

it('the drawer shows a piece over the whole window, from which arrows go on to the others', async () => {
  const { address } = await open('/gallery?open=one');
  await pressIn('Zoom');
  const viewer = await find('dialog', 'a lake, one');
  fireEvent.keyDown(viewer, { key: 'ArrowRight' });
  await waitFor(() => expect(address()).toBe('/gallery?open=film'));
  fireEvent.keyDown(await find('dialog', 'a lake, film'), { key: 'ArrowLeft' });
  await waitFor(() => expect(address()).toBe('/gallery?open=one'));
  await press('Close', await shown('dialog'));
  await gone('dialog');
});

it('the drawer takes what a piece was made with into the studio', async () => {
  const { address } = await open('/gallery?open=one');
  await waitFor(async () => expect((await find<HTMLButtonElement>('button', 'Remix')).disabled).toBe(false));
  await pressIn('Remix');
  await waitFor(() => expect(address()).toBe('/?kind=image'));
  expect(await screen.findByDisplayValue('a lake, one')).toBeTruthy();
});

it('the drawer has nothing to take from what was uploaded', async () => {
  await open('/gallery?open=mine');
  expect((await find<HTMLButtonElement>('button', 'Remix')).disabled).toBe(true);
});

it('the drawer deletes its piece after a question, and closes', async () => {
  const { address, askedFor } = await open('/gallery?open=one', { deleteMedia: { id: 'one' } });
  await pressIn('Delete');
  const dialog = await shown('dialog');
  fireEvent.click(dialog.querySelector('footer button') as HTMLElement);
  await waitFor(() => expect(address()).toBe('/gallery'));
  expect(askedFor('DeleteMedia')).toEqual([{ id: 'one' }]);
  await waitFor(() => expect(document.querySelector('[data-piece=one]')).toBeNull());
});

it('the drawer keeps its piece where that can not be deleted', async () => {
  await open('/gallery?open=one', {
    deleteMedia: () => {
      throw refusal('RATE_LIMITED');
    },
  });
  await pressIn('Delete');
  const dialog = await shown('dialog');
  const remove = dialog.querySelector('footer button') as HTMLButtonElement;
  fireEvent.click(remove);
  await shown('dialog [role=alert]');
  expect(remove.disabled).toBe(false);
  await press('Close', dialog);
  await gone('dialog');
  await shown('[data-piece=one]');
});

const share = (id: string) => ({ id, url: `https://kiln.test/shared/${id}`, endsAt: NEXT_WEEK });

it('the addresses of a piece are listed, made for as long as is chosen, and revoked', async () => {
  const shares = [share('s1')];
  const { askedFor } = await open('/gallery?open=one', {
    shares: () => shares,
    shareMedia: () => (shares.push(share('s2')), share('s2')),
    revokeShare: ({ id }: { readonly id: string }) =>
      shares.splice(
        shares.findIndex((one) => one.id === id),
        1,
      )[0],
  });
  await pressIn('Share');
  const field = await screen.findByDisplayValue<HTMLInputElement>(share('s1').url);
  await expect(outline(await shown('dialog'))).toMatchFileSnapshot('outlines/share.txt');
  fireEvent.focus(field);
  expect(field.selectionEnd).toBe(field.value.length);
  const times = [...(await find<HTMLSelectElement>('select', 'Ends in')).options].map(({ value }) => value);
  expect(times).toEqual(['3600', '86400', '604800', '2592000']);
  await choose('Ends in', '2592000');
  await press('Create a link');
  await screen.findByDisplayValue(share('s2').url);
  expect(askedFor('ShareMedia')).toEqual([{ id: 'one', seconds: 2_592_000 }]);
  fireEvent.click(all('button', 'Revoke')[0] as HTMLElement);
  await waitFor(() => expect(screen.queryByDisplayValue(share('s1').url)).toBeNull());
  expect(askedFor('RevokeShare')).toEqual([{ id: 's1' }]);
  expect(askedFor('Shares')).toEqual([{ mediaId: 'one' }, { mediaId: 'one' }, { mediaId: 'one' }]);
});

it('the addresses of a piece say why none could be made', async () => {
  await open('/gallery?open=one', {
    shares: [],
    shareMedia: () => {
      throw refusal('RATE_LIMITED');
    },
  });
  await pressIn('Share');
  await press('Create a link');
  expect(await shown('dialog [role=alert]')).toBeTruthy();
});
