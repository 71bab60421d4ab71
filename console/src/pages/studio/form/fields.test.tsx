import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { afterPause, collects, modelFor, openForm, readTexts, type } from '../../../testing/studio.ts';
import { choose, press } from '../../../testing/use.ts';
import { closeConsole, refusal } from '../../../testing/whole-console.tsx';
import { readDraft, setDraft } from '../../../work/keeper.ts';
import type { Tab } from '../../../work/work.ts';

afterEach(closeConsole);

const lists = {
  sizes: ['1K', '2K'],
  durations: [5, 10],
  aspectRatios: ['1:1', '1:4', '21:9'],
  formats: ['wav', 'mp3'],
  ranges: { speed: [0.5, 2], seed: [0, 9] },
  maxPrompt: 200,
  maxImages: 3,
  maxCount: 2,
};
const fields = () => document.querySelector('[data-fields]');
const values = (tab: Tab) => readDraft(tab)?.values;
const field = (label: RegExp) => screen.getByLabelText<HTMLInputElement>(label);

it('shows each member of an image by its control, with what the model takes of it', async () => {
  await openForm('image', [modelFor('IMAGE', lists)]);
  await expect(outline(fields())).toMatchFileSnapshot('outlines/fields-of-image.txt');
  expect(field(/^Prompt/).maxLength).toBe(200);
  type(/^Prompt/, 'a fox');
  expect(readTexts('label').find((text) => text.startsWith('Prompt'))).toBe('Prompt5 / 200');
  fireEvent.click(screen.getByLabelText('21:9'));
  await choose('Size', '2K');
  await choose('Speed mode', 'turbo');
  type(/^Seed/, '7');
  type(/^Leave out/, 'snow');
  expect(values('image')).toEqual({
    prompt: 'a fox',
    aspectRatio: '21:9',
    resolution: '2K',
    speedMode: 'turbo',
    seed: 7,
    negativePrompt: 'snow',
  });
  const chosen = [...document.querySelectorAll<HTMLInputElement>('input[type=radio]')].filter(
    ({ checked }) => checked,
  );
  expect(chosen.map(({ value }) => value)).toEqual(['21:9']);
  expect([field(/^Size/).value, field(/^Speed mode/).value, field(/^Seed/).value]).toEqual([
    '2K',
    'turbo',
    '7',
  ]);
  type(/^Seed/, '');
  await choose('Size', '');
  fireEvent.click(screen.getByLabelText('One more'));
  expect(screen.getByLabelText<HTMLButtonElement>('One more').disabled).toBe(true);
  fireEvent.click(screen.getByLabelText('One fewer'));
  expect(values('image')).toMatchObject({ seed: null, resolution: null, count: 1 });
});

it('shows what a model tells no lists of, and leaves out what it offers nothing of', async () => {
  await openForm('image', [modelFor('IMAGE'), modelFor('CHARACTER')], {});
  setDraft('image', {
    key: '',
    values: {
      resolution: '4K',
      count: 4,
      images: [{ id: 'x', url: '/x', contentType: 'image/png' }],
      mask: { id: 'm', url: '/m', contentType: 'image/png' },
    },
  });
  await waitFor(() => expect(readTexts('[data-file]')).toHaveLength(2));
  await expect(outline(fields())).toMatchFileSnapshot('outlines/fields-of-any-image.txt');
  expect(screen.getByLabelText<HTMLButtonElement>('One more').disabled).toBe(true);
});

it('has one file where one is taken, and several where several are', async () => {
  await openForm('video', [modelFor('FRAME_VIDEO', { durations: [5, 10] })]);
  const file = { id: 'x', url: '/x', contentType: 'image/png' };
  setDraft('video', { key: '', values: { firstFrame: file, lastFrame: null, duration: 10 } });
  await waitFor(() => expect(readTexts('[data-file]')).toHaveLength(1));
  await expect(outline(fields())).toMatchFileSnapshot('outlines/fields-of-video.txt');
  await press('Remove the file');
  await choose('Duration', '5');
  expect(values('video')).toMatchObject({ firstFrame: null, duration: 5 });
  await closeConsole();
  await openForm('image', [modelFor('CHARACTER')]);
  setDraft('image', { key: '', values: { images: [file, { ...file, id: 'y' }] } });
  await waitFor(() => expect(readTexts('[data-file]')).toHaveLength(2));
  fireEvent.click(screen.getAllByLabelText('Remove the file')[0] ?? document.body);
  expect(values('image')?.['images']).toEqual([{ ...file, id: 'y' }]);
});

it('asks what a provider says to a prompt that rests, and says it while there is one', async () => {
  const { given, field: checkPrompt } = collects((count) => ({
    allowed: count !== 1,
    reasons: count === 1 ? ['a knife', 'a gun'] : [],
  }));
  await openForm('image', [modelFor('IMAGE')], { checkPrompt });
  await afterPause(599, () => type(/^Prompt/, ' a thief '));
  expect(given).toEqual([]);
  await afterPause(600, () => type(/^Prompt/, ' a robber'));
  await screen.findByText('a gun');
  expect(given).toEqual([{ generator: 'painter', prompt: 'a robber' }]);
  await expect(outline(document.querySelector('[data-fields] > [role=status]'))).toMatchFileSnapshot(
    'outlines/checked.txt',
  );
  type(/^Prompt/, ' ');
  expect(screen.queryByText('a gun')).toBeNull();
  await afterPause(600, () => type(/^Prompt/, 'a nurse'));
  await waitFor(() => expect(given).toHaveLength(2));
  await waitFor(() => expect(screen.queryByText('a gun')).toBeNull());
});

it('offers what is often asked of a file, and the instructions of the model', async () => {
  await openForm('analysis', [modelFor('ANALYSIS', lists), modelFor('DESCRIPTION')]);
  await expect(outline(fields())).toMatchFileSnapshot('outlines/fields-of-analysis.txt');
  await press('What is in it');
  type(/^Instructions/, 'short');
  expect(values('analysis')).toEqual({
    prompt: 'List everything in it, one item per line.',
    system: 'short',
  });
  await waitFor(() => expect(field(/^Prompt/).value).toBe('List everything in it, one item per line.'));
});

it('has a field for each input of the graph that is chosen', async () => {
  const inputs = {
    prompt: { type: 'text', required: true },
    words: { type: 'text', required: true, default: 'some' },
    more: { type: 'text', required: false },
    photo: { type: 'file', required: true },
    steps: { type: 'integer', required: false, minimum: 1, maximum: 9, default: 4 },
    scale: { type: 'number', required: false, minimum: 0 },
    way: { type: 'text', required: false, values: ['low', 'odd'] },
  };
  const comfyWorkflows = [
    { name: 'flux', category: 'image', inputs },
    { name: 'wan', category: 'video', inputs: { depth: { type: 'number', required: false, maximum: 3 } } },
  ];
  await openForm('comfy', [modelFor('COMFY_WORKFLOW')], { comfyWorkflows });
  await waitFor(() => expect(field(/^Workflow/).textContent).toContain('flux (image)'));
  await choose('Workflow', 'flux');
  await expect(outline(fields())).toMatchFileSnapshot('outlines/fields-of-comfy.txt');
  type(/^Prompt/, 'a fox');
  type(/^words/, 'none');
  type(/^Steps/, '5');
  type(/^scale/, '0.5');
  await choose(/^way/, 'low');
  expect(values('comfy')).toEqual({
    workflowName: 'flux',
    'comfy.prompt': 'a fox',
    'comfy.words': 'none',
    'comfy.steps': 5,
    'comfy.scale': 0.5,
    'comfy.way': 'low',
  });
  await choose('Workflow', 'wan');
  expect(readTexts('[data-fields] label').slice(1)).toEqual(['depthoptional']);
  await closeConsole();
  await openForm('comfy', [modelFor('COMFY_WORKFLOW')], { comfyWorkflows: () => refusal('UNAVAILABLE') });
  await screen.findByRole('alert');
});
