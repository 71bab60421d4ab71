import { waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { keepBatches, aBatch } from '../testing/studio.ts';
import { ago, createFile, createList, createTask, told } from '../testing/things.ts';
import { all, find, press, shown } from '../testing/use.ts';
import { ADMINISTRATOR, closeConsole, type Fields, openConsole, refusal } from '../testing/whole-console.tsx';

afterEach(async () => {
  await closeConsole();
  keepBatches([]);
});

const pieces = () =>
  [...document.querySelectorAll<HTMLElement>('[data-piece]')]
    .map(({ dataset }) => dataset['piece'])
    .join(' ');
const total = () => document.querySelector('header h1 + span')?.textContent;
const file = (id: string, seconds: number, change: Fields = {}) =>
  createFile(id, { createdAt: ago(seconds), ...change });
const LISTED = [file('b', 20), file('d', 40)];
/** Files as a feed tells them: all that is asked of them. */
const made = (...files: readonly Fields[]) => ({
  outputs: files.map(({ id, url, contentType, bytes, sha256, width, height, createdAt, name }) => ({
    __typename: 'Media',
    id,
    url,
    contentType,
    bytes,
    sha256,
    width,
    height,
    createdAt,
    name,
    duration: null,
    thumbnail: null,
    small: null,
    large: null,
  })),
});

async function follow(address: string, root: Fields = {}) {
  const opened = await openConsole(address, { medias: createList(LISTED), ...root });
  await shown('[data-piece=d]');
  const tell = async (...events: readonly Fields[]) => {
    for (const event of events) await waitFor(() => expect(opened.push('tasksProgress', event)).toBe(1));
  };
  return { ...opened, tell };
}

it('puts what tasks have just made in its place, once, and counts it', async () => {
  const { tell } = await follow('/gallery');
  expect(total()).toBe('2');
  await tell(
    told('t1', made(file('c', 30), file('a', 10))),
    told('t2', { state: 'RUNNING', ...made(file('x', 5)) }),
  );
  await waitFor(() => expect(pieces()).toBe('a b c d'));
  expect(total()).toBe('4');
  await tell(told('t1', made(file('c', 30), file('a', 10), file('b', 20))), told('t3', made(file('e', 50))));
  await waitFor(() => expect(pieces()).toBe('a b c d e'));
  expect(total()).toBe('5');
});

it('leaves what is older to pages that are not loaded', async () => {
  const { tell } = await follow('/gallery', {
    medias: ({ after }: { readonly after: string | null }) =>
      after === null ? createList(LISTED, 'c1', 9) : new Promise(() => undefined),
  });
  await tell(told('t1', made(file('e', 50), file('c', 30))));
  await waitFor(() => expect(pieces()).toBe('b c d'));
  expect(total()).toBe('10');
});

const prompt = (words: string | null) => ({ input: words === null ? null : { prompt: words } });

it.each<readonly [string, Fields, Fields]>([
  ['kind=image', made(file('fits', 1)), made(file('other', 1, { contentType: 'video/mp4' }))],
  ['owner=usr_ada', made(file('fits', 1)), { ...made(file('other', 1)), owner: 'usr_b' }],
  ['generator=lakes', made(file('fits', 1)), { ...made(file('other', 1)), generator: 'seas' }],
  ['model=large', made(file('fits', 1)), { ...made(file('other', 1)), model: 'small' }],
  [
    'find=LAKE',
    { ...made(file('fits', 1)), ...prompt('The Lake') },
    { ...made(file('other', 1)), ...prompt('the sea') },
  ],
  [
    'find=lake',
    { ...made(file('fits', 1)), ...prompt('a lake') },
    { ...made(file('other', 1)), ...prompt(null) },
  ],
  [
    'from=2026-09-01',
    made(file('fits', 1, { createdAt: '2026-09-01T00:00:00.001Z' })),
    made(file('other', 1, { createdAt: '2026-09-01T00:00:00.000Z' })),
  ],
  [
    'to=2026-09-01',
    made(file('fits', 1, { createdAt: '2026-09-01T23:59:59.999Z' })),
    made(file('other', 1, { createdAt: '2026-09-02T00:00:00.000Z' })),
  ],
])('has of what is made only what fits %s', async (filter, fits, other) => {
  const { tell } = await follow(`/gallery?${filter}`, ADMINISTRATOR);
  await tell(told('t1', other), told('t2', fits));
  await shown('[data-piece=fits]');
  expect(document.querySelector('[data-piece=other]')).toBeNull();
});

it('takes what visitors make for theirs, whose owner has no id', async () => {
  const { tell } = await follow('/gallery?owner=anon', ADMINISTRATOR);
  await tell(told('t1', { ...made(file('fits', 1)), owner: null }));
  await waitFor(() => expect(pieces()).toBe('fits b d'));
});

it.each(['board=b1', 'starred=true'])('has nothing new where it shows %s', async (filter) => {
  const { tell } = await follow(`/gallery?${filter}`);
  await tell(told('t1', made(file('x', 1))), told('t2', { state: 'RUNNING' }));
  // A feed is passed on at once or not at all: what follows it is there by then.
  await press('Large');
  await waitFor(() => expect(all('button', 'Large')[0]?.getAttribute('aria-pressed')).toBe('true'));
  expect(pieces()).toBe('b d');
});

it('forgets what is deleted, listed or just made', async () => {
  const { tell } = await follow('/gallery', { deleteMedia: { id: 'a' } });
  await tell(told('t1', made(file('a', 10))));
  await waitFor(() => expect(total()).toBe('3'));
  for (const name of [/^Select a lake, t1/, /^Select a lake, b/]) await press(name, document);
  await press('Delete', await shown('[role=region]'));
  (await shown('dialog footer button')).click();
  await waitFor(() => expect(pieces()).toBe('d'));
  expect(total()).toBe('1');
});

it('drops the answer to a filter that is not wanted any more', async () => {
  let answer: (list: Fields) => void = () => undefined;
  const { hasAsked } = await openConsole('/gallery', {
    medias: ({ filter }: { readonly filter: { readonly kinds?: unknown } }) =>
      filter.kinds ? createList([file('film', 1)]) : new Promise((resolve) => (answer = resolve)),
  });
  await hasAsked('Gallery');
  await press('Videos');
  await shown('[data-piece=film]');
  answer(createList(LISTED));
  await find('button', 'Videos');
  expect(pieces()).toBe('film');
});

it('says what has failed, and begins anew with another filter', async () => {
  await openConsole('/gallery', {
    medias: ({ filter }: { readonly filter: { readonly kinds?: unknown } }) => {
      if (!filter.kinds) throw refusal('RATE_LIMITED');
      return createList(LISTED);
    },
  });
  await shown('main [role=alert]');
  await press('Images');
  await shown('[data-piece=d]');
  expect(document.querySelector('main [role=alert]')).toBeNull();
});

it('asks once for a page that fails, and again when somebody wants it', async () => {
  let isAway = true;
  const { askedFor } = await openConsole('/gallery', {
    medias: ({ after }: { readonly after: string | null }) => {
      if (after === null) return createList(LISTED, 'c1', 3);
      return isAway ? refusal('UNAVAILABLE') : createList([file('e', 50)]);
    },
  });
  await shown('main [role=alert]');
  // What draws the page anew is no wish to ask again.
  await press('Large');
  await waitFor(() => expect(all('button', 'Large')[0]?.getAttribute('aria-pressed')).toBe('true'));
  expect(askedFor('Gallery').map(({ after }) => after)).toEqual([null, 'c1']);
  isAway = false;
  await press('Try again');
  await shown('[data-piece=e]');
  expect(document.querySelector('main [role=alert]')).toBeNull();
});

const VISITOR = { caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true }, viewer: null };
const visit = (tasks: Readonly<Record<string, Fields>>, root: Fields = {}) => {
  keepBatches(Object.keys(tasks).map((id) => aBatch(id)));
  return openConsole(
    '/gallery',
    { ...VISITOR, task: ({ id }: { readonly id: string }) => tasks[id] ?? null, ...root },
    { isVisitor: true },
  );
};

it('has of a visitor what the tasks of this browser have made', async () => {
  const { askedFor } = await visit({
    t1: createTask('t1', { outputs: [file('one', 1), file('two', 2)] }),
    t2: createTask('t2', { outputs: [file('film', 3, { contentType: 'video/mp4' })] }),
  });
  await waitFor(() => expect(pieces()).toBe('one two film'));
  expect(total()).toBe('3');
  expect(askedFor('Gallery')).toEqual([]);
  expect(all('button', /^Star /)).toEqual([]);
  await press('Videos');
  await waitFor(() => expect(pieces()).toBe('film'));
  expect(total()).toBe('1');
});

it('says why it has not all that a visitor has made', async () => {
  const gone = { task: ({ id }: { readonly id: string }) => (id === 't1' ? made1 : refusal('UNAVAILABLE')) };
  const made1 = createTask('t1', { outputs: [file('one', 1)] });
  await visit({ t1: made1, t2: made1 }, gone);
  await waitFor(() => expect(pieces()).toBe('one'));
  await shown('main [role=alert]');
});

it('has nothing of a visitor who has made nothing', async () => {
  await visit({});
  await find('h2', 'Nothing here yet');
  expect(total()).toBe('0');
});
