import { fireEvent, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { aBatch, keepBatches } from '../../testing/studio.ts';
import { ago, createFile, createInput, createList, createTask } from '../../testing/things.ts';
import { all, choose, find, gone, key, press, shown, submit, write } from '../../testing/use.ts';
import {
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  openConsole,
  refusal,
} from '../../testing/whole-console.tsx';

afterEach(closeConsole);

const lake = (id: string, change: Fields = {}) =>
  createTask(id, { input: createInput(`a lake, ${id}`), ...change });
const TASKS = [
  lake('waits', {
    state: 'QUEUED',
    stageInfo: { code: 'QUEUED', text: 'queued' },
    queuePosition: 3,
    progress: 0,
    startedAt: null,
    endedAt: null,
    cost: { amount: null, currency: null, estimated: true },
  }),
  lake('runs', {
    kind: 'VIDEO',
    state: 'RUNNING',
    stageInfo: { code: 'RENDERING', text: 'rendering' },
    progress: 40,
    endedAt: null,
    model: null,
    cost: { amount: 2, currency: 'USD', estimated: true },
  }),
  lake('made', {
    outputs: [createFile('one'), createFile('two')],
    cost: { amount: 0.5, currency: 'USD', estimated: false },
  }),
  lake('said', {
    kind: 'SPEECH',
    input: createInput(null),
    outputs: [createFile('sound', { contentType: 'audio/wav' })],
    sandbox: true,
    owner: null,
  }),
  lake('bare', {
    input: createInput(''),
    taskType: 'old_type',
    outputs: [createFile('bare', { thumbnail: null })],
    cost: { amount: null, currency: null, estimated: true },
  }),
  lake('failed', {
    kind: 'COMFY_WORKFLOW',
    state: 'FAILED',
    error: { code: 'MODERATION_REFUSED', message: 'no' },
    createdAt: ago(4_000),
  }),
];

const row = (id: string) => shown(`tr[data-task=${id}]`);
const ids = () =>
  [...document.querySelectorAll<HTMLElement>('tr[data-task]')].map(({ dataset }) => dataset['task']);
const table = () => shown('table');
const select = (name: string) => choose(`Select a lake, ${name}`, 'on');
const region = () => document.querySelector('[role=region][aria-label="Selected tasks"]');
const selected = () =>
  [...document.querySelectorAll<HTMLElement>('tr[aria-selected=true]')].map(({ dataset }) => dataset['task']);

it('lists tasks with what they are, how far and what they have cost', async () => {
  const { askedFor } = await openConsole('/tasks', { tasks: createList(TASKS) });
  await row('failed');
  await expect(outline()).toMatchFileSnapshot('outlines/tasks.txt');
  expect(askedFor('Tasks')).toEqual([{ filter: {}, first: 30 }]);
});

it('shows administrators whose each is, and narrows to one of them', async () => {
  const { address, askedFor } = await openConsole('/tasks?find=lake', {
    ...ADMINISTRATOR,
    tasks: createList(TASKS.slice(2, 4)),
  });
  await row('said');
  await find('th', 'Owner');
  await expect(outline(await table())).toMatchFileSnapshot('outlines/tasks-of-everyone.txt');
  fireEvent.click((await row('made')).querySelector('button[title=usr_ada]') as HTMLElement);
  await waitFor(() => expect(address()).toBe('/tasks?find=lake&owner=usr_ada'));
  await waitFor(() =>
    expect(askedFor('Tasks').at(-1)?.['filter']).toEqual({ text: 'lake', owner: 'usr_ada' }),
  );
});

it('says that it is loading, that there is nothing, and what has gone wrong', async () => {
  let answer: (why: unknown) => void = () => undefined;
  const { hasAsked } = await openConsole('/tasks', {
    tasks: () => new Promise((_, reject) => (answer = reject)),
  });
  await hasAsked('Tasks');
  await shown('main [aria-busy=true]');
  expect(all('h2', 'No tasks here')).toEqual([]);
  answer(refusal('RATE_LIMITED'));
  await shown('main [role=alert]');
  await gone('main [aria-busy=true]');
  expect(all('h2', 'No tasks here')).toEqual([]);
  expect(document.querySelector('table')).toBeNull();
});

it('says that there is nothing', async () => {
  await openConsole('/tasks', { tasks: createList([]) });
  await find('h2', 'No tasks here');
  expect(document.querySelector('main [aria-busy=true]')).toBeNull();
  expect(document.querySelector('table')).toBeNull();
  expect(all('button', 'CSV')).toEqual([]);
});

it('asks for what its address narrows it by', async () => {
  const narrowing = 'generator=lakes&model=large&owner=usr_b&from=2026-08-01&to=2026-08-31';
  const { askedFor, hasAsked } = await openConsole(
    `/tasks?state=FAILED&type=VIDEO&find=fox&view=odd&${narrowing}`,
    {
      ...ADMINISTRATOR,
      tasks: createList([]),
    },
  );
  await hasAsked('Tasks');
  expect(askedFor('Tasks')).toEqual([
    {
      filter: {
        states: ['FAILED'],
        kinds: ['VIDEO'],
        text: 'fox',
        generator: 'lakes',
        model: 'large',
        owner: 'usr_b',
        createdAfter: '2026-08-01T00:00:00.000Z',
        createdBefore: '2026-09-01T00:00:00.000Z',
      },
      first: 30,
    },
  ]);
});

it('keeps each filter while others are changed', async () => {
  const { address } = await openConsole('/tasks?model=large&find=fox', { tasks: createList([]) });
  const isAt = (filters: object) =>
    waitFor(() => expect(Object.fromEntries(new URLSearchParams(address().split('?')[1]))).toEqual(filters));
  await find('h2', 'No tasks here');
  await press('Failed');
  await choose('Kind', 'VIDEO');
  submit(await write('Search prompts', ' bear '));
  await isAt({ model: 'large', state: 'FAILED', type: 'VIDEO', find: 'bear' });
  await waitFor(() => expect(all('button', 'Failed')[0]?.getAttribute('aria-pressed')).toBe('true'));
  await press(/large/);
  await isAt({ state: 'FAILED', type: 'VIDEO', find: 'bear' });
  await choose('Kind', '');
  await press('All');
  submit(await write('Search prompts', ''));
  await isAt({});
});

it('adds the next page, and says how many are shown of how many', async () => {
  const { askedFor } = await openConsole('/tasks', {
    tasks: ({ after }: { readonly after?: string }) =>
      after === undefined ? createList(TASKS.slice(0, 2), 'c2', 6) : createList(TASKS.slice(2), null, 6),
  });
  await row('runs');
  const foot = () => all('span', /^\d+ of \d+$/)[0]?.textContent;
  expect(foot()).toBe('2 of 6');
  await press('Show more');
  await row('failed');
  expect(foot()).toBe('6 of 6');
  expect(all('button', 'Show more')).toEqual([]);
  expect(askedFor('Tasks')[1]).toEqual({ filter: {}, first: 100, after: 'c2' });
});

it('selects tasks one by one or all that are shown, and cancels those that have not ended', async () => {
  const { askedFor, hasAsked } = await openConsole('/tasks', {
    tasks: createList(TASKS),
    cancelTask: ({ id }: { readonly id: string }) =>
      lake(id, { state: 'RUNNING', cancelRequestedAt: ago(0) }),
  });
  await row('failed');
  const isAll = () => (all('input', 'Select all that are shown')[0] as HTMLInputElement).checked;
  await select('made');
  await waitFor(() => expect(selected()).toEqual(['made']));
  expect((await find<HTMLButtonElement>('button', 'Cancel 0')).disabled).toBe(true);
  await select('runs');
  await waitFor(() => expect(selected()).toEqual(['runs', 'made']));
  await select('made');
  await waitFor(() => expect(selected()).toEqual(['runs']));
  expect(isAll()).toBe(false);
  await expect(outline(region())).toMatchFileSnapshot('outlines/selected.txt');
  fireEvent.click(all('input', 'Select all that are shown')[0] as HTMLElement);
  await waitFor(() => expect(selected()).toHaveLength(6));
  await waitFor(() => expect(isAll()).toBe(true));
  await press('Cancel 2');
  await hasAsked('', 2);
  expect(askedFor('')).toEqual([{ id: 'waits' }, { id: 'runs' }]);
  await waitFor(() => expect(region()).toBeNull());
  fireEvent.click(all('input', 'Select all that are shown')[0] as HTMLElement);
  await press('Clear');
  await waitFor(() => expect(selected()).toEqual([]));
});

it.each([
  ['TOO_LATE', ['waits', 'runs']],
  ['RATE_LIMITED', ['waits']],
])('keeps selected what could not be cancelled (%s), and says why', async (code, asked) => {
  const { askedFor } = await openConsole('/tasks', {
    tasks: createList(TASKS),
    cancelTask: ({ id }: { readonly id: string }) =>
      id === 'waits' ? refusal(code, { retryAfter: 60 }) : lake(id, { cancelRequestedAt: ago(0) }),
  });
  await row('failed');
  for (const id of ['waits', 'runs']) await select(id);
  await press('Cancel 2');
  await shown('main [role=alert]');
  expect(askedFor('').map(({ id }) => id)).toEqual(asked);
  // What is about one task alone ends nothing for the others.
  await waitFor(() => expect(selected()).toEqual(code === 'TOO_LATE' ? ['waits'] : ['waits', 'runs']));
});

it('cancels one by its button, once', async () => {
  let isAway = true;
  const { askedFor, hasAsked } = await openConsole('/tasks', {
    tasks: createList(TASKS),
    cancelTask: ({ id }: { readonly id: string }) => {
      if (isAway) throw refusal('FORBIDDEN');
      return lake(id, { cancelRequestedAt: ago(0) });
    },
  });
  const button = async () => (await row('runs')).querySelector('td:last-child button') as HTMLButtonElement;
  fireEvent.click(await button());
  await waitFor(async () => expect((await button()).disabled).toBe(true));
  await hasAsked('');
  await waitFor(async () => expect((await button()).disabled).toBe(false));
  await shown('main [role=alert]');
  isAway = false;
  fireEvent.click(await button());
  await gone('main [role=alert]');
  await hasAsked('', 2);
  expect((await button()).disabled).toBe(true);
  expect(askedFor('')).toEqual([{ id: 'runs' }, { id: 'runs' }]);
  expect((await row('made')).querySelector('td:last-child button')).toBeNull();
});

it('is walked through by J and K; X selects and C cancels', async () => {
  const { askedFor, hasAsked } = await openConsole('/tasks', {
    tasks: createList(TASKS),
    cancelTask: ({ id }: { readonly id: string }) => lake(id, { cancelRequestedAt: ago(0) }),
  });
  await row('failed');
  const on = () => document.activeElement?.closest<HTMLElement>('tr')?.dataset['task'];
  key('x');
  expect(selected()).toEqual([]);
  key('k');
  expect(on()).toBe('waits');
  key('j');
  key('j', {}, document.activeElement ?? document);
  expect(on()).toBe('made');
  key('k', {}, document.activeElement ?? document);
  expect(on()).toBe('runs');
  key('k');
  key('k');
  expect(on()).toBe('waits');
  for (const _ of ids()) key('j');
  key('j');
  expect(on()).toBe('failed');
  for (const _ of [1, 2, 3, 4]) key('k');
  key('x');
  await waitFor(() => expect(selected()).toEqual(['runs']));
  const box = all('input', 'Select a lake, made')[0] as HTMLInputElement;
  box.focus();
  key('x', {}, box);
  await waitFor(() => expect(selected()).toEqual(['runs', 'made']));
  key('c', { ctrlKey: true }, box);
  const search = await find('input', 'Search prompts');
  search.focus();
  key('c', {}, search);
  key('x', {}, search);
  expect(askedFor('')).toEqual([]);
  key('c');
  await hasAsked('');
  expect(askedFor('')).toEqual([{ id: 'runs' }]);
});

it('has nothing of a visitor but what this browser has made', async () => {
  await openConsole(
    '/tasks',
    { caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true }, viewer: null },
    { isVisitor: true },
  );
  await find('h2', 'No tasks here');
  await expect(outline()).toMatchFileSnapshot('outlines/tasks-of-visitor.txt');
});

it('has of a visitor each task that this browser has started, and is there', async () => {
  const own = createTask('own', { input: createInput('a lake') });
  keepBatches([
    aBatch('own', { values: { prompt: 'a lake' } }),
    aBatch('lost', { values: { prompt: 'a sea' } }),
  ]);
  const { askedFor } = await openConsole(
    '/tasks',
    {
      caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true },
      viewer: null,
      task: ({ id }: { readonly id: string }) => (id === 'own' ? own : null),
    },
    { isVisitor: true },
  );
  await find('a', /a lake/);
  expect(document.body.textContent).not.toContain('a sea');
  expect(askedFor('TaskById')).toEqual([{ id: 'own' }, { id: 'lost' }]);
  keepBatches([]);
});
