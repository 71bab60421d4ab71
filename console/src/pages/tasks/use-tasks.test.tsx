import { waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { ago, createInput, createList, createTask, told } from '../../testing/things.ts';
import { all, shown } from '../../testing/use.ts';
import { ADMINISTRATOR, closeConsole, type Fields, openConsole } from '../../testing/whole-console.tsx';

afterEach(closeConsole);

const lake = (id: string, seconds: number, change: Fields = {}) =>
  createTask(id, { createdAt: ago(seconds), input: createInput(`a lake, ${id}`), ...change });
const LISTED = [lake('b', 20), lake('d', 40)];
const ids = () =>
  [...document.querySelectorAll<HTMLElement>('tr[data-task]')]
    .map(({ dataset }) => dataset['task'])
    .join(' ');
const foot = () => all('span', /^\d+ of \d+$/)[0]?.textContent;
const name = (id: string) => document.querySelector(`tr[data-task=${id}] a`)?.textContent;

/** The list over a server that has these tasks, once it follows the feed. */
async function follow(address: string, root: Fields = {}) {
  const opened = await openConsole(address, { tasks: createList(LISTED), ...root });
  await shown('tr[data-task=d]');
  /** Tells of tasks by the feed, the last one when it is heard. */
  const tell = async (...events: readonly Fields[]) => {
    for (const event of events)
      await waitFor(() => expect(opened.push('tasksProgress', event)).toBeGreaterThan(0));
  };
  return { ...opened, tell };
}
const at = (seconds: number, change: Fields = {}) => ({ createdAt: ago(seconds), ...change });

it('puts tasks that start anywhere in their place, in whatever order they are told of', async () => {
  const { tell } = await follow('/tasks');
  expect(foot()).toBe('2 of 2');
  await tell(told('c', at(30)), told('a', at(10)), told('e', at(50)));
  await waitFor(() => expect(ids()).toBe('a b c d e'));
  expect(foot()).toBe('5 of 5');
  await tell(told('c', at(30, { lastSeq: 9, input: { prompt: 'another', model: null } })));
  await waitFor(() => expect(name('c')).toBe('another'));
  expect(foot()).toBe('5 of 5');
});

it('shows of a listed task what was told last', async () => {
  const { tell } = await follow('/tasks');
  const says = (prompt: string, lastSeq: number) => at(20, { lastSeq, input: { prompt, model: null } });
  await tell(told('b', says('older', 4)), told('a', at(10)));
  await waitFor(() => expect(ids()).toBe('a b d'));
  expect(name('b')).toBe('a lake, b');
  await tell(told('b', says('as new', 5)));
  await waitFor(() => expect(name('b')).toBe('as new'));
  await tell(told('b', says('newer', 6)));
  await waitFor(() => expect(name('b')).toBe('newer'));
});

it('leaves what is older than the pages that are loaded to those that are not', async () => {
  const { tell } = await follow('/tasks', { tasks: createList(LISTED, 'c2', 9) });
  await tell(told('e', at(50)), told('c', at(30)));
  await waitFor(() => expect(ids()).toBe('b c d'));
  expect(foot()).toBe('3 of 10');
});

it.each<readonly [string, Fields, Fields]>([
  ['state=SUCCEEDED', {}, { state: 'FAILED' }],
  ['type=IMAGE', {}, { kind: 'VIDEO' }],
  ['generator=lakes', {}, { generator: 'seas' }],
  ['owner=usr_ada', {}, { owner: 'usr_b' }],
  ['owner=anon', { owner: null }, { state: 'none', createdAt: '' }],
  [
    'model=large',
    { model: 'large', input: { prompt: null, model: null } },
    { model: 'small', input: { prompt: null, model: 'small' } },
  ],
  ['model=large', { model: 'small', input: { prompt: null, model: 'large' } }, { model: null, input: null }],
  [
    'find=LAKE',
    { input: { prompt: 'The Lake', model: null } },
    { input: { prompt: 'the sea', model: null } },
  ],
  ['find=lake', { input: { prompt: null, model: null } }, { input: { prompt: '', model: null } }],
  ['find=lake', { input: null }, { input: { prompt: 'the sea', model: null } }],
  ['from=2026-09-01', { createdAt: '2026-09-01T00:00:00.001Z' }, { createdAt: '2026-09-01T00:00:00.000Z' }],
  ['to=2026-09-01', { createdAt: '2026-09-01T23:59:59.999Z' }, { createdAt: '2026-09-02T00:00:00.000Z' }],
])('has of what is told only what fits %s', async (filter, fits, other) => {
  const { tell } = await follow(`/tasks?${filter}`, { ...ADMINISTRATOR });
  if (filter === 'owner=anon') await tell(told('fits', fits));
  else await tell(told('other', other), told('fits', fits));
  await shown('tr[data-task=fits]');
  expect(document.querySelector('tr[data-task=other]')).toBeNull();
});

it('takes out what does not fit any more', async () => {
  const { tell } = await follow('/tasks?state=SUCCEEDED');
  await tell(told('d', at(40, { state: 'FAILED', lastSeq: 9 })));
  await waitFor(() => expect(ids()).toBe('b'));
});

it('follows everyone for who sees all, and what ended in the last ten seconds', async () => {
  const sent = vi.spyOn(WebSocket.prototype, 'send');
  const { tell } = await follow('/tasks', ADMINISTRATOR);
  await tell(told('a', at(10)));
  const said = sent.mock.calls.map(([text]) => text as string).join();
  expect(said).toContain('"everyone":true');
  expect(said).toContain(`"endedSince":"${ago(10)}"`);
  sent.mockRestore();
});

it('asks for the list anew when more has arrived than it keeps, and again later', async () => {
  const { tell, hasAsked, askedFor } = await follow('/tasks');
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => told(`t${from + index}`, at(9)));
  await tell(...many(0, 299));
  await waitFor(() => expect(foot()).toBe('301 of 301'));
  expect(askedFor('Tasks')).toHaveLength(1);
  await tell(...many(299, 1));
  await hasAsked('Tasks', 2);
  // What had arrived by then is in the answer, or is not there.
  await waitFor(() => expect(ids()).toBe('b d'));
  await tell(...many(600, 1));
  await waitFor(() => expect(ids()).toBe('t600 b d'));
  expect(askedFor('Tasks')).toHaveLength(2);
  await tell(...many(700, 299));
  await hasAsked('Tasks', 3);
});
