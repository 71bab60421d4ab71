import type { Media } from '@kiln/client';
import { fireEvent, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';

import { kiln } from '../../api/kiln.ts';
import { outline } from '../../testing/outline.ts';
import { ago, createFile, createTask } from '../../testing/things.ts';
import { submit } from '../../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';
import { readDraft } from '../../work/keeper.ts';

afterEach(closeConsole);

const input = (name: string, type: string, change: Fields = {}): Fields => ({
  name,
  type,
  at: [],
  ...change,
});
const inputs = [
  input('prompt', 'TEXT', { required: true, default: 'a lake' }),
  input('steps', 'INTEGER', { minimum: 1, maximum: 50, multipleOf: 5, default: 20 }),
  input('seed', 'INTEGER'),
  input('strength', 'NUMBER', { default: 0.5 }),
  input('sharp', 'BOOLEAN', { default: true }),
  input('flat', 'BOOLEAN'),
  input('style', 'TEXT', { values: ['ink', 'oil'], default: 'ink' }),
  input('face', 'FILE'),
];
const version = (number: number, change: Fields = {}): Fields => ({
  number,
  published: false,
  createdAt: ago(number * 60),
  inputs: [input('prompt', 'TEXT')],
  missing: [],
  ...change,
});
const workflow = (change: Fields = {}): Fields => ({
  id: 'poster',
  model: 'poster@2',
  mine: true,
  description: 'makes posters',
  published: 2,
  previous: 1,
  versions: [
    version(3, { inputs, missing: ['KSampler', 'VAE'] }),
    version(2, { published: true, missing: null }),
    version(1),
  ],
  ...change,
});
const open = (change: Fields = {}, more: Fields = {}) =>
  openConsole('/workflows/poster', { savedWorkflow: workflow(change), ...more });
const press = async (words: string, at = 0) =>
  void fireEvent.click((await screen.findAllByText(words, { selector: 'button' }))[at] ?? document.body);
const type = async (label: string, value: string) =>
  void fireEvent.change(await screen.findByLabelText(label), { target: { value } });
const run = () => submit(screen.getByText<HTMLButtonElement>(t('workflows.run')).form);

it('shows its versions, which of them everybody runs, and a form to try one', async () => {
  await open();
  await screen.findByLabelText('prompt');
  await expect(outline()).toMatchFileSnapshot('outlines/workflow.txt');
});

it('is somebody else’s, who alone changes it', async () => {
  await open({ mine: false, published: null, description: '', versions: [] });
  await screen.findByText(t('workflows.versions'));
  await expect(outline()).toMatchFileSnapshot('outlines/workflow-of-others.txt');
});

it('is published, rolled back and withdrawn', async () => {
  const { askedFor, hasAsked } = await open(
    {},
    { publishWorkflow: workflow(), rollBackWorkflow: workflow(), withdrawWorkflow: workflow() },
  );
  await press(t('workflows.publish'), 1);
  await hasAsked('PublishWorkflow');
  expect(askedFor('PublishWorkflow')).toEqual([{ id: 'poster', version: 1 }]);
  const isIdle = (words: string) =>
    waitFor(() => expect(screen.getByText<HTMLButtonElement>(words).disabled).toBe(false));
  await isIdle(t('workflows.withdraw'));
  await press(t('workflows.rollBack', { number: 1 }));
  await hasAsked('RollBackWorkflow');
  await isIdle(t('workflows.withdraw'));
  await press(t('workflows.withdraw'));
  await hasAsked('WithdrawWorkflow');
  expect([askedFor('RollBackWorkflow'), askedFor('WithdrawWorkflow')]).toEqual([
    [{ id: 'poster' }],
    [{ id: 'poster' }],
  ]);
  expect(askedFor('DeleteWorkflow')).toEqual([]);
  // What is published is a model: they are asked for again.
  await hasAsked('SavedWorkflow', 1);
});

it.each([
  ['publishWorkflow', t('workflows.publish')],
  ['rollBackWorkflow', t('workflows.rollBack', { number: 1 })],
  ['withdrawWorkflow', t('workflows.withdraw')],
] as const)('says why not: %s', async (field, words) => {
  let answer: (value: unknown) => void = () => undefined;
  await open({}, { [field]: () => new Promise((resolve) => (answer = resolve)) });
  await press(words);
  const buttons = () => [...document.querySelectorAll('section')][0]?.querySelectorAll('button') ?? [];
  // One at a time.
  await waitFor(() => expect([...buttons()].every(({ disabled }) => disabled)).toBe(true));
  await waitFor(() => {
    answer(refusal('CONFLICT'));
    expect(screen.getByRole('alert')).toBeDefined();
  });
  await waitFor(() => expect([...buttons()].some(({ disabled }) => disabled)).toBe(false));
});

it('is deleted after a yes', async () => {
  let isRefused = true;
  const confirm = vi.fn<(words?: string) => boolean>().mockReturnValueOnce(false).mockReturnValue(true);
  const { address, askedFor } = await open(
    {},
    {
      deleteWorkflow: () => {
        if (isRefused) throw refusal('CONFLICT');
        return { id: 'poster' };
      },
      savedWorkflows: [],
    },
  );
  vi.stubGlobal('confirm', confirm);
  await press(t('workflows.delete'));
  expect(confirm).toHaveBeenCalledWith(t('workflows.sure', { name: 'poster' }));
  expect(askedFor('DeleteWorkflow')).toEqual([]);
  await press(t('workflows.delete'));
  expect(await screen.findByRole('alert')).toBeDefined();
  isRefused = false;
  await press(t('workflows.delete'));
  await waitFor(() => expect(address()).toBe('/workflows'));
  expect(confirm).toHaveBeenCalledTimes(3);
});

it('opens in the Studio as a model', async () => {
  const { address } = await open();
  await press(t('workflows.studio'));
  await waitFor(() => expect(address()).toBe('/?kind=comfy'));
  expect(readDraft('comfy')).toMatchObject({ key: 'COMFY_WORKFLOW comfy poster@2', values: {} });
});

it('is tried with the values that were filled in, each of its type', async () => {
  const made = createTask('task-one', {
    kind: 'COMFY_WORKFLOW',
    outputs: [createFile('m1', { task: null })],
  });
  const { askedFor } = await open({}, { runComfyWorkflow: made, task: made });
  await type('prompt', 'a hill');
  await type('steps', '25');
  await type('strength', '0.25');
  await userEvent.selectOptions(screen.getByLabelText('sharp'), 'false');
  await userEvent.selectOptions(screen.getByLabelText('flat'), 'true');
  await userEvent.selectOptions(screen.getByLabelText('style'), 'oil');
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>('prompt').value).toBe('a hill'));
  run();
  await screen.findByText(t('shop.inGallery'));
  expect(askedFor('TryWorkflow')).toEqual([
    {
      input: {
        workflowName: 'poster',
        version: 3,
        inputs: { prompt: 'a hill', steps: 25, strength: 0.25, sharp: false, flat: true, style: 'oil' },
      },
      key: expect.stringMatching(/^[\da-f-]{36}$/),
    },
  ]);
  await expect(outline([...document.querySelectorAll('section')].at(-1))).toMatchFileSnapshot(
    'outlines/tried.txt',
  );
});

it('is tried in another version, and says what it does meanwhile', async () => {
  const running = createTask('task-one', {
    state: 'RUNNING',
    progress: 40,
    endedAt: null,
    stageInfo: { code: 'RENDERING', text: 'rendering' },
  });
  const versions = [version(3, { inputs }), version(2)];
  const { askedFor } = await open({ versions }, { runComfyWorkflow: running, task: running });
  const choice = await screen.findByLabelText<HTMLSelectElement>(t('workflows.versions'));
  expect(choice.value).toBe('3');
  await userEvent.selectOptions(choice, '2');
  await waitFor(() => expect(screen.queryByLabelText('steps')).toBeNull());
  run();
  expect(await screen.findByText('40 %')).toBeDefined();
  expect(screen.getByText('Rendering')).toBeDefined();
  expect(askedFor('TryWorkflow')).toMatchObject([{ input: { version: 2, inputs: {} } }]);
});

it('says why a try is refused, begins none twice, and has no choice of one version', async () => {
  let code = 'INTERNAL';
  const { askedFor, hasAsked } = await open(
    { versions: [version(1)] },
    {
      runComfyWorkflow: () => {
        throw refusal(code);
      },
    },
  );
  await screen.findByText(t('workflows.run'));
  expect(screen.queryByLabelText(t('workflows.versions'))).toBeNull();
  run();
  await screen.findByText(t('refusal.INTERNAL'));
  code = 'BUDGET_EXCEEDED';
  run();
  await screen.findByText(t('refusal.BUDGET_EXCEEDED'));
  run();
  await hasAsked('TryWorkflow', 3);
  const [first, second, third] = askedFor('TryWorkflow').map(({ key }) => key);
  expect([second === first, third === second]).toEqual([true, false]);
});

it('gives a file that was chosen by its id', async () => {
  const made = createTask('task-one');
  const upload = vi.spyOn(kiln, 'upload').mockResolvedValue({
    id: 'm1',
    name: 'm1.png',
    url: 'https://kiln.test/files/m1',
    contentType: 'image/png',
  } as Media);
  const { askedFor, hasAsked } = await open(
    { versions: [version(1, { inputs: [input('face', 'FILE')] })] },
    { runComfyWorkflow: made, task: made },
  );
  await screen.findByText(t('workflows.run'));
  const [choice] = document.querySelectorAll<HTMLInputElement>('input[type=file]');
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
  if (choice !== undefined) await userEvent.upload(choice, new File([png], 'm1.png', { type: 'image/png' }));
  await screen.findByText(t('file.count', { count: 1, most: 1 }));
  run();
  await hasAsked('TryWorkflow');
  expect(askedFor('TryWorkflow')).toMatchObject([{ input: { inputs: { face: { fileId: 'm1' } } } }]);
  upload.mockRestore();
});

it('says that there is none, and that it cannot be asked', async () => {
  await openConsole('/workflows/none', { savedWorkflow: null });
  expect(await screen.findByText(t('workflows.gone'))).toBeDefined();
  await closeConsole();
  await openConsole('/workflows/none', {
    savedWorkflow: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('waits for what it shows', async () => {
  const { hasAsked } = await openConsole('/workflows/poster', {
    savedWorkflow: () => new Promise(() => undefined),
  });
  await hasAsked('SavedWorkflow');
  await waitFor(() => expect(document.querySelectorAll('main [aria-busy=true]')).toHaveLength(1));
});
