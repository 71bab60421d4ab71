import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { aBatch, aModel, collects, keepBatches, openStudio, readTexts, type } from '../../testing/studio.ts';
import { createList } from '../../testing/things.ts';
import { press } from '../../testing/use.ts';
import { closeConsole, refusal } from '../../testing/whole-console.tsx';
import { readDraft } from '../../work/keeper.ts';

afterEach(closeConsole);

const template = (code: string, more = {}) => ({
  code,
  name: `Template ${code}`,
  description: `What ${code} makes`,
  creditCost: 3,
  templateType: 'VIDEO',
  parameters: { prompt: { type: 'string', required: true }, style: { type: 'string' } },
  ...more,
});
const templatesConnection = createList([
  template('one'),
  template('two', { templateType: 'IMAGE', parameters: {} }),
]);
const models = [aModel('large')];
const main = () => document.querySelector('#studio-work');
const card = (name: string) => screen.findByRole('button', { name: new RegExp(`Template ${name}`) });

it('shows the templates, opens the form of one and closes it again', async () => {
  await openStudio('/?kind=templates', { models, templatesConnection });
  fireEvent.click(await card('one'));
  type(/^Prompt/, 'a fox');
  await expect(outline(main())).toMatchFileSnapshot('outlines/templates.txt');
  expect(readDraft('templates')).toEqual({ key: 'one', values: { prompt: 'a fox' } });
  fireEvent.click(await card('two'));
  expect([readTexts('form').length, readDraft('templates')]).toEqual([1, { key: 'two', values: {} }]);
  fireEvent.click(await card('two'));
  expect([readTexts('form').length, readDraft('templates')]).toEqual([0, { key: '', values: {} }]);
});

it('runs a template with what is filled in, once, and shows its task among the rest', async () => {
  let answer: (started: object) => void = () => undefined;
  const { given, field } = collects(() => new Promise((resolve) => (answer = resolve)));
  await openStudio('/?kind=templates', { models, templatesConnection, executeTemplate: field });
  fireEvent.click(await card('one'));
  type(/^Prompt/, 'a fox');
  await press('Make it');
  const button = await screen.findByRole<HTMLButtonElement>('button', { name: 'Sending' });
  expect(button.disabled).toBe(true);
  await waitFor(() => expect(given).toHaveLength(1));
  answer({ taskId: 't7' });
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a fox']));
  expect(given).toEqual([
    { code: 'one', parameters: { prompt: 'a fox' }, idempotencyKey: expect.stringMatching(/^[\da-f-]{36}$/) },
  ]);
  expect(JSON.parse(localStorage.getItem('kiln.batches') ?? '')).toMatchObject([
    {
      kind: 'VIDEO',
      modelName: 'Template one',
      template: 'one',
      values: { prompt: 'a fox' },
      tasks: ['t7'],
      at: '2026-09-01T12:00:00.000Z',
    },
  ]);
  // Again with what it was run with then, and the form with it.
  type(/^Prompt/, 'a crane');
  await press('Again');
  await waitFor(() => expect(given).toHaveLength(2));
  expect(given[1]).toMatchObject({ code: 'one', parameters: { prompt: 'a fox' } });
  answer({ taskId: 't8' });
  await press('Remix');
  expect(readDraft('templates')).toEqual({ key: 'one', values: { prompt: 'a fox' } });
  expect(screen.queryByRole('button', { name: 'Vary' })).toBeNull();
});

it('says why a template was refused, until something is changed', async () => {
  const executeTemplate = () => refusal('INSUFFICIENT_CREDITS');
  await openStudio('/?kind=templates', { models, templatesConnection, executeTemplate });
  fireEvent.click(await card('one'));
  type(/^Prompt/, 'a fox');
  await press('Make it');
  await screen.findByRole('alert');
  expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'Make it' })).disabled).toBe(false);
  expect(readTexts('[data-results]')).toEqual([]);
  type(/^Prompt/, 'a polite fox');
  expect(screen.queryByRole('alert')).toBeNull();
});

it('runs a template once where the answer to its start was lost', async () => {
  const { given, field } = collects((count) => (count === 1 ? refusal('INTERNAL') : { taskId: 't9' }));
  await openStudio('/?kind=templates', { models, templatesConnection, executeTemplate: field });
  fireEvent.click(await card('one'));
  type(/^Prompt/, 'a fox');
  await press('Make it');
  await screen.findByRole('alert');
  await press('Make it');
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a fox']));
  expect(new Set(given.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
});

it('says that there are no templates, and that they can not be asked for', async () => {
  await openStudio('/?kind=templates', { models, templatesConnection: createList([]) });
  await screen.findByText('What you make appears here');
  await expect(outline(main())).toMatchFileSnapshot('outlines/no-templates.txt');
  await closeConsole();
  await openStudio('/?kind=templates', { models, templatesConnection: () => refusal('UNAVAILABLE') });
  await screen.findByText('What you make appears here');
  expect((await screen.findAllByRole('alert')).length).toBe(1);
});

it('takes a submission of a template to its form, from another tab of the Studio', async () => {
  const { address } = await openStudio('/?kind=video', {
    models: [aModel('moves', { kinds: ['VIDEO'] })],
    templatesConnection,
  });
  await screen.findByText('What you make appears here');
  keepBatches([aBatch('t1', { kind: 'VIDEO', template: 'one', values: { prompt: 'a fox' } })]);
  await press('Remix');
  await waitFor(() => expect(address()).toBe('/?kind=templates'));
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>(/^Prompt/).value).toBe('a fox'));
});
