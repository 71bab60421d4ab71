import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../../testing/outline.ts';
import { afterPause, aModel, collects, openForm, type } from '../../../../testing/studio.ts';
import { closeConsole, type Fields, refusal } from '../../../../testing/whole-console.tsx';
import { readDraft } from '../../../../work/keeper.ts';

afterEach(closeConsole);

const models = [
  aModel('paused', { paused: true }),
  aModel('wide', { usualSeconds: 40, aspectRatios: ['1:1', '16:9'], durations: [5, 10], maxImages: 3 }),
  aModel('ends', { provider: 'fal', generator: 'fal', retiresAt: '2026-09-20', sandbox: true }),
  aModel('other kind', { kinds: ['CHARACTER'], inputs: ['name'] }),
];
const picker = () => screen.getByRole('combobox', { name: /^Model: / });
const popup = () => document.querySelector('[data-picker]');
const options = () => [...(popup()?.querySelectorAll<HTMLElement>('[role=option]') ?? [])];
const search = () => screen.findByLabelText<HTMLInputElement>(/^Search \d models$/);
async function open(root: Fields = {}, some: readonly Fields[] = models) {
  const opened = await openForm('image', some, root);
  fireEvent.pointerEnter(picker());
  fireEvent.focus(picker());
  fireEvent.click(picker());
  await search();
  return opened;
}
const found = {
  generator: 'fal',
  provider: 'fal',
  model: 'fal/lora',
  name: 'Lora',
  description: 'draws lines',
};
const learned = aModel('fal/lora', { name: 'Lora', generator: 'fal', provider: 'fal' });

it('lists the models of the kind by provider, with what each costs, takes and lacks', async () => {
  await open();
  await waitFor(() => expect(options()).toHaveLength(3));
  await expect(outline(popup())).toMatchFileSnapshot('outlines/model-list.txt');
  expect(options().map((option) => option.getAttribute('aria-selected'))).toEqual(['true', 'false', 'false']);
  fireEvent.input(await search(), { target: { value: 'fal' } });
  await waitFor(() =>
    expect(options().map(({ textContent }) => textContent)).toEqual([expect.stringContaining('Model ends')]),
  );
  fireEvent.click(options()[0] as HTMLElement);
  await screen.findByRole('combobox', { name: 'Model: Model ends' });
  await expect(outline(picker())).toMatchFileSnapshot('outlines/chosen-model.txt');
  expect(readDraft('image')?.key).toBe('IMAGE fal ends');
});

it('says that there is no model of that name', async () => {
  await open({}, models.slice(0, 2));
  fireEvent.input(await search(), { target: { value: 'xyz' } });
  await screen.findByText('No model of that name.');
  expect(screen.queryByText('All of fal and Replicate')).toBeNull();
});

it('finds models beyond the list once the words rest, and takes one when its vendor has told of it', async () => {
  const { given, field: findModels } = collects(() => [
    found,
    { ...found, model: 'ends', name: 'Known' },
    { ...found, model: 'fal/bare', name: 'Bare', description: null },
  ]);
  const { given: learnt, field: model } = collects((count) =>
    count === 1 ? refusal('UNAVAILABLE') : count === 2 ? { ...learned, kinds: ['VIDEO'] } : null,
  );
  await open({ findModels, model });
  const words = await search();
  const write = (value: string) => () => fireEvent.input(words, { target: { value } });
  await afterPause(400, write('lo'));
  expect(given).toEqual([]);
  await afterPause(399, write('lora'));
  expect(given).toEqual([]);
  await afterPause(400, write(' loras '));
  await screen.findByText('Lora');
  expect(given).toEqual([{ words: 'loras' }]);
  await expect(outline(screen.getByRole('region', { name: 'All of fal and Replicate' }))).toMatchFileSnapshot(
    'outlines/found-models.txt',
  );
  const choose = (name: string) => fireEvent.click(screen.getByText(name));
  choose('Lora');
  await screen.findByRole('alert');
  choose('Lora');
  await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('Lora does not make this.'));
  choose('Bare');
  await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('Bare does not make this.'));
  expect(learnt[0]).toEqual({ generator: 'fal', model: 'fal/lora' });
});

it('adds a model that was found to the list, and makes it the form’s', async () => {
  await open({ findModels: [found], model: learned });
  await afterPause(400, () => type(/^Search/, 'lora'));
  fireEvent.click(await screen.findByText('Lora'));
  await screen.findByRole('combobox', { name: 'Model: Lora' });
  expect(readDraft('image')?.key).toBe('IMAGE fal fal/lora');
  await waitFor(() => expect(popup()).toBeNull());
});

it('says of a model that is refused why, below it', async () => {
  await openForm('image', [models[0] ?? {}]);
  await expect(outline(picker().parentElement)).toMatchFileSnapshot('outlines/refused-model.txt');
});
