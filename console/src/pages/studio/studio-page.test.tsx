import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { aModel, openStudio, type } from '../../testing/studio.ts';
import { choose, press } from '../../testing/use.ts';
import { closeConsole, refusal } from '../../testing/whole-console.tsx';
import { readDraft, setDraft } from '../../work/keeper.ts';

afterEach(closeConsole);

const image = aModel('large', {
  aspectRatios: ['1:1', '16:9'],
  inputs: ['prompt', 'count', 'aspectRatio', 'seed'],
});
const voice = (id: string, generator: string) =>
  aModel(id, { kinds: ['SPEECH'], inputs: ['text', 'voiceId'], generator });
const models = [
  aModel('ended', { retiresAt: '2026-01-01' }),
  image,
  aModel('moves', { kinds: ['VIDEO'], inputs: ['prompt'] }),
  voice('speaks', 'speaker'),
  voice('sings', 'singer'),
  voice('hums', 'speaker'),
];
const prompt = () => screen.findByLabelText<HTMLTextAreaElement>('Prompt');
const tab = (name: string) => screen.getByRole<HTMLButtonElement>('tab', { name });
const chosen = () => screen.getByRole('tab', { selected: true });
const model = () => screen.findByRole('combobox', { name: /^Model: / });

it('shows the form of the first model that works, beside ideas, with the focus in its words', async () => {
  const { askedFor } = await openStudio('/', { models });
  await screen.findByText('Make the first image');
  expect((await model()).textContent).toContain('Model large');
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Prompt')));
  // The images of the ideas are there only after the console was built.
  const withoutImages = outline().replaceAll(/\n *img[^\n]*\/examples\/[^\n]*/g, '');
  await expect(withoutImages).toMatchFileSnapshot('outlines/studio.txt');
  expect(askedFor('Estimate')).toEqual([
    { input: { kind: 'IMAGE', generator: 'painter', model: 'large', count: 1 } },
  ]);
  await press(/a city at night/);
  expect((await prompt()).value).toBe('a city at night in the rain, neon reflections');
  expect(readDraft('image')).toEqual({
    key: 'IMAGE painter large',
    values: { prompt: 'a city at night in the rain, neon reflections', aspectRatio: '9:16' },
  });
});

it('goes to another kind of work by a click, by arrows and by number, and keeps what was filled in', async () => {
  const seen = vi.spyOn(Element.prototype, 'scrollIntoView');
  const { address } = await openStudio('/', { models });
  await prompt();
  type('Prompt', 'a fox');
  seen.mockClear();
  fireEvent.click(tab('Video'));
  await waitFor(() => expect(address()).toBe('/?kind=video'));
  expect([chosen().textContent, tab('Video').tabIndex, tab('Image').tabIndex]).toEqual(['Video', 0, -1]);
  expect(screen.getByRole('tabpanel').getAttribute('aria-label')).toBe('Video');
  await waitFor(() => expect(seen.mock.contexts).toEqual([tab('Video')]));
  expect(seen.mock.calls).toEqual([[{ block: 'nearest', inline: 'nearest' }]]);
  expect((await prompt()).value).toBe('');
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Prompt')));
  // Whoever types a number means the number.
  fireEvent.keyDown(screen.getByLabelText('Prompt'), { key: '3' });
  expect(address()).toBe('/?kind=video');
  tab('Video').focus();
  const moves = ['ArrowRight', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowRight', 'End', 'Home', 'x'];
  const places = moves.map((key) => {
    const isOurs = !fireEvent.keyDown(document.activeElement ?? document.body, { key });
    return [isOurs, document.activeElement?.textContent];
  });
  expect(places).toEqual([
    [true, 'Speech'],
    [true, 'Video'],
    [true, 'Image'],
    [true, 'Templates'],
    [true, 'Image'],
    [true, 'Templates'],
    [true, 'Image'],
    [false, 'Image'],
  ]);
  expect(fireEvent.keyDown(document.body, { key: '1', ctrlKey: true })).toBe(true);
  expect(fireEvent.keyDown(document.body, { key: '0' })).toBe(true);
  expect(address()).toBe('/?kind=video');
  expect(fireEvent.keyDown(document.body, { key: '1' })).toBe(false);
  await waitFor(() => expect(address()).toBe('/?kind=image'));
  expect((await prompt()).value).toBe('a fox');
  seen.mockRestore();
});

it('leaves a voice behind with the generator that it was chosen for, and keeps the other words', async () => {
  await openStudio('/?kind=speech', { models, voices: [{ id: 'v1', name: 'Vera', language: 'en' }] });
  const chooseModel = async (name: string) => {
    fireEvent.click(await model());
    fireEvent.click(await screen.findByRole('option', { name: new RegExp(name) }));
    await screen.findByRole('combobox', { name: `Model: ${name}` });
  };
  await screen.findByLabelText('Words to say');
  type('Words to say', 'hello');
  await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>('Voice').options.length).toBe(2));
  await choose('Voice', 'v1');
  await chooseModel('Model hums');
  expect(readDraft('speech')).toEqual({
    key: 'SPEECH speaker hums',
    values: { text: 'hello', voiceId: 'v1' },
  });
  await chooseModel('Model sings');
  expect(readDraft('speech')).toEqual({ key: 'SPEECH singer sings', values: { text: 'hello' } });
});

it('shows a draft that is handed to it, by the model or by the kind alone, and keeps two changes at once', async () => {
  await openStudio('/', { models: [...models, aModel('last')] });
  await prompt();
  setDraft('video', { key: '', values: { prompt: 'of another tab' } });
  setDraft('image', { key: 'IMAGE painter last', values: { prompt: 'a crane' } });
  await screen.findByRole('combobox', { name: 'Model: Model last' });
  expect((await prompt()).value).toBe('a crane');
  setDraft('image', { key: 'IMAGE', values: {} });
  await screen.findByRole('combobox', { name: 'Model: Model ended' });
  setDraft('image', { key: 'gone', values: {} });
  await screen.findByRole('combobox', { name: 'Model: Model large' });
  expect((await prompt()).value).toBe('');
});

it('says that the models can not be asked for, and that none does a kind of work', async () => {
  await openStudio('/?kind=video', { models: () => refusal('UNAVAILABLE') });
  expect((await screen.findByRole('alert')).textContent).not.toBe('');
  expect(document.querySelector('form[data-studio-form]')).toBeNull();
  await expect(outline(document.querySelector('#studio-work'))).toMatchFileSnapshot('outlines/refused.txt');
  await closeConsole();
  await openStudio('/?kind=comfy', { models });
  await expect(outline(await screen.findByRole('tabpanel'))).toMatchFileSnapshot('outlines/no-models.txt');
});

it('is shown to whoever is unknown, as a visitor', async () => {
  await openStudio('/', { models, caller: () => refusal('UNAVAILABLE') }, { isVisitor: true });
  expect((await prompt()).value).toBe('');
  expect(screen.queryByText('Make the first image')).toBeNull();
});
