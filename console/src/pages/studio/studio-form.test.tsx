import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { aModel, aTask, afterPause, collects, openStudio, readTexts, type } from '../../testing/studio.ts';
import { choose, press } from '../../testing/use.ts';
import { closeConsole, type Fields, refusal } from '../../testing/whole-console.tsx';
import { readDraft } from '../../work/keeper.ts';

afterEach(closeConsole);

const optionsSchema = {
  properties: { quality: { type: 'string', enum: ['low', 'high'] }, note: { type: 'string' } },
  required: ['note'],
};
const counting = aModel('counts', { maxCount: 3, optionsSchema });
const single = aModel('one at a time', { inputs: ['prompt', 'images'], provider: 'fal' });
const maker = aModel('learns', { kinds: ['CHARACTER'], inputs: ['name', 'images'] });
const form = () => screen.findByRole('form');
const submitButton = () => screen.findByRole<HTMLButtonElement>('button', { name: /^(Make|Sending)/ });
const more = () => fireEvent.click(screen.getByLabelText('One more'));
const status = () => screen.getAllByRole('status').map(({ textContent }) => textContent);

/** A server that starts each image as a task, or refuses it. */
function starting(answer: (count: number) => unknown = (count) => aTask(`t${count}`, { state: 'QUEUED' })) {
  const { given, field } = collects(answer);
  return { given, root: { generateImage: field } satisfies Fields };
}

it('is drawn with what its model takes, says what is missing, and sends what is filled in once', async () => {
  const { given, root } = starting();
  const { address } = await openStudio('/', { models: [counting, maker], ...root });
  await screen.findByText(/Still missing: Prompt/);
  await screen.findByText('Make the first image');
  await expect(outline(await form())).toMatchFileSnapshot('outlines/form.txt');
  expect((await submitButton()).disabled).toBe(true);
  fireEvent.submit(await form());
  type('Prompt', 'a fox');
  expect(document.querySelector('#studio-missing')?.textContent).toBe('Still missing: note');
  type(/Note/, 'x');
  expect(document.querySelector('#studio-missing')?.textContent).toBe('');
  more();
  more();
  expect([
    screen.getByLabelText<HTMLButtonElement>('One more').disabled,
    readDraft('image')?.values['count'],
  ]).toEqual([true, 3]);
  expect((await submitButton()).textContent).toBe('Make 3Ctrl ↵');
  await press(/^Make/);
  await waitFor(() => expect(given).toHaveLength(1));
  expect(given[0]).toMatchObject({
    input: { generator: 'painter', model: 'counts', prompt: 'a fox', count: 3, options: { note: 'x' } },
  });
  expect(given[0]?.['idempotencyKey']).toMatch(/^[\da-f-]{36}$/);
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a fox']));
  expect([address(), screen.queryByText('Make the first image')]).toEqual(['/', null]);
});

it('starts as many tasks as results are wanted, each with a key, where its model makes one at a time', async () => {
  const { given, root } = starting();
  await openStudio('/', { models: [single], ...root });
  await submitButton();
  type('Prompt', 'a fox');
  more();
  expect(screen.getByText('This model makes one at a time: several tasks start together.')).toBeDefined();
  await waitFor(() => expect(status()).toContain('$0.08estimate2 × $0.04'));
  const fields = await form();
  expect(fireEvent.keyDown(fields, { key: 'Enter' })).toBe(true);
  expect(fireEvent.keyDown(fields, { key: 'a', ctrlKey: true })).toBe(true);
  expect(given).toEqual([]);
  expect(fireEvent.keyDown(fields, { key: 'Enter', ctrlKey: true })).toBe(false);
  await waitFor(() => expect(given).toHaveLength(2));
  expect(new Set(given.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  await waitFor(() => expect(document.querySelectorAll('[data-shot]')).toHaveLength(2));
  more();
  expect(fireEvent.keyDown(fields, { key: 'Enter', metaKey: true })).toBe(false);
  await waitFor(() => expect(given).toHaveLength(5));
});

it('starts nothing twice where an answer was lost, and anew where it was refused', async () => {
  const answers = [
    aTask('t1', { state: 'QUEUED' }),
    refusal('INTERNAL'),
    refusal('QUEUE_FULL', { retryAfter: 60 }),
  ];
  const { given, root } = starting((count) => answers[count - 1] ?? aTask(`t${count}`, { state: 'QUEUED' }));
  await openStudio('/', { models: [single], ...root });
  await submitButton();
  type('Prompt', 'a fox');
  more();
  for (const times of [2, 4, 6]) {
    await press(/^Make/);
    await waitFor(() => expect(given).toHaveLength(times));
    await screen.findByRole('button', { name: /^Make/ });
  }
  const keys = given.map(({ idempotencyKey }) => idempotencyKey);
  expect(keys[2]).toBe(keys[1]);
  expect(new Set(keys).size).toBe(5);
});

it('says that it is sent, and sends nothing else meanwhile', async () => {
  let answer: (task: Fields) => void = () => undefined;
  const { given, root } = starting(() => new Promise((resolve) => (answer = resolve)));
  await openStudio('/', { models: [single], ...root });
  await submitButton();
  type('Prompt', 'a fox');
  await press(/^Make/);
  await waitFor(() => expect(given).toHaveLength(1));
  const button = await submitButton();
  expect([button.textContent, button.disabled]).toEqual(['SendingCtrl ↵', true]);
  fireEvent.submit(await form());
  answer(aTask('t1', { state: 'QUEUED' }));
  await screen.findByRole('button', { name: /^Make it/ });
  expect(given).toHaveLength(1);
  expect((await submitButton()).disabled).toBe(false);
});

it('says what is refused, at the fields that the server names, until something is changed; the rest is started', async () => {
  const problems = [{ field: 'input.prompt', message: 'is too rude' }];
  const { given, root } = starting((count) =>
    count === 2 ? refusal('BAD_USER_INPUT', { problems }) : aTask(`t${count}`, { state: 'QUEUED' }),
  );
  await openStudio('/', { models: [single], ...root });
  await submitButton();
  type('Prompt', 'a fox');
  more();
  await press(/^Make/);
  await waitFor(() => expect(screen.getAllByRole('alert')).toHaveLength(2));
  await expect(outline(await form())).toMatchFileSnapshot('outlines/form-refused.txt');
  expect(given).toHaveLength(2);
  await waitFor(() => expect(document.querySelectorAll('[data-shot]')).toHaveLength(1));
  type('Prompt', 'a polite fox');
  expect(screen.queryByRole('alert')).toBeNull();
});

it('says a refusal of one field, and of none, and starts nothing then', async () => {
  const { given, root } = starting((count) =>
    count === 1 ? refusal('BAD_USER_INPUT', { field: 'prompt' }) : refusal('QUEUE_FULL', { retryAfter: 60 }),
  );
  await openStudio('/', { models: [single], ...root });
  await submitButton();
  type('Prompt', 'a fox');
  await press(/^Make/);
  await waitFor(() => expect(screen.getByLabelText('Prompt').getAttribute('aria-invalid')).toBe('true'));
  expect(document.querySelector('[data-results]')).toBeNull();
  await press(/^Make/);
  await waitFor(() => expect(given).toHaveLength(2));
  await waitFor(() => expect(screen.getByLabelText('Prompt').getAttribute('aria-invalid')).toBeNull());
  expect(screen.getAllByRole('alert')).toHaveLength(1);
  expect(document.querySelector('[data-results]')).toBeNull();
});

it('chooses what to make where a tab has several kinds, and keeps what both take', async () => {
  await openStudio('/', { models: [counting, single, maker] });
  await submitButton();
  type('Prompt', 'a fox');
  expect(await screen.findByLabelText('What to make')).toBeDefined();
  await choose('What to make', 'CHARACTER');
  await screen.findByRole('combobox', { name: 'Model: Model learns' });
  expect(document.querySelector('form')?.getAttribute('aria-label')).toBe('Character');
  expect([screen.queryByLabelText('One more'), readDraft('image')]).toEqual([
    null,
    { key: 'CHARACTER painter learns', values: { prompt: 'a fox' } },
  ]);
  expect((await submitButton()).textContent).toBe('Make itCtrl ↵');
});

it('starts the same on several models, which are kept as one sheet', async () => {
  const { given, root } = starting();
  await openStudio('/', { models: [single, aModel('counts')], ...root });
  await submitButton();
  type('Prompt', 'a fox');
  await press('Several at once');
  fireEvent.click(await screen.findByRole('checkbox', { name: /Model counts/ }));
  await press('Make it on 2 models');
  await waitFor(() => expect(given).toHaveLength(2));
  await waitFor(() => expect(document.querySelector('[data-sheet]')).not.toBeNull());
});

it('is not sent on a model that is refused, or over the budget', async () => {
  const { given, root } = starting();
  const paused = aModel('paused', { inputs: ['prompt'], paused: true });
  const budget = { id: 'b', amount: 1, left: 0.05, currency: 'USD', refusesUnknownPrices: false };
  const server = { models: [paused], myBudgets: [budget], ...root };
  await openStudio('/', server);
  await submitButton();
  type('Prompt', 'a fox');
  expect((await submitButton()).disabled).toBe(true);
  await closeConsole();
  await openStudio('/', { ...server, models: [single] });
  await submitButton();
  type('Prompt', 'a fox');
  expect((await submitButton()).disabled).toBe(false);
  more();
  await screen.findByText('This is more than the budget has left.');
  expect((await submitButton()).disabled).toBe(true);
  fireEvent.submit(await form());
  expect(given).toEqual([]);
});

it('gives what is dropped or pasted on it to its first field that takes it', async () => {
  await openStudio('/', { models: [single] });
  await submitButton();
  const fields = await form();
  const input = within(fields).getByLabelText<HTMLInputElement>('References');
  const changed = vi.fn<() => void>();
  input.addEventListener(
    'change',
    (event) => {
      event.stopImmediatePropagation();
      changed();
    },
    { capture: true },
  );
  const file = (contentType: string) => {
    const list = new DataTransfer();
    list.items.add(new File(['x'], 'a', { type: contentType }));
    return list;
  };
  expect(fireEvent.dragOver(fields)).toBe(false);
  expect(fireEvent.drop(fields, { dataTransfer: file('video/mp4') })).toBe(false);
  expect(fireEvent.paste(fields, { clipboardData: file('text/plain') })).toBe(true);
  expect(fireEvent.paste(fields, { clipboardData: new DataTransfer() })).toBe(true);
  expect(changed).not.toHaveBeenCalled();
  expect(fireEvent.paste(fields, { clipboardData: file('image/png') })).toBe(false);
  expect(changed).toHaveBeenCalledOnce();
  expect(input.files?.length).toBe(1);
  fireEvent.drop(fields, { dataTransfer: file('image/png') });
  expect(changed).toHaveBeenCalledTimes(2);
});

it('shows its request as code, and asks for its price once the words rest', async () => {
  const { askedFor, hasAsked } = await openStudio('/', { models: [single] });
  await submitButton();
  await hasAsked('Estimate');
  await afterPause(399, () => type('Prompt', 'a fox'));
  expect(askedFor('Estimate')).toHaveLength(1);
  await afterPause(400, () => type('Prompt', 'a red fox'));
  await hasAsked('Estimate', 2);
  expect(askedFor('Estimate')[1]).toEqual({
    input: { kind: 'IMAGE', generator: 'painter', model: 'one at a time', text: 'a red fox' },
  });
  await press('As code');
  const dialog = await screen.findByRole('dialog', { name: 'As code' });
  await waitFor(() => expect(dialog.textContent).toContain('"prompt": "a red fox"'));
  fireEvent.click(screen.getByRole('tab', { name: 'curl' }));
  expect(dialog.textContent).toContain('authorization');
  fireEvent(dialog, new Event('close'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});
