import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { submit } from '../../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';
import { parseGraph } from './graph-field.tsx';

afterEach(closeConsole);

const graph = { '3': { class_type: 'KSampler' } };
const text = JSON.stringify(graph);
const input = (name: string, change: Fields = {}): Fields => ({
  name,
  type: 'INTEGER',
  required: true,
  default: 20,
  description: 'how many',
  at: [`3.${name}`, `4.${name}`],
  ...change,
});
const proposedWorkflow = {
  inputs: [
    input('steps', { minimum: 1 }),
    input('strength', { type: 'NUMBER', maximum: 2, default: null }),
    input('face', { type: 'FILE' }),
  ],
  outputs: [
    { name: 'image', node: '9', type: 'IMAGE' },
    { name: 'mask', node: '8', type: 'IMAGE' },
  ],
};
const saved = (id: string) => ({ id, versions: [] });
const graphField = () => screen.findByLabelText<HTMLTextAreaElement>(t('workflows.graph'));
const type = async (label: string, value: string) =>
  void fireEvent.input(await screen.findByLabelText(label), { target: { value } });
const save = () => screen.getByText<HTMLButtonElement>(t('workflows.save'));
const createFile = (words: string) => new File([words], 'graph.json', { type: 'application/json' });

it('finds what a graph offers, and saves what was taken of it', async () => {
  const { address, askedFor } = await openConsole('/workflows/new', {
    proposedWorkflow,
    saveWorkflow: saved('poster-maker'),
    savedWorkflow: saved('poster-maker'),
  });
  expect((await graphField()).value).toBe('');
  expect(save().disabled).toBe(true);
  await type(t('workflows.graph'), text);
  expect(await screen.findByLabelText(t('workflows.nameOf', { name: 'steps' }))).toBeDefined();
  expect(save().disabled).toBe(true);
  fireEvent.change(screen.getByLabelText(t('workflows.nameOf', { name: 'steps' })), {
    target: { value: 'count' },
  });
  fireEvent.click(screen.getByLabelText(t('workflows.take', { name: 'face' })));
  await type(t('workflows.defaultOf', { name: 'strength' }), '0.5');
  await type(t('field.name'), ' poster-maker ');
  await type(t('workflows.description'), 'makes posters');
  await waitFor(() => expect(save().disabled).toBe(false));
  await expect(outline()).toMatchFileSnapshot('outlines/new-workflow.txt');
  submit(save().form);
  await waitFor(() => expect(address()).toBe('/workflows/poster-maker'));
  expect(askedFor('ProposedWorkflow')).toEqual([{ graph }]);
  const [asked] = askedFor('SaveWorkflow');
  expect(asked).toMatchObject({
    name: 'poster-maker',
    graph,
    description: 'makes posters',
    inputs: [
      { name: 'count', default: 20, at: ['3.steps', '4.steps'] },
      { name: 'strength', default: 0.5 },
    ],
    outputs: proposedWorkflow.outputs,
  });
  expect(asked?.['inputs']).toHaveLength(2);
});

it('is saved with what its own graph offers, not with what one before it did', async () => {
  const second = Promise.withResolvers<Fields>();
  let times = 0;
  const { askedFor, hasAsked } = await openConsole('/workflows/new', {
    proposedWorkflow: () => (times++ === 0 ? proposedWorkflow : second.promise),
    saveWorkflow: saved('poster'),
    savedWorkflow: saved('poster'),
  });
  await type(t('field.name'), 'poster');
  await type(t('workflows.graph'), text);
  await waitFor(() => expect(save().disabled).toBe(false));
  await type(t('workflows.graph'), '{"5":{"class_type":"Other"}}');
  await waitFor(() => expect(save().disabled).toBe(true));
  await hasAsked('ProposedWorkflow', 2);
  expect(save().disabled).toBe(true);
  second.resolve({ ...proposedWorkflow, inputs: [input('words')] });
  await waitFor(() => expect(save().disabled).toBe(false));
  submit(save().form);
  await hasAsked('SaveWorkflow');
  expect(askedFor('SaveWorkflow')[0]).toMatchObject({ inputs: [{ name: 'words' }] });
});

it('begins the next version with what the last one is', async () => {
  await openConsole('/workflows/new?of=poster', {
    savedWorkflow: {
      id: 'poster',
      description: 'makes posters',
      versions: [
        { number: 2, graph },
        { number: 1, graph: {} },
      ],
    },
    proposedWorkflow,
  });
  expect((await graphField()).value).toBe(JSON.stringify(graph, null, 2));
  expect(screen.getByText(t('workflows.nextOf', { name: 'poster' }))).toBeDefined();
  const name = screen.getByLabelText<HTMLInputElement>(t('field.name'));
  expect([name.value, name.readOnly]).toEqual(['poster', true]);
  expect(screen.getByLabelText<HTMLInputElement>(t('workflows.description')).value).toBe('makes posters');
  await closeConsole();
  // Of a graph that may not be seen, or that is gone, nothing is filled in.
  for (const savedWorkflow of [{ id: 'poster', versions: [{ number: 2, graph: null }] }, null]) {
    await openConsole('/workflows/new?of=poster', { savedWorkflow });
    expect((await graphField()).value).toBe('');
    await closeConsole();
  }
});

it('says what is wrong with a graph, and what refuses it', async () => {
  let isRefused = true;
  const { askedFor } = await openConsole('/workflows/new', {
    proposedWorkflow: () => {
      if (isRefused) throw refusal('BAD_USER_INPUT');
      return proposedWorkflow;
    },
    saveWorkflow: () => {
      throw refusal('CONFLICT');
    },
  });
  await type(t('workflows.graph'), '{ no');
  expect(await screen.findByText(t('workflows.noJson'))).toBeDefined();
  await expect(outline((await graphField()).parentElement)).toMatchFileSnapshot('outlines/graph-problem.txt');
  expect(askedFor('ProposedWorkflow')).toEqual([]);
  await type(t('workflows.graph'), text);
  expect(await screen.findByRole('alert')).toBeDefined();
  isRefused = false;
  await type(t('workflows.graph'), `${text} `);
  expect(await screen.findByLabelText(t('workflows.nameOf', { name: 'steps' }))).toBeDefined();
  // A graph that is taken out again offers nothing.
  await type(t('workflows.graph'), '');
  await waitFor(() => expect(screen.queryByLabelText(t('workflows.nameOf', { name: 'steps' }))).toBeNull());
  await type(t('workflows.graph'), text);
  await type(t('field.name'), 'poster');
  await waitFor(() => expect(save().disabled).toBe(false));
  submit(save().form);
  await waitFor(() => expect(askedFor('SaveWorkflow')).toHaveLength(1));
  expect(await screen.findByRole('alert')).toBeDefined();
  expect((await graphField()).value).toBe(text);
});

it('reads a file that is chosen or dropped, unless it is too large', async () => {
  await openConsole('/workflows/new', { proposedWorkflow });
  const field = await graphField();
  const [choice] = [...document.querySelectorAll<HTMLInputElement>('input[type=file]')];
  let isAsked = false;
  choice?.addEventListener('click', () => (isAsked = true));
  fireEvent.click(screen.getByText(t('workflows.file')));
  expect(isAsked).toBe(true);
  const choose = (files: readonly File[]) => {
    if (choice === undefined) return;
    Object.defineProperty(choice, 'files', { value: files, configurable: true });
    choice.dispatchEvent(new Event('change', { bubbles: true }));
  };
  choose([createFile('{"a":1}')]);
  await waitFor(() => expect(field.value).toBe('{"a":1}'));
  choose([]);
  choose([createFile('x'.repeat((2 << 20) + 1))]);
  expect(await screen.findByText(t('workflows.tooLarge'))).toBeDefined();
  expect(field.value).toBe('{"a":1}');
  const folder = createFile('{}');
  folder.text = () => Promise.reject(new DOMException('a folder', 'NotReadableError'));
  choose([folder]);
  await screen.findByText('graph.json could not be read.');
  // The same file may be chosen again, and what is written takes the place of what was wrong.
  const emptied = vi.spyOn(choice ?? document.createElement('input'), 'value', 'set');
  choose([createFile('{"a":2}')]);
  await waitFor(() => expect(field.value).toBe('{"a":2}'));
  expect(emptied.mock.calls).toEqual([['']]);
  choose([folder]);
  await screen.findByText('graph.json could not be read.');
  await type(t('workflows.graph'), '{"a":1}');
  expect(screen.queryByText('graph.json could not be read.')).toBeNull();
  const over = new Event('dragover', { bubbles: true, cancelable: true });
  fireEvent(field, over);
  const drop = Object.assign(new Event('drop', { bubbles: true, cancelable: true }), {
    dataTransfer: { files: [createFile(`{"b":"${'x'.repeat((2 << 20) - 8)}"}`)] },
  });
  fireEvent(field, drop);
  // The page is not left for the file.
  expect([over.defaultPrevented, drop.defaultPrevented]).toEqual([true, true]);
  await waitFor(() => expect(field.value).toMatch(/^\{"b"/));
  expect(screen.queryByText(t('workflows.tooLarge'))).toBeNull();
});

it.each([
  ['', null, null],
  ['  ', null, null],
  ['7', null, 'workflows.noJson'],
  ['null', null, 'workflows.noJson'],
  ['[]', null, 'workflows.noJson'],
  ['{"nodes":[],"links":[]}', null, 'workflows.editorFormat'],
  ['{"nodes":[]}', { nodes: [] }, null],
  ['{"links":[]}', { links: [] }, null],
] as const)('a graph is read of a text: %j', (words, found, problem) => {
  expect(parseGraph(words)).toEqual({ graph: found, problem: problem === null ? null : t(problem) });
});
