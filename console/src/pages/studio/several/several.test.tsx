import { fireEvent, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { aModel, aTask, collects, openStudio, readTexts, type } from '../../../testing/studio.ts';
import { choose, press } from '../../../testing/use.ts';
import { closeConsole, type Fields } from '../../../testing/whole-console.tsx';
import type { Batch } from '../../../work/batches.ts';
import { setDraft } from '../../../work/keeper.ts';
import type { Choice, Model } from '../../../work/work.ts';
import { listAxes, parseValues } from './axes.ts';

afterEach(closeConsole);

const optionsSchema = {
  properties: {
    quality: { type: 'string', enum: ['low', 'high'] },
    one: { type: 'string', enum: ['only'] },
    loud: { type: 'boolean' },
    steps: { type: 'integer', minimum: 1, maximum: 50 },
    scale: { type: 'number' },
    user: { type: 'string', title: 'End user' },
    deep: { type: 'object', properties: { cfg_scale: { type: 'number' } } },
    rules: { type: 'array', items: { type: 'object' } },
  },
};
const inputs = ['prompt', 'count', 'aspectRatio', 'seed'];
const models = [
  aModel('first', { inputs, usualSeconds: 40, aspectRatios: ['1:1', '16:9', '4:3', '3:4'], optionsSchema }),
  aModel('second', { provider: 'fal', sandbox: true }),
  aModel('third'),
  aModel('fourth'),
  aModel('fifth'),
  aModel('needs more', { inputs: ['prompt', 'images'], needs: ['images', 'mask'] }),
  aModel('paused', { paused: true }),
];

async function open(root: Fields = {}, prompt = 'a fox') {
  const { given, field } = collects((count) => aTask(`t${count}`));
  const console = await openStudio('/', { models, generateImage: field, ...root });
  const button = await screen.findByRole('button', { name: 'Several at once' });
  if (prompt !== '') type('Prompt', prompt);
  fireEvent.click(button);
  await screen.findByRole('dialog', { name: 'Several at once' });
  return { ...console, given };
}
const dialog = () => screen.queryByRole('dialog', { name: 'Several at once' });
const run = () =>
  within(dialog() ?? document.body)
    .getAllByRole<HTMLButtonElement>('button')
    .at(-1);
const tick = (name: string) =>
  fireEvent.click(screen.getByRole('checkbox', { name: new RegExp(`Model ${name}`) }));
const stored = () => JSON.parse(localStorage.getItem('kiln.batches') ?? '[]') as readonly Batch[];
const readInputs = (given: readonly Fields[]) => given.map(({ input }) => input as Fields);

it('starts the form on two to four models, one result each, and shows them side by side', async () => {
  const { given } = await open();
  await expect(outline(dialog())).toMatchFileSnapshot('outlines/several-models.txt');
  expect([run()?.textContent, run()?.disabled]).toEqual(['Make it on 1 model', true]);
  tick('second');
  expect(run()?.disabled).toBe(false);
  tick('third');
  tick('fourth');
  const boxes = () =>
    screen.getAllByRole<HTMLInputElement>('checkbox').map(({ checked, disabled }) => [checked, disabled]);
  expect(boxes()).toEqual([
    [true, false],
    [true, false],
    [true, false],
    [true, false],
    [false, true],
    [false, true],
    [false, true],
  ]);
  tick('first');
  tick('fifth');
  expect(run()?.textContent).toBe('Make it on 4 models');
  tick('third');
  fireEvent.click(run() ?? document.body);
  await waitFor(() => expect(dialog()).toBeNull());
  await waitFor(() => expect(document.querySelector('[data-sheet]')).not.toBeNull());
  expect(readInputs(given).map(({ model, prompt, count }) => [model, prompt, count])).toEqual([
    ['second', 'a fox', 1],
    ['fourth', 'a fox', 1],
    ['fifth', 'a fox', 1],
  ]);
  expect(stored().map(({ cell, modelName }) => [cell?.x, modelName])).toEqual([
    [{ name: 'model', value: 'IMAGE painter second' }, 'Model second'],
    [{ name: 'model', value: 'IMAGE painter fourth' }, 'Model fourth'],
    [{ name: 'model', value: 'IMAGE painter fifth' }, 'Model fifth'],
  ]);
  expect(new Set(stored().map(({ cell }) => cell?.sheet)).size).toBe(1);
});

it('finds models by their words, says what each lacks, and that the prompt is', async () => {
  await open({}, '');
  expect(dialog()?.textContent).toContain('Write the prompt in the form first.');
  const names = () => screen.getAllByRole('checkbox').map((box) => box.closest('label')?.textContent);
  type('Search 7 models', ' FAL ');
  expect(names()).toEqual([expect.stringContaining('Model second')]);
  type('Search 7 models', 'more');
  expect(names()).toEqual(['Model needs moreStill missing: References, Mask']);
  type('Search 7 models', 'paused');
  expect(names()).toEqual(['Model pausedAn administrator has paused this provider. Choose another model.']);
  fireEvent(dialog() ?? document.body, new Event('close'));
  await waitFor(() => expect(dialog()).toBeNull());
});

it('leaves out the model of the form where that can not be started', async () => {
  setDraft('image', { key: 'IMAGE painter paused', values: { prompt: 'a fox' } });
  await open({}, '');
  for (const name of ['second', 'third']) tick(name);
  expect(run()?.disabled).toBe(true);
  tick('paused');
  expect([run()?.textContent, run()?.disabled]).toEqual(['Make it on 2 models', false]);
});

it('starts a result for each value of an option, and a table for two', async () => {
  const { given } = await open();
  await press('Vary an option');
  await waitFor(() => expect(screen.getByRole('dialog').textContent).toContain('4 results · $0.16'));
  await expect(outline(dialog())).toMatchFileSnapshot('outlines/several-options.txt');
  await choose('And down the side', 'aspectRatio');
  const chips = () => readTexts('dialog [aria-pressed=true]').slice(1);
  expect(chips()).toEqual(['1:1', '16:9', '4:3']);
  await press('3:4');
  await press('16:9');
  await press('16:9');
  expect(chips()).toEqual(['1:1', '16:9', '4:3', '3:4']);
  expect([run()?.textContent, run()?.disabled]).toEqual(['Make 16 results', false]);
  expect(screen.getByText(/^16 results/).className).not.toContain('text-failed');
  type('Numbers, such as 1, 2, 5-8', '1-5');
  expect([
    run()?.textContent,
    run()?.disabled,
    dialog()?.textContent.includes('20 results: up to 16 at once'),
  ]).toEqual(['Make 20 results', true, true]);
  type('Numbers, such as 1, 2, 5-8', '7, 9');
  await press('4:3');
  await press('1:1');
  await press('3:4');
  expect(run()?.textContent).toBe('Make 2 results');
  fireEvent.click(run() ?? document.body);
  await waitFor(() => expect(given).toHaveLength(2));
  expect(readInputs(given).map(({ seed, aspectRatio }) => [seed, aspectRatio])).toEqual([
    [7, '16:9'],
    [9, '16:9'],
  ]);
  await waitFor(() => expect(stored()).toHaveLength(2));
  expect(stored()[1]?.cell).toMatchObject({
    x: { name: 'seed', value: 9 },
    y: { name: 'aspectRatio', value: '16:9' },
  });
});

it('varies words by lines, and options of the vendor, and nothing twice', async () => {
  const { given } = await open();
  await press('Vary an option');
  const listed = (label: string) =>
    [...screen.getByLabelText<HTMLSelectElement>(label).options].map(({ textContent }) => textContent);
  expect(listed('Vary')).toEqual([
    'Prompt',
    'Shape',
    'Seed',
    'Quality',
    'loud',
    'Steps',
    'scale',
    'End user',
    'Guidance',
  ]);
  await choose('Vary', 'prompt');
  expect(listed('And down the side')).not.toContain('Prompt');
  const lines = screen.getByLabelText<HTMLTextAreaElement>('One per line');
  expect([lines.value, run()?.disabled]).toEqual(['a fox', true]);
  type('One per line', 'a fox\n\n a crane ');
  await choose('And down the side', 'options.loud');
  expect(listed('Vary')).not.toContain('loud');
  await press('On');
  fireEvent.click(run() ?? document.body);
  await waitFor(() => expect(given).toHaveLength(2));
  expect(readInputs(given).map(({ prompt, options }) => [prompt, options])).toEqual([
    ['a fox', { loud: false }],
    ['a crane', { loud: false }],
  ]);
});

it('needs no prompt where that is varied, and nothing is started without values', async () => {
  await open({ models: [aModel('plain', { sandbox: true })] }, '');
  await press('Vary an option');
  expect([run()?.textContent, run()?.disabled]).toEqual(['Make 0 results', true]);
  type('One per line', 'a\nb');
  expect([run()?.textContent, run()?.disabled]).toEqual(['Make 2 results', false]);
  expect(dialog()?.textContent).not.toContain('$');
});

it('is not offered where results say nothing beside each other', async () => {
  await openStudio('/?kind=analysis', {
    models: [aModel('a', { kinds: ['ANALYSIS'], inputs: ['media', 'prompt'] })],
  });
  await screen.findByRole('button', { name: 'As code' });
  expect(screen.queryByRole('button', { name: 'Several at once' })).toBeNull();
});

it('every member that has values can be varied, by the values of its model', () => {
  const model = {
    generator: 'g',
    model: 'm',
    inputs: [
      'text',
      'negativePrompt',
      'prompt',
      'aspectRatio',
      'resolution',
      'duration',
      'format',
      'speedMode',
      'seed',
      'speed',
      'pitch',
      'volume',
      'voiceId',
    ],
    aspectRatios: null,
    sizes: ['1K', '2K'],
    durations: null,
    formats: ['wav', 'mp3'],
    optionsSchema,
  } as unknown as Model;
  const axes = (kind: Choice['kind'], values = {}) =>
    listAxes({ key: 'k', kind, model }, values).map(
      ({ name, label, kind: of, values: offered }) => `${name}: ${label}, ${of} ${JSON.stringify(offered)}`,
    );
  expect([axes('IMAGE', { prompt: 'a' }), axes('SPEECH', { text: '' })]).toMatchInlineSnapshot(`
    [
      [
        "prompt: Prompt, lines ["a"]",
        "negativePrompt: Leave out, lines []",
        "aspectRatio: Shape, choice ["1:1","3:2","4:3","16:9","21:9","2:3","3:4","4:5","9:16"]",
        "resolution: Size, choice ["1K","2K"]",
        "speedMode: Speed mode, choice ["fast","turbo","relax"]",
        "seed: Seed, numbers [1,2,3,4]",
        "options.quality: Quality, choice ["low","high"]",
        "options.loud: loud, choice [true,false]",
        "options.steps: Steps, numbers [1,50]",
        "options.scale: scale, numbers []",
        "options.user: End user, lines []",
        "options.deep.cfg_scale: Guidance, numbers []",
      ],
      [
        "text: Words to say, lines []",
        "speed: Speed, numbers []",
        "pitch: Pitch, numbers []",
        "volume: Volume, numbers []",
        "format: Format, choice ["wav","mp3"]",
        "options.quality: Quality, choice ["low","high"]",
        "options.loud: loud, choice [true,false]",
        "options.steps: Steps, numbers [1,50]",
        "options.scale: scale, numbers []",
        "options.user: End user, lines []",
        "options.deep.cfg_scale: Guidance, numbers []",
      ],
    ]
  `);
});

it('typed values are numbers and their ranges, or lines, up to eight and each once', () => {
  const numbers = ['', '1,2;3', '-1 2.5', '3-3', '4-3', '1-8', '1-9', '2 2 2', '1-3 2-4', '1-'].map((text) =>
    parseValues('numbers', text),
  );
  expect(numbers).toEqual([
    [],
    [1],
    [-1, 2.5],
    [3],
    [],
    [1, 2, 3, 4, 5, 6, 7, 8],
    [1, 2, 3, 4, 5, 6, 7, 8],
    [2],
    [1, 2, 3, 4],
    [],
  ]);
  expect(parseValues('lines', 'a\n \nb\n a')).toEqual(['a', 'b']);
  expect(parseValues('choice', '1')).toEqual([1]);
});
