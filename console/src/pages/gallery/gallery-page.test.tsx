import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago, createFile, createList, createTask } from '../../testing/things.ts';
import { find, press, shown, submit, write } from '../../testing/use.ts';
import { ADMINISTRATOR, closeConsole, openConsole, refusal } from '../../testing/whole-console.tsx';

afterEach(closeConsole);

const FILES = [
  createFile('one'),
  createFile('two', { starred: true, createdAt: ago(3_600) }),
  createFile('film', { contentType: 'video/mp4', duration: 5, createdAt: ago(7_200) }),
  createFile('sound', {
    contentType: 'audio/wav',
    duration: 2.5,
    width: null,
    height: null,
    createdAt: ago(90_000),
  }),
  createFile('mine', { task: null, thumbnail: null, createdAt: ago(200_000) }),
];
const DAY = 86_400;

const tick = (name: string) => find('[role=checkbox]', `Select ${name}`);
const ticked = () =>
  [...document.querySelectorAll('[data-piece]:has([role=checkbox][aria-checked=true])')].map((each) =>
    each.getAttribute('data-piece'),
  );
const search = async (words: string) => submit(await write('Search prompts', words));

it('the gallery shows what was made, newest first, each day under its name', async () => {
  const { askedFor } = await openConsole('/gallery', { medias: createList(FILES) });
  await screen.findByAltText('mine.png');
  await expect(outline()).toMatchFileSnapshot('outlines/gallery.txt');
  expect(askedFor('Gallery')).toEqual([{ filter: {}, first: 200, after: null }]);
  expect(screen.getByText('5')).toBeTruthy();
});

it('the gallery says while it is loaded that it is, and what has gone wrong', async () => {
  let answer: (why: unknown) => void = () => undefined;
  const { hasAsked } = await openConsole('/gallery', {
    medias: () => new Promise((_, reject) => (answer = reject)),
  });
  await hasAsked('Gallery');
  await waitFor(() => expect(document.querySelector('main [aria-busy=true]')).not.toBeNull());
  expect(screen.queryByText('Nothing made yet')).toBeNull();
  answer(refusal('RATE_LIMITED'));
  const { textContent } = await shown('[role=alert]');
  await waitFor(() => expect(document.querySelector('main [aria-busy=true]')).toBeNull());
  expect(textContent).not.toBe('');
  expect(document.querySelector('main h2')).toBeNull();
});

it('the gallery leads to the studio from an empty gallery, but not from filters that nothing fits', async () => {
  await openConsole('/gallery', { medias: createList([]) });
  await screen.findByText('Nothing here yet');
  await waitFor(() => expect(document.querySelector('[data-grid]')).not.toBeNull());
  await expect(outline()).toMatchFileSnapshot('outlines/gallery-empty.txt');
  await press('Videos');
  await screen.findByText('Nothing matches');
  await expect(outline()).toMatchFileSnapshot('outlines/gallery-no-match.txt');
});

it('the gallery asks for what its address narrows it by', async () => {
  const narrowing = 'generator=lakes&model=large&owner=usr_b&from=2026-08-01&to=2026-08-31';
  const { askedFor } = await openConsole(
    `/gallery?kind=video&find=fox&board=b1&starred=true&${narrowing}&open=one&view=other`,
    { ...ADMINISTRATOR, medias: createList(FILES), media: FILES[0], task: createTask('task-one') },
  );
  await screen.findByAltText('mine.png');
  expect(askedFor('Gallery')).toEqual([
    {
      filter: {
        kinds: ['VIDEO'],
        text: 'fox',
        board: 'b1',
        starred: true,
        generator: 'lakes',
        model: 'large',
        owner: 'usr_b',
        createdAfter: '2026-08-01T00:00:00.000Z',
        createdBefore: '2026-09-01T00:00:00.000Z',
      },
      first: 200,
      after: null,
    },
  ]);
});

it('the gallery keeps each filter while another is changed, and closes what is open', async () => {
  const { address, askedFor } = await openConsole(
    '/gallery?find=fox&board=b1&starred=true&model=large&open=two',
    { medias: createList(FILES) },
  );
  const isAt = (filters: object) =>
    waitFor(() => expect(Object.fromEntries(new URLSearchParams(address().split('?')[1]))).toEqual(filters));
  const board = { board: 'b1', starred: 'true' };
  await screen.findByAltText('mine.png');
  // Each at once after the other: the page has not been drawn for the first.
  await press('Videos');
  await search(' bear ');
  await isAt({ ...board, kind: 'video', find: 'bear', model: 'large' });
  await press(/large/);
  await isAt({ ...board, kind: 'video', find: 'bear' });
  await press('All');
  await isAt({ ...board, find: 'bear' });
  await waitFor(() =>
    expect(askedFor('Gallery').at(-1)?.['filter']).toEqual({ text: 'bear', board: 'b1', starred: true }),
  );
  await search('');
  await isAt(board);
});

it('the gallery is of the size that was chosen, which this browser remembers', async () => {
  await openConsole('/gallery', { medias: createList(FILES) });
  await screen.findByAltText('mine.png');
  const height = () => document.querySelector<HTMLElement>('[data-piece=mine]')?.style.height;
  expect(height()).toBe('196px');
  await press('Large');
  await waitFor(() => expect(height()).toBe(`${196 * 1.6}px`));
  expect(localStorage.getItem('kiln.gallery')).toBe('large');
  await press('Small');
  await waitFor(() => expect(height()).toBe(`${196 * 0.65}px`));
  expect((await find('button', 'Small')).getAttribute('aria-pressed')).toBe('true');
});

it.each([
  ['small', `${196 * 0.65}px`],
  ['huge', '196px'],
])('the gallery opens in the size %s of before', async (size, height) => {
  localStorage.setItem('kiln.gallery', size);
  await openConsole('/gallery', { medias: createList(FILES) });
  await screen.findByAltText('mine.png');
  expect(document.querySelector<HTMLElement>('[data-piece=mine]')?.style.height).toBe(height);
});

it('ticks select one, a range from the last one in either direction, and are taken away', async () => {
  await openConsole('/gallery', { medias: createList(FILES) });
  fireEvent.click(await tick('a lake, two'), { shiftKey: true });
  await waitFor(() => expect(ticked()).toEqual(['two']));
  fireEvent.click(await tick('a lake, sound'), { shiftKey: true });
  await waitFor(() => expect(ticked()).toEqual(['two', 'film', 'sound']));
  fireEvent.click(await tick('a lake, film'));
  await waitFor(() => expect(ticked()).toEqual(['two', 'sound']));
  fireEvent.click(await tick('a lake, one'), { shiftKey: true });
  await waitFor(() => expect(ticked()).toEqual(['one', 'two', 'film', 'sound']));
  await expect(outline(await shown('[role=region]'))).toMatchFileSnapshot('outlines/selection.txt');
  await press('Clear');
  await waitFor(() => expect(ticked()).toEqual([]));
  expect(document.querySelector('[role=region]')).toBeNull();
});

it('ticks begin a range anew where its first one is not shown any more', async () => {
  const { address } = await openConsole('/gallery', {
    medias: ({ filter }: { readonly filter: { readonly kinds?: unknown } }) =>
      createList(filter.kinds ? FILES.slice(0, 3) : FILES),
  });
  fireEvent.click(await tick('mine.png'));
  await waitFor(() => expect(ticked()).toEqual(['mine']));
  await press('Images');
  await waitFor(() => expect(address()).toBe('/gallery?kind=image'));
  await waitFor(() => expect(document.querySelector('[data-piece=mine]')).toBeNull());
  fireEvent.click(await tick('a lake, two'), { shiftKey: true });
  await waitFor(() => expect(ticked()).toEqual(['one', 'two']));
});

it('ticks are deleted together, and what was open with them', async () => {
  const deleteMedia = ({ id }: { readonly id: string }) => ({ id });
  const { address, askedFor } = await openConsole('/gallery?open=two', {
    medias: createList(FILES),
    deleteMedia,
  });
  fireEvent.click(await tick('a lake, two'));
  fireEvent.click(await tick('mine.png'));
  await press('Delete', await shown('[role=region]'));
  const dialog = await shown('dialog');
  await expect(outline(dialog)).toMatchFileSnapshot('outlines/delete.txt');
  fireEvent.click(dialog.querySelector('footer button') as HTMLElement);
  await waitFor(() => expect(address()).toBe('/gallery'));
  await waitFor(() => expect(document.querySelector('[data-piece=two]')).toBeNull());
  expect(askedFor('DeleteMedia')).toEqual([{ id: 'two' }, { id: 'mine' }]);
  expect(document.querySelectorAll('[data-piece]')).toHaveLength(3);
  expect(document.querySelector('dialog')).toBeNull();
  expect(screen.getByText('3')).toBeTruthy();
});

it('ticks stay for what could not be deleted, with the reason', async () => {
  const deleteMedia = ({ id }: { readonly id: string }) => {
    if (id === 'two') throw refusal('RATE_LIMITED');
    return { id };
  };
  const { address } = await openConsole('/gallery?open=two', { medias: createList(FILES), deleteMedia });
  for (const name of ['one', 'two', 'film']) fireEvent.click(await tick(`a lake, ${name}`));
  await press('Delete', await shown('[role=region]'));
  const remove = (await shown('dialog')).querySelector<HTMLButtonElement>('footer button');
  if (remove === null) throw new Error('there is no way to delete');
  fireEvent.click(remove);
  await waitFor(() => expect(remove.disabled).toBe(true));
  await waitFor(() => expect(document.querySelector('[data-piece=one]')).toBeNull());
  expect(document.querySelector('[data-piece=film]')).not.toBeNull();
  expect(address()).toBe('/gallery?open=two');
  expect((await shown('dialog [role=alert]')).textContent).not.toBe('');
  expect((await shown('[role=region] [role=status]')).textContent).toBe('2 selected');
});

it('what somebody has deleted before counts as deleted', async () => {
  const deleteMedia = ({ id }: { readonly id: string }) => (id === 'one' ? refusal('NOT_FOUND') : { id });
  const { askedFor } = await openConsole('/gallery', { medias: createList(FILES), deleteMedia });
  for (const name of ['one', 'two']) fireEvent.click(await tick(`a lake, ${name}`));
  await press('Delete', await shown('[role=region]'));
  fireEvent.click((await shown('dialog')).querySelector('footer button') as HTMLElement);
  await waitFor(() => expect(document.querySelector('dialog')).toBeNull());
  expect(document.querySelectorAll('[data-piece=one], [data-piece=two]')).toHaveLength(0);
  expect(askedFor('DeleteMedia')).toHaveLength(2);
});

it('loads the next page before its end is reached, once', async () => {
  const many = (from: number) =>
    Array.from({ length: 200 }, (_, at) =>
      createFile(`f${from + at}`, { createdAt: ago(DAY * 0.001 * (from + at)) }),
    );
  const { askedFor, hasAsked } = await openConsole('/gallery', {
    medias: ({ after }: { readonly after: string | null }) =>
      after === null ? createList(many(0), 'c1', 210) : createList(many(200).slice(0, 10), null, 210),
  });
  await screen.findByAltText('a lake, f0');
  expect(screen.getByText('210')).toBeTruthy();
  expect(askedFor('Gallery')).toHaveLength(1);
  Object.defineProperty(window, 'scrollY', { value: 9_000, configurable: true });
  fireEvent.scroll(window);
  await hasAsked('Gallery', 2);
  expect(askedFor('Gallery')[1]).toEqual({ filter: {}, first: 200, after: 'c1' });
  await screen.findByAltText('a lake, f209');
  expect(askedFor('Gallery')).toHaveLength(2);
  Object.defineProperty(window, 'scrollY', { value: 0, configurable: true });
});
