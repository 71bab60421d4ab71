import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { enlarge, large, openResults, running, shots } from '../../../testing/results.ts';
import { aBatch, aTask, collects, readTexts } from '../../../testing/studio.ts';
import { ago } from '../../../testing/things.ts';
import { press } from '../../../testing/use.ts';
import { closeConsole, type Fields, refusal } from '../../../testing/whole-console.tsx';
import type { Batch } from '../../../work/batches.ts';
import { readDraft } from '../../../work/keeper.ts';

const seen = vi.spyOn(Element.prototype, 'scrollIntoView');
beforeEach(() => void seen.mockClear());
afterEach(closeConsole);

const kinds: readonly [string, Partial<Batch>][] = [
  ['image', { values: { prompt: 'a lake', aspectRatio: '4:3', duration: 5 } }],
  ['unmeasured', {}],
  ['video', { kind: 'VIDEO' }],
  ['sound', { kind: 'SPEECH', values: {} }],
  ['voice', { kind: 'VOICE_CLONE' }],
  ['words', { kind: 'ANALYSIS' }],
  ['person', { kind: 'PERSON_DETECTION' }],
  ['failed', { template: 'one' }],
  ['gone', {}],
];

it('shows each kind of result large, with its words, facts and what can be done next', async () => {
  await openResults(kinds.map(([id, more]) => aBatch(id, more)));
  await waitFor(() => expect(document.querySelectorAll('[data-shot=done]')).toHaveLength(6));
  await waitFor(() => expect(document.querySelector('[data-tile=done] img')).not.toBeNull());
  await expect(outline(document.querySelector('[data-results]'))).toMatchFileSnapshot('outlines/results.txt');
  const drawn: string[] = [];
  for (let index = 1; index < shots().length; index += 1) {
    await enlarge(index);
    drawn.push(outline(large()));
  }
  await expect(drawn.join('\n')).toMatchFileSnapshot('outlines/stages.txt');
});

it('shows what is being made in its shape, all of a submission together until it is chosen', async () => {
  const values = [{ aspectRatio: '16:9' }, { resolution: '512x768' }, { aspectRatio: 'auto' }];
  const one = aBatch('b1', {
    tasks: ['running', 'estimated', 'queued', 'cancelling', 'image', 'gone'],
    values: { prompt: 'a lake' },
  });
  await openResults([
    one,
    ...values.map((own, at) => aBatch(`alone${at}`, { tasks: ['running'], values: own })),
    ...(['SPEECH', 'VOICE_CLONE', 'ANALYSIS', 'CHARACTER_IMAGE', 'COMFY_WORKFLOW', 'VIDEO'] as const).map(
      (kind) => aBatch(kind, { kind, tasks: [kind === 'VIDEO' ? 'queued' : 'estimated'], values: {} }),
    ),
  ]);
  await waitFor(() => expect(document.querySelectorAll('[data-tile=RUNNING]')).toHaveLength(3));
  await waitFor(() => expect(document.querySelectorAll('[data-shot=done]')).toHaveLength(1));
  const drawn = [outline(document.querySelector('[data-results]'))];
  for (const index of [0, 6, 7, 8, 9, 10, 11, 12, 13, 14]) {
    await enlarge(index);
    drawn.push(outline(large()));
  }
  await expect(drawn.join('\n')).toMatchFileSnapshot('outlines/making.txt');
});

/** A task as an event of it is sent. */
const event = (change: Fields) => ({
  seq: 9,
  at: ago(0),
  state: 'RUNNING',
  progress: 60,
  progressEstimated: false,
  task: {
    __typename: 'Task',
    id: 'running',
    kind: 'IMAGE',
    generator: 'painter',
    taskType: null,
    sandbox: false,
    state: 'RUNNING',
    stageInfo: {
      __typename: 'TaskStage',
      code: 'RENDERING',
      text: 'rendering',
      retryInSeconds: null,
      upstreamPosition: null,
      step: null,
      node: null,
      preview: null,
    },
    progress: 60,
    queuePosition: null,
    cancelRequestedAt: null,
    lastSeq: 9,
    createdAt: ago(60),
    startedAt: ago(50),
    endedAt: null,
    cost: null,
    progressEstimated: false,
    text: null,
    texts: [],
    noteInfos: [],
    result: null,
    outputs: [],
    error: null,
    ...change,
  },
});

it('follows what is being made: the image of before stays while nothing newer is there, and another task has its own', async () => {
  const { push } = await openResults([aBatch('running'), aBatch('estimated')]);
  const part = () => document.querySelector<HTMLImageElement>('[data-tile] img[alt="The image so far"]')?.src;
  await waitFor(() => expect(part()).toBe('https://kiln.test/files/part'));
  await waitFor(() => expect(push('taskProgress', event({}))).toBeGreaterThan(0));
  await waitFor(() => expect(readTexts('[data-tile]')[0]).toContain('60 %'));
  expect(part()).toBe('https://kiln.test/files/part');
  await enlarge(1);
  expect([part(), readTexts('[data-tile]')[0]?.includes('≈ 40 %')]).toEqual([undefined, true]);
  await enlarge(0);
});

it('cancels what is being made', async () => {
  const { given, field } = collects(() => aTask('running', { ...running, cancelRequestedAt: ago(0) }));
  await openResults([aBatch('running')], { cancelTask: field });
  await press('Cancel');
  await waitFor(() =>
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Cancel' }).disabled).toBe(true),
  );
  expect(given).toEqual([{ id: 'running' }]);
});

it('says why it does not cancel what is being made', async () => {
  await openResults([aBatch('running')], { cancelTask: () => refusal('TOO_LATE') });
  await press('Cancel');
  expect((await screen.findByRole('alert')).textContent).not.toBe('');
});

it('starts a result again, a variant of it, and fills the form with it', async () => {
  const { given, field } = collects((count) => aTask(`new${count}`, running));
  const values = { prompt: 'a lake', seed: 3 };
  await openResults([aBatch('image', { values })], { generateImage: field });
  await press('Again');
  await waitFor(() => expect(given).toHaveLength(1));
  expect(given[0]).toMatchObject({ input: { model: 'large', prompt: 'a lake', seed: 3 } });
  // What is new comes to the front.
  await waitFor(() => expect(shots()).toHaveLength(2));
  expect(seen.mock.calls.at(-1)).toEqual([{ block: 'start', behavior: 'smooth' }]);
  expect(seen.mock.contexts.at(-1)).toBe(document.querySelector('[data-results]'));
  await waitFor(() => expect(readTexts('[data-tile]')).toHaveLength(1));
  await enlarge(1);
  await press('Vary');
  await waitFor(() => expect(given).toHaveLength(2));
  expect(given[1]?.['input']).toEqual({
    generator: 'painter',
    model: 'large',
    prompt: 'a lake',
    images: [{ fileId: 'file-image' }],
  });
  await waitFor(() => expect(shots()[0]?.getAttribute('aria-current')).toBe('true'));
  await enlarge(2);
  seen.mockClear();
  await press('Remix');
  expect(readDraft('image')).toEqual({ key: 'IMAGE painter large', values });
  expect([seen.mock.calls, seen.mock.contexts]).toEqual([
    [[{ block: 'start', behavior: 'smooth' }]],
    [document.querySelector('[data-studio-form]')],
  ]);
});

it('fills the form of another kind of work, and starts nothing on a model that is gone', async () => {
  const { given, field } = collects(() => aTask('new', running));
  const { address } = await openResults(
    [
      aBatch('image', { model: 'gone' }),
      aBatch('video', { kind: 'VIDEO', model: 'moves', values: { prompt: 'a boat' } }),
    ],
    { generateImage: field, generateVideo: field },
  );
  await press('Again');
  await press('Vary');
  await enlarge(1);
  await press('Remix');
  await waitFor(() => expect(address()).toBe('/?kind=video'));
  expect(readDraft('video')).toEqual({ key: 'VIDEO painter moves', values: { prompt: 'a boat' } });
  expect(given).toEqual([]);
});

it('forgets a result, and shows the next', async () => {
  await openResults([aBatch('image'), aBatch('video', { kind: 'VIDEO' })]);
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a lake, image']));
  await press('Remove from this page');
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a lake, video']));
  await press('Remove from this page');
  await screen.findByText('Make the first image');
});

it('looks at results over the window, moves to those beside them, and comes back', async () => {
  await openResults([aBatch('image'), aBatch('failed'), aBatch('unmeasured')]);
  await press('Zoom');
  const viewer = await screen.findByRole('dialog', { name: 'file-image.png' });
  fireEvent.keyDown(viewer, { key: 'ArrowLeft' });
  fireEvent.keyDown(viewer, { key: 'ArrowRight' });
  await screen.findByRole('dialog', { name: 'large.png' });
  fireEvent.keyDown(viewer, { key: 'ArrowRight' });
  await screen.findByRole('dialog', { name: 'flat.png' });
  fireEvent.keyDown(viewer, { key: 'ArrowRight' });
  fireEvent.keyDown(viewer, { key: 'ArrowLeft' });
  await screen.findByRole('dialog', { name: 'large.png' });
  fireEvent(viewer, new Event('close'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(shots()[2]?.getAttribute('aria-current')).toBe('true');
});

it('moves along the strip by arrows, and compares what is ticked there, up to four', async () => {
  await openResults(
    ['a', 'b', 'c', 'd', 'e'].map((id) => aBatch(id)),
    { task: ({ id }: { readonly id: string }) => aTask(id) },
  );
  await waitFor(() => expect(document.querySelectorAll('[data-shot=done]')).toHaveLength(5));
  shots()[1]?.focus();
  const places = ['ArrowRight', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'x'].map((key) => {
    const isOurs = !fireEvent.keyDown(document.activeElement ?? document.body, { key });
    return [isOurs, shots().indexOf(document.activeElement as HTMLElement)];
  });
  expect(places).toEqual([
    [true, 2],
    [true, 1],
    [true, 0],
    [true, 0],
    [false, 0],
  ]);
  const tick = (id: string) =>
    fireEvent.click(screen.getByRole('checkbox', { name: `Compare a lake, ${id}` }));
  const region = () => screen.findByRole('region', { name: 'Compare' });
  tick('a');
  expect(outline(await region())).toContain('disabled');
  tick('b');
  await expect(outline(await region())).toMatchFileSnapshot('outlines/compared.txt');
  fireEvent.click(await screen.findByRole('button', { name: 'Compare' }));
  expect(
    (await screen.findByRole('dialog', { name: 'Compare' })).querySelectorAll('figcaption')[0]?.textContent,
  ).toBe('Model large · $0.04 · 30.0 s');
  fireEvent(screen.getByRole('dialog'), new Event('close'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  for (const id of ['c', 'd']) tick(id);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Compare' }).disabled).toBe(false);
  tick('e');
  expect([
    (await region()).textContent,
    screen.getByRole<HTMLButtonElement>('button', { name: 'Compare' }).disabled,
  ]).toEqual(['5 selected: up to 4 can be comparedCompareClear', true]);
  tick('a');
  expect((await region()).textContent).toContain('4 selected');
  fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
  expect(screen.queryByRole('region', { name: 'Compare' })).toBeNull();
});

it('says that tasks can not be asked for', async () => {
  await openResults([aBatch('image')], { task: () => refusal('UNAVAILABLE') });
  await screen.findByRole('alert');
  expect(document.querySelector('[data-results]')?.classList.contains('invisible')).toBe(false);
});

it('says that one of them can not be asked for, until it is forgotten', async () => {
  const task = ({ id }: { readonly id: string }) => (id === 'image' ? refusal('UNAVAILABLE') : aTask(id));
  await openResults([aBatch('image'), aBatch('other')], { task });
  await waitFor(() => expect(document.querySelector('[data-shot=done]')).not.toBeNull());
  await screen.findByRole('alert');
  await press('Remove from this page');
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
});
