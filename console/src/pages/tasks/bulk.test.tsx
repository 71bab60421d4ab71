import { waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago, createInput, createList, createTask } from '../../testing/things.ts';
import { all, find, gone, press, shown } from '../../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../testing/whole-console.tsx';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeConsole();
});

const TASKS = [createTask('a', { input: createInput('a lake') }), createTask('b', { state: 'FAILED' })];
const operation = (id: string, change: Fields = {}): Fields => ({
  id,
  action: 'CANCEL',
  state: 'RUNNING',
  total: 10,
  done: 2,
  refused: 1,
  createdAt: ago(5),
  ...change,
});
/** The list, where so many match what a bulk operation is for. */
const open = (address: string, root: Fields = {}, count = 7) =>
  openConsole(address, {
    tasks: ({ first }: { readonly first: number }) =>
      first === 1 ? createList([], null, count) : createList(TASKS),
    bulkOperations: [],
    ...root,
  });
const offered = () =>
  ['Cancel all', 'Retry all failed', 'Run all again'].filter((name) => all('button', name).length > 0);
const foot = () => shown<HTMLButtonElement>('dialog footer button');

it.each([
  ['', ['Cancel all', 'Retry all failed', 'Run all again']],
  ['?state=QUEUED', ['Cancel all']],
  ['?state=RUNNING', ['Cancel all']],
  ['?state=FAILED', ['Retry all failed', 'Run all again']],
  ['?state=SUCCEEDED', ['Run all again']],
  ['?state=CANCELLED', ['Run all again']],
])('of a list that is narrowed by %s offers what it can have', async (search, names) => {
  const task = createTask('a', { state: search.slice(7) || 'FAILED' });
  await open(`/tasks${search}`, { tasks: createList([task]) });
  await shown('tr[data-task]');
  expect(offered()).toEqual(names);
});

it.each<readonly [string, string, string, readonly string[]]>([
  ['cancel', 'Cancel all', 'cancelTasks', ['QUEUED', 'RUNNING']],
  ['retry', 'Retry all failed', 'restartTasks', ['FAILED']],
  ['again', 'Run all again', 'restartTasks', ['SUCCEEDED', 'FAILED', 'CANCELLED']],
])('to %s all says of how many, and begins', async (name, button, field, states) => {
  const begun: Fields[] = [];
  const { askedFor } = await open('/tasks?find=lake', {
    [field]: () => (begun.push(operation('o1')), operation('o1')),
    bulkOperations: () => begun,
  });
  await press(button);
  await waitFor(async () => expect((await foot()).disabled).toBe(false));
  await expect(outline(await shown('dialog'))).toMatchFileSnapshot(`outlines/bulk-${name}.txt`);
  (await foot()).click();
  await gone('dialog');
  const filter = { text: 'lake', states };
  expect(askedFor('CountTasks')).toEqual([{ filter }]);
  expect(askedFor(field === 'cancelTasks' ? 'CancelTasks' : 'RestartTasks')).toEqual([{ filter }]);
  await shown('[aria-label="Operations on many tasks"]');
});

it('does not begin with nothing, and says why it could not', async () => {
  await open('/tasks', {}, 0);
  await press('Cancel all');
  await waitFor(async () => expect((await shown('dialog')).textContent).toContain('No task matches.'));
  expect((await foot()).disabled).toBe(true);
  await press('Close', await shown('dialog'));
  await gone('dialog');
});

it('says why it could not begin', async () => {
  await open('/tasks', {
    cancelTasks: () => {
      throw refusal('RATE_LIMITED');
    },
  });
  await press('Cancel all');
  await waitFor(async () => expect((await foot()).disabled).toBe(false));
  expect((await shown('dialog')).textContent).not.toContain('No task matches.');
  (await foot()).click();
  await shown('dialog [role=alert]');
});

it('shows how far each is, what has just ended, and hides that', async () => {
  await open('/tasks', {
    bulkOperations: [
      operation('o1'),
      operation('o2', {
        action: 'RESTART',
        state: 'DONE',
        done: 10,
        refused: 0,
        createdAt: ago(599),
        problem: 'no room',
      }),
      operation('o3', { state: 'DONE', createdAt: ago(600) }),
      operation('o4', { total: 0, done: 0, refused: 0, createdAt: ago(9_000) }),
      operation('o5', { done: 10, refused: 9 }),
    ],
  });
  const card = await shown('[aria-label="Operations on many tasks"]');
  await expect(outline(card)).toMatchFileSnapshot('outlines/operations.txt');
  await press('Hide');
  await waitFor(() => expect(all('button', 'Hide')).toEqual([]));
  expect(card.querySelectorAll('[role=progressbar]')).toHaveLength(3);
});

it('shows nothing where nothing has been done', async () => {
  await open('/tasks', { bulkOperations: [operation('o3', { state: 'DONE', createdAt: ago(601) })] });
  await shown('tr[data-task]');
  expect(document.querySelector('[aria-label="Operations on many tasks"]')).toBeNull();
});

it('is stopped, and looked at again and again until it has ended', async () => {
  let state = 'RUNNING';
  const { askedFor, hasAsked } = await open('/tasks', {
    bulkOperations: () => [operation('o1', { state })],
    stopBulkOperation: () => operation('o1'),
  });
  await press('Stop');
  await hasAsked('StopBulkOperation');
  expect(askedFor('StopBulkOperation')).toEqual([{ id: 'o1' }]);
  await hasAsked('BulkOperations', 2);
  state = 'STOPPED';
  await find('button', 'Hide');
});

it('stays where it could not be stopped', async () => {
  const { hasAsked } = await open('/tasks', {
    bulkOperations: [operation('o1')],
    stopBulkOperation: () => {
      throw refusal('RATE_LIMITED');
    },
  });
  await press('Stop');
  await hasAsked('StopBulkOperation');
  await waitFor(() => expect((all('button', 'Stop')[0] as HTMLButtonElement).disabled).toBe(false));
});

/** What has been saved, as the browser would. */
function saves() {
  const blobs: Blob[] = [];
  const names: string[] = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => `blob:${blobs.push(blob as Blob)}`);
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download);
  });
  return { blobs, names };
}

it('saves every page of the list as a table that a spreadsheet takes for text', async () => {
  const { blobs, names } = saves();
  const pages = [
    [
      createTask('a', {
        input: createInput('a "lake", \n=blue'),
        cost: { amount: 0.5, currency: 'USD', estimated: true },
      }),
      createTask('b', {
        input: createInput('=SUM(A1)'),
        error: { code: 'LOST' },
        sandbox: true,
        model: null,
      }),
    ],
    [createTask('c', { input: null, cost: { amount: -1, currency: 'USD', estimated: false } })],
  ];
  const { askedFor } = await openConsole('/tasks?find=lake', {
    tasks: ({ first, after }: { readonly first: number; readonly after: string | null }) =>
      first === 30
        ? createList(TASKS)
        : createList(pages[after === null ? 0 : 1] ?? [], after === null ? 'c1' : null),
  });
  await press('CSV');
  await waitFor(() => expect(names).toEqual(['tasks.csv']));
  expect(blobs[0]?.type).toBe('text/csv');
  await expect(await blobs[0]?.text()).toMatchFileSnapshot('outlines/tasks.csv');
  const filter = { text: 'lake' };
  expect(askedFor('Tasks').slice(1)).toEqual([
    { filter, first: 200, after: null },
    { filter, first: 200, after: 'c1' },
  ]);
  await waitFor(async () => expect((await find<HTMLButtonElement>('button', 'CSV')).disabled).toBe(false));
});

it('says that a table has not all of a list that is longer than ten thousand', async () => {
  const { names } = saves();
  const page = Array.from({ length: 5_000 }, () => ({ id: 'an-id', state: 'FAILED', kind: 'IMAGE' }));
  await openConsole('/tasks', {
    tasks: ({ first, after }: { readonly first: number; readonly after: string | null }) =>
      first === 30 ? createList(TASKS) : createList(page, after === null ? 'c1' : 'c2'),
  });
  await press('CSV');
  await waitFor(() => expect(names).toEqual(['tasks.csv']));
  expect((await shown('main [role=alert]')).textContent).toContain('10,000');
});

it('says how many rows are read, and why they could not be', async () => {
  const { names } = saves();
  const page = Array.from({ length: 3 }, (_, index) => createTask(`t${index}`));
  let fail: (why: unknown) => void = () => undefined;
  const { hasAsked } = await openConsole('/tasks', {
    tasks: ({ first, after }: { readonly first: number; readonly after: string | null }) => {
      if (first === 30) return createList(TASKS);
      return after === null ? createList(page, 'c1') : new Promise((_, reject) => (fail = reject));
    },
  });
  await press('CSV');
  expect((await find<HTMLButtonElement>('button', '3 rows read')).disabled).toBe(true);
  await hasAsked('Tasks', 3);
  fail(refusal('RATE_LIMITED'));
  await find('button', 'CSV');
  expect((await shown('main [role=alert]')).textContent).not.toBe('');
  expect(names).toEqual([]);
});
