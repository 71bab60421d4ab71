import { ApolloProvider } from '@apollo/client/react';
import { act, render } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { client } from '../api/client.ts';
import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { aBatch, keepBatches } from '../testing/studio.ts';
import { addBatches, type Batch, findBatch, readTitle, removeBatch, useBatches } from './batches.ts';
import { setDraft } from './keeper.ts';
import { findRecalledChoice, type RecordedTask, recallTask } from './recall.ts';
import { formAt, makeVariant, placesFor } from './reuse.ts';
import { takenBy } from './taken.ts';
import { type Choice, listMissing, makeInput, makeParameters, type Model } from './work.ts';

afterEach(() => keepBatches([]));

const media = (id: string, change: Partial<MediaPartsFragment> = {}) =>
  ({
    id,
    url: `/${id}`,
    contentType: 'image/png',
    bytes: 2,
    name: `${id}.png`,
    ...change,
  }) as MediaPartsFragment;
const file = (id: string) => ({ id, url: `/${id}`, contentType: 'image/png', bytes: 2 });
const recorded = (change: Partial<RecordedTask> = {}, input: object | null = {}): RecordedTask => ({
  kind: 'IMAGE',
  generator: 'painter',
  model: 'of the task',
  input: input === null ? null : { prompt: 'a fox', model: null, options: { seed: 3 }, files: [], ...input },
  ...change,
});
const model = (name: string, change: Partial<Model> = {}) =>
  ({
    generator: 'painter',
    model: name,
    kinds: ['IMAGE'],
    inputs: ['prompt', 'images'],
    allowed: true,
    paused: false,
    maxImages: null,
    retiresAt: null,
    optionsSchema: null,
    needs: [],
    ...change,
  }) as unknown as Model;
const createChoice = (one: Model): Choice => ({
  key: `IMAGE painter ${one.model}`,
  kind: 'IMAGE',
  model: one,
});

it('a task fills the form that would start it again: its words, its options, its files', () => {
  const files = [
    { input: 'images', media: media('a') },
    { input: 'images', media: media('b') },
    { input: 'mask', media: media('m') },
    { input: 'image', media: null },
  ];
  expect(recallTask(recorded({}, { files }))).toEqual({
    tab: 'image',
    draft: {
      key: 'IMAGE painter of the task',
      values: { prompt: 'a fox', seed: 3, images: [file('a'), file('b')], mask: file('m') },
    },
  });
  expect(recallTask(recorded({ kind: 'SPEECH' }, { model: 'asked', prompt: 'hello' }))).toEqual({
    tab: 'speech',
    draft: { key: 'SPEECH painter asked', values: { text: 'hello', seed: 3 } },
  });
  expect(recallTask(recorded({ kind: 'LIP_SYNC' }))?.draft.values).toEqual({ prompt: 'a fox', seed: 3 });
  expect(recallTask(recorded({ kind: 'IMAGE', model: null }, { prompt: null }))).toEqual({
    tab: 'image',
    draft: { key: 'IMAGE painter ', values: { seed: 3 } },
  });
});

it('a graph is recalled with its own inputs, and what no form starts not at all', () => {
  const options = { workflowName: 'flux', inputs: { text: 'a', steps: 4 } };
  expect(recallTask(recorded({ kind: 'COMFY_WORKFLOW' }, { prompt: null, options }))?.draft.values).toEqual({
    ...options,
    'comfy.text': 'a',
    'comfy.steps': 4,
  });
  expect(recallTask(recorded({ kind: 'COMFY_WORKFLOW' }, { prompt: null }))?.draft.values).toEqual({
    seed: 3,
  });
  expect(recallTask(recorded({}, { options: { inputs: { a: 1 } } }))?.draft.values).toEqual({
    prompt: 'a fox',
    inputs: { a: 1 },
  });
  expect([recallTask(recorded({ kind: 'RECIPE' })), recallTask(recorded({}, null))]).toEqual([null, null]);
});

it('a recalled form finds the model that it was filled for, as long as that is offered', () => {
  const recalled = recallTask(recorded({ model: 'b' }));
  const models = [model('a'), model('b')];
  expect(findRecalledChoice(recalled, models)?.model).toBe(models[1]);
  expect([findRecalledChoice(recalled, [model('a')]), findRecalledChoice(null, models)]).toEqual([
    undefined,
    undefined,
  ]);
});

it('a variant begins from its image where the model takes one, and no seed repeats it', () => {
  const values = { prompt: 'a', seed: 4, options: { seed: 5, steps: 2 } };
  expect(makeVariant(createChoice(model('a')), values, media('x'))).toEqual({
    prompt: 'a',
    options: { steps: 2 },
    images: [file('x')],
  });
  expect(
    makeVariant(createChoice(model('a')), { prompt: 'a' }, media('x', { contentType: 'video/mp4' })),
  ).toEqual({ prompt: 'a' });
  expect(makeVariant(createChoice(model('a', { inputs: ['prompt'] })), { prompt: 'a' }, media('x'))).toEqual({
    prompt: 'a',
  });
});

it('a file goes to the model of the form, else to one that works, else to the first', () => {
  const place = { tab: 'image', kind: 'IMAGE', member: 'images' } as const;
  const models = [
    model('refused', { allowed: false }),
    model('paused', { paused: true }),
    model('words', { inputs: ['prompt'] }),
    model('works', { maxImages: 1 }),
    model('kept'),
    model('ended', { retiresAt: '2020-01-01' }),
  ];
  const at = (some: readonly Model[]) => formAt(place, media('x'), some);
  setDraft('image', { key: '', values: { images: 'none' } });
  expect(at(models)).toEqual({ key: 'IMAGE painter works', values: { images: [file('x')] } });
  expect([at(models.slice(0, 3))?.key, at([...models].slice(2, 3)), at(models.slice(5))]).toEqual([
    'IMAGE painter refused',
    null,
    null,
  ]);
  setDraft('image', { key: 'IMAGE painter kept', values: { images: [file('y'), file('x'), file('z')] } });
  expect(at(models)?.values).toEqual({ images: [file('y'), file('z'), file('x')] });
  setDraft('image', { key: '', values: {} });
  const moves = model('moves', { kinds: ['VIDEO', 'PERSON_DETECTION', 'DESCRIPTION'], inputs: ['image'] });
  expect(placesFor('image/png', [...models, moves]).map(({ tab, kind }) => `${tab} ${kind}`)).toEqual([
    'image IMAGE',
    'video VIDEO',
    'analysis DESCRIPTION',
  ]);
  expect(placesFor('image/png', models.slice(5))).toEqual([]);
});

it('counts, references and lists are cut to what a model takes', () => {
  const limits = {
    sizes: null,
    aspectRatios: null,
    durations: null,
    formats: null,
    maxCount: null,
    maxImages: null,
  };
  const values = {
    resolution: '4K',
    aspectRatio: '1:1',
    duration: 5,
    format: 'wav',
    count: 9,
    images: [1, 2],
    other: 0,
  };
  expect(takenBy(limits, values)).toEqual(values);
  expect(takenBy({ ...limits, maxCount: 2, maxImages: 1 }, values)).toEqual({
    ...values,
    count: 2,
    images: [1],
  });
});

it('what is needed is missing while it is empty, and files of templates are named by their address', () => {
  const schema = { required: ['must'], properties: { must: { type: 'object' }, may: { type: 'string' } } };
  const one = createChoice(model('a', { needs: ['images', 'prompt'], optionsSchema: schema }));
  expect(listMissing(one, { prompt: 'a', images: [] })).toEqual(['images', 'must']);
  expect(listMissing(one, { prompt: 'a', images: [1], options: { must: [] } })).toEqual(['must']);
  expect(listMissing(one, { prompt: 'a', images: [1], options: { must: {} } })).toEqual([]);
  expect(makeInput(one, { prompt: null, options: {} })).toEqual({ generator: 'painter', model: 'a' });
  expect(
    makeParameters({
      none: null,
      list: [],
      file: file('f'),
      text: 'x',
      odd: { id: 'i' },
      yes: true,
      no: undefined,
    }),
  ).toEqual({
    file: '/f',
    text: 'x',
    odd: { id: 'i' },
    yes: true,
  });
});

it('what was made is kept newest first, and forgotten with all of its sheet', () => {
  const sheet = (id: string, name = 's') =>
    aBatch(id, { cell: { sheet: name, x: { name: 'seed', value: id } } });
  let current: readonly Batch[] = [];
  function Watcher() {
    current = useBatches();
    return null;
  }
  render(
    <ApolloProvider client={client}>
      <Watcher />
    </ApolloProvider>,
  );
  const ids = () => current.map(({ id }) => id);
  const { owner: _, ...fresh } = aBatch('new', { tasks: ['t8', 't9'] });
  keepBatches([
    aBatch('old'),
    sheet('one'),
    sheet('two'),
    sheet('other', 'z'),
    aBatch('of somebody', { owner: 'usr_x' }),
  ]);
  expect(ids()).toEqual(['old', 'one', 'two', 'other']);
  void act(() => addBatches([fresh]));
  expect(ids()).toEqual(['new', 'old', 'one', 'two', 'other']);
  expect(current[0]?.owner).toBe('anon');
  expect([findBatch('t9')?.id, findBatch('t0')]).toEqual(['new', undefined]);
  void act(() => removeBatch(sheet('one')));
  expect(ids()).toEqual(['new', 'old', 'other']);
  void act(() => removeBatch(aBatch('old')));
  expect(ids()).toEqual(['new', 'other']);
  void act(() => addBatches(Array.from({ length: 170 }, (_none, at) => aBatch(`many ${at}`))));
  expect([ids().length, ids()[0], ids().at(-1)]).toEqual([160, 'many 0', 'many 159']);
  expect((JSON.parse(localStorage.getItem('kiln.batches') ?? '') as Batch[]).length).toBe(160);
  // Without room for all the newest are kept, and none is lost while the page is there.
  const store = (name: string, text: string) => Storage.prototype.setItem.call(localStorage, name, text);
  const full = vi.spyOn(localStorage, 'setItem').mockImplementation((name, text) => {
    if ((JSON.parse(text) as Batch[]).length > 50) throw new DOMException('no room', 'QuotaExceededError');
    store(name, text);
  });
  void act(() => addBatches([fresh]));
  full.mockRestore();
  expect([ids().length, ids()[0], ids()[1]]).toEqual([160, 'new', 'many 0']);
  const stored = JSON.parse(localStorage.getItem('kiln.batches') ?? '') as Batch[];
  expect([stored.length, stored[0]?.id]).toEqual([40, 'new']);
  void act(() => void dispatchEvent(new StorageEvent('storage', { key: 'another' })));
  localStorage.setItem('kiln.batches', '{');
  void act(() => void dispatchEvent(new StorageEvent('storage', { key: 'kiln.drafts' })));
  expect(ids()).toHaveLength(160);
  void act(() => void dispatchEvent(new StorageEvent('storage', { key: 'kiln.batches' })));
  expect(ids()).toEqual([]);
});

it('a submission is called by its words, of whichever name', () => {
  const titles = [
    { prompt: 'a', text: 'b' },
    { prompt: '', text: 'b' },
    { 'comfy.prompt': 'c', workflowName: 'd' },
    { workflowName: 'd' },
    {},
  ];
  expect(titles.map((values) => readTitle(aBatch('x', { values })))).toEqual(['a', 'b', 'c', 'd', undefined]);
});
