import { fireEvent, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago, createFile, createInput, createModel, createTask } from '../../testing/things.ts';
import { all, find, gone, key, press, shown } from '../../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../testing/whole-console.tsx';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeConsole();
});

const event = (seq: number, seconds: number, code: string, more: Fields = {}): Fields => ({
  seq,
  at: ago(seconds),
  state: 'RUNNING',
  stageInfo: { code, text: code },
  progress: seq * 10,
  ...more,
});
const node = (nodeId: string) => ({
  stageInfo: { code: 'RUNNING_NODE', text: 'node', node: { nodeId, classType: 'Sampler' } },
});
const attempt = (change: Fields): Fields => ({
  step: 1,
  number: 1,
  provider: 'openai',
  state: 'SUCCEEDED',
  startedAt: ago(50),
  endedAt: ago(20),
  ...change,
});
const MADE = createTask('t1', {
  input: createInput('a lake, t1', {
    options: {
      aspectRatio: '16:9',
      speech: 'a lake, t1',
      seed: 7,
      short: [1, 2],
      nothing: null,
      graph: { nodes: ['one', 'two', 'three', 'four', 'five', 'six'] },
      options: { quality: 'high' },
    },
    files: [
      { input: 'images', media: createFile('in', { name: 'in.png' }) },
      { input: 'mask', media: createFile('mask', { thumbnail: null, name: 'mask.png' }) },
      { input: 'odd', media: null, url: 'https://elsewhere.test/odd' },
    ],
  }),
  outputs: [createFile('one'), createFile('two')],
  cost: { amount: 0.5, currency: 'USD', estimated: false },
  traceId: 'trace-1',
  attempts: [
    attempt({
      state: 'FAILED',
      endedAt: ago(40),
      error: { code: 'RATE_LIMITED', message: 'too much', retryable: true },
    }),
    attempt({ number: 2, startedAt: ago(38), model: 'large' }),
  ],
  events: [
    event(1, 60, 'QUEUED', { state: 'QUEUED' }),
    event(2, 50, 'STARTING'),
    event(3, 37, 'RUNNING_NODE', node('4')),
    event(4, 30, 'RUNNING_NODE', node('5')),
    event(5, 22, 'STORING_RESULT'),
  ],
});
const RUNNING = createTask('t1', {
  state: 'RUNNING',
  stageInfo: { code: 'RENDERING', text: 'rendering' },
  progress: 40,
  endedAt: null,
  owner: null,
  provider: null,
  model: null,
  input: null,
  attempts: [attempt({ state: 'RUNNING', endedAt: null })],
});
const open = (task: Fields | null, root: Fields = {}) =>
  openConsole('/tasks/t1', { task, models: [createModel()], webhookDeliveries: [], ...root });
const text = () => document.querySelector('main')?.textContent ?? '';

it('shows what a task has made, where its time went and what it was asked for', async () => {
  await open(MADE);
  await find('button', 'Again');
  await find('h2', 'The same in a program');
  await expect(outline()).toMatchFileSnapshot('outlines/task.txt');
  // How it is followed, by who has a credential.
  fireEvent.click(all('button', 'curl').at(-1) as HTMLElement);
  const key = '-H "authorization: Bearer $KILN_KEY"';
  await waitFor(() => expect(text()).toContain(`curl -s ${key} http`));
});

it('shows a task that runs: how far it is, without what is not known yet', async () => {
  await open(RUNNING);
  await find('h1', 'Image');
  await find('button', 'Cancel');
  await expect(outline()).toMatchFileSnapshot('outlines/task-runs.txt');
});

it('says that a task is not there, and why it could not be asked for', async () => {
  await open(null);
  await waitFor(() => expect(text()).toContain('This task was deleted, or belongs to somebody else.'));
});

it('says why a task could not be asked for', async () => {
  await open(null, {
    task: () => {
      throw refusal('RATE_LIMITED');
    },
  });
  expect((await shown('main [role=alert]')).textContent).not.toBe('');
});

it('says what a sandbox task would have cost, and what waited', async () => {
  await open(
    createTask('t1', {
      sandbox: true,
      cost: { amount: 2, currency: 'USD', estimated: true },
      startedAt: ago(59),
    }),
  );
  await waitFor(() => expect(text()).toContain('$2'));
  expect(text()).toMatch(/Waited1.0 s/);
  expect(text()).toMatch(/Took39.0 s/);
});

it.each([
  ['free', { sandbox: true, cost: { amount: 0, currency: 'USD', estimated: true } }],
  ['without a price', { sandbox: true, cost: { amount: null, currency: null, estimated: true } }],
  ['without a cost', { sandbox: true, cost: null }],
])('says of a sandbox task %s that it was free, and no more', async (_, change) => {
  await open(createTask('t1', change));
  await waitFor(() => expect(text()).toContain('Cost'));
  expect(text()).not.toContain('·  ');
  expect(all('dd', /^free$/)).toHaveLength(1);
});

it('is asked for again with each event, and follows it to its end', async () => {
  let task = RUNNING;
  const { push, hasAsked, askedFor } = await openConsole('/tasks/t1', { task: () => task });
  await find('button', 'Cancel');
  const before = askedFor('TaskLog').length;
  task = { ...MADE, lastSeq: 6 };
  const ended = { __typename: 'Task', id: 't1', lastSeq: 6, state: 'SUCCEEDED', endedAt: ago(0) };
  await waitFor(() => expect(push('taskProgress', { seq: 6, task: ended })).toBe(1));
  await hasAsked('TaskLog', before + 1);
  await gone('[role=progressbar]');
  expect(all('button', 'Cancel')).toEqual([]);
});

it('is cancelled, once', async () => {
  let task = RUNNING;
  const { askedFor, hasAsked } = await open(null, {
    task: () => task,
    cancelTask: () => (task = { ...RUNNING, cancelRequestedAt: ago(0) }),
  });
  await press('Cancel');
  await hasAsked('');
  await waitFor(async () => expect((await find<HTMLButtonElement>('button', 'Cancel')).disabled).toBe(true));
  expect(askedFor('')).toEqual([{ id: 't1' }]);
});

it('says why it is not cancelled', async () => {
  await open(RUNNING, {
    cancelTask: () => {
      throw refusal('TOO_LATE');
    },
  });
  await press('Cancel');
  expect((await shown('main [role=alert]')).textContent).not.toBe('');
});

it('follows the task of the address, also back at one that was shown before', async () => {
  const { generator, model, input } = MADE;
  const [runs, started] = ['t1', 't2'].map((id) => ({ ...RUNNING, generator, model, input, id }));
  const { address, followedWith } = await openConsole('/tasks/t1', {
    models: [createModel()],
    task: ({ id }: { readonly id: string }) => (id === 't1' ? runs : started),
    generateImage: () => started,
  });
  const followed = () => followedWith('taskProgress').map((variables) => variables?.['id']);
  await waitFor(() => expect(followed()).toEqual(['t1']));
  await press('Again');
  await waitFor(() => expect([address(), followed()]).toEqual(['/tasks/t2', ['t2']]));
  history.back();
  await waitFor(() => expect([address(), followed()]).toEqual(['/tasks/t1', ['t1']]));
});

it('runs again with the same, once, which is shown then', async () => {
  const started = Promise.withResolvers<Fields>();
  const { address, askedFor } = await open(MADE, { generateImage: () => started.promise });
  await press('Again');
  await waitFor(async () => expect((await find<HTMLButtonElement>('button', 'Again')).disabled).toBe(true));
  started.resolve(createTask('t2'));
  await waitFor(() => expect(address()).toBe('/tasks/t2'));
  expect(askedFor('')).toEqual([
    expect.objectContaining({ input: expect.objectContaining({ prompt: 'a lake, t1', generator: 'lakes' }) }),
  ]);
});

it('says why it does not run again', async () => {
  await open(MADE, {
    generateImage: () => {
      throw refusal('BUDGET_EXCEEDED');
    },
  });
  await press('Again');
  expect((await shown('header [role=alert]')).textContent).not.toBe('');
});

it.each([
  ['its button', () => press('Remix')],
  ['the key r', () => waitFor(() => expect(key('r')).toBe(true))],
])('goes into the studio with its settings, by %s', async (_, remix) => {
  const { address } = await open(MADE);
  await remix();
  await waitFor(() => expect(address()).toBe('/?kind=image'));
  await find('h1', 'Studio');
});

it('draws no bar of its own for the only node of a graph', async () => {
  await open(createTask('t1', { events: [event(1, 20, 'RUNNING_NODE', node('4'))] }));
  await shown('[data-line]');
  expect(document.querySelectorAll('[data-line]')).toHaveLength(1);
});

it('can not run again where nobody has its model, but goes into the studio', async () => {
  await open(MADE, { models: [createModel({ model: 'other' })] });
  await find('button', 'Remix');
  await find('h2', 'Follow it in a program');
  expect(all('button', 'Again')).toEqual([]);
  expect(all('h2', 'The same in a program')).toEqual([]);
});

it('saves all files together, and says which could not be had', async () => {
  const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
  vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:zip');
  let answer = new Response('', { status: 404 });
  await openConsole(
    '/tasks/t1',
    { task: MADE },
    { paths: { '/files/one': () => answer.clone(), '/files/two': () => answer.clone() } },
  );
  await press('Download all');
  expect((await shown('header [role=alert]')).textContent).toContain('one.png: 404');
  answer = new Response('bytes');
  await press('Download all');
  await waitFor(() => expect(saved).toHaveBeenCalled());
  expect(document.querySelector('header [role=alert]')).toBeNull();
});

it('says whom its end was told, and tells it again', async () => {
  const delivery = (id: string, change: Fields) => ({
    id,
    url: `https://hook.test/${id}`,
    attempts: 3,
    ...change,
  });
  let isAway = true;
  const { askedFor } = await open(MADE, {
    webhookDeliveries: [
      delivery('d1', { deliveredAt: ago(10), lastStatus: 204 }),
      delivery('d2', { lastError: 'no route' }),
      delivery('d3', { lastStatus: 500 }),
      delivery('d4', {}),
    ],
    redeliverWebhook: ({ id }: { readonly id: string }) => {
      if (isAway) throw refusal('RATE_LIMITED');
      return delivery(id, { deliveredAt: ago(0), lastStatus: 200 });
    },
  });
  await find('h2', 'Webhooks');
  const card = () => all('h2', 'Webhooks')[0]?.closest('header')?.parentElement;
  await expect(outline(card())).toMatchFileSnapshot('outlines/deliveries.txt');
  const again = () => all('button', 'Deliver again') as readonly HTMLButtonElement[];
  fireEvent.click(again()[1] as HTMLElement);
  await waitFor(() => expect(card()?.querySelector('[role=alert]')).not.toBeNull());
  isAway = false;
  fireEvent.click(again()[1] as HTMLElement);
  await waitFor(() =>
    expect(card()?.querySelector('li:nth-child(2)')?.textContent).toContain('Delivered, status 200'),
  );
  expect(askedFor('Redeliver')).toEqual([{ id: 'd2' }, { id: 'd2' }]);
});
