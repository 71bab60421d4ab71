import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { aTask, collects, modelFor, openForm, readTexts, type } from '../../../testing/studio.ts';
import { createFile, createList, createTask } from '../../../testing/things.ts';
import { choose, press } from '../../../testing/use.ts';
import { closeConsole, type Fields, refusal } from '../../../testing/whole-console.tsx';
import { readDraft, setDraft } from '../../../work/keeper.ts';
import type { Tab } from '../../../work/work.ts';

afterEach(closeConsole);

const fields = () => document.querySelector('[data-fields]');
const values = (tab: Tab) => readDraft(tab)?.values;
const field = (label: RegExp) => screen.getByLabelText<HTMLInputElement>(label);

const voices = [
  { id: 'v1', name: 'Vera', language: 'en', cloned: false },
  { id: 'v2', name: 'Wim', language: 'nl', cloned: false },
  { id: 'v3', name: 'Own', language: 'en', cloned: true },
  { id: 'v4', name: 'Zed', language: 'en-transatlantic', cloned: false },
  { id: 'v5', name: 'All', language: null, cloned: false },
];

it('offers the voices of the generator by language, and speaks a sample of one once', async () => {
  const { given: asked, field: asks } = collects(() => voices);
  const { given, field: synthesizeSpeech } = collects(() => aTask('sample'));
  const sample = aTask('sample', { outputs: [createFile('word', { contentType: 'audio/wav' })] });
  const root = { voices: asks, synthesizeSpeech, task: () => sample };
  await openForm(
    'speech',
    [modelFor('SPEECH', { formats: ['wav', 'mp3'], ranges: { speed: [0.5, 2] }, maxPrompt: 200 })],
    root,
  );
  await waitFor(() => expect(readTexts('optgroup')).toHaveLength(5));
  await expect(outline(fields())).toMatchFileSnapshot('outlines/fields-of-speech.txt');
  expect(asked).toEqual([{ generator: 'painter' }]);
  type(/^Speed/, '1.5');
  await choose('Format', 'mp3');
  await choose('Voice', 'v1');
  expect(values('speech')).toEqual({ speed: 1.5, format: 'mp3', voiceId: 'v1' });
  const hear = await screen.findByRole('button', { name: /Play this voice/ });
  expect(hear.textContent).toBe('Play this voice$0.04 per image');
  fireEvent.click(hear);
  await waitFor(() => expect(document.querySelector('audio')?.src).toBe('https://kiln.test/files/word'));
  expect(given.map(({ input }) => input)).toEqual([
    {
      generator: 'painter',
      model: 'of SPEECH',
      text: 'Hello. This is how I sound when I read a sentence or two.',
      voiceId: 'v1',
    },
  ]);
  await choose('Voice', 'v2');
  await screen.findByRole('button', { name: /Play this voice/ });
  await choose('Voice', 'v1');
  await waitFor(() => expect(document.querySelector('audio')).not.toBeNull());
  await choose('Voice', '');
  expect([values('speech')?.['voiceId'], document.querySelector('audio')]).toEqual([null, null]);
  expect(given).toHaveLength(1);
});

it('plays the recording of a cloned voice, says why a sample was refused, and waits for one', async () => {
  const cloned = createTask('clone', {
    kind: 'VOICE_CLONE',
    result: { __typename: 'ClonedVoice', voice: { id: 'v3', name: 'Own' } },
    input: {
      options: {},
      files: [{ input: 'sample', media: createFile('mine', { contentType: 'audio/wav' }) }],
    },
  });
  const root = {
    voices,
    tasks: createList([cloned]),
    synthesizeSpeech: () => refusal('QUEUE_FULL', { retryAfter: 60 }),
    task: () => aTask('x', { outputs: [], state: 'RUNNING' }),
  };
  await openForm('speech', [modelFor('SPEECH', { prices: null, sandbox: true })], root);
  await waitFor(() => expect(readTexts('optgroup')).toHaveLength(5));
  await choose('Voice', 'v3');
  await waitFor(() => expect(document.querySelector('audio')?.src).toBe('https://kiln.test/files/mine'));
  await choose('Voice', 'v4');
  const hear = await screen.findByRole('button', { name: 'Play this voice' });
  fireEvent.click(hear);
  await screen.findByRole('alert');
  expect(document.querySelector('audio')).toBeNull();
});

it('offers a sample again that has failed or was deleted, and says why it failed', async () => {
  const error = { code: 'RATE_LIMITED', message: 'later' };
  for (const [voice, task, why] of [
    ['v2', aTask('sample', { state: 'FAILED', error, outputs: [] }), 1],
    ['v5', null, 0],
  ] as const) {
    const { given, field: synthesizeSpeech } = collects(() => aTask('sample'));
    await openForm('speech', [modelFor('SPEECH')], { voices, synthesizeSpeech, task: () => task });
    await choose('Voice', voice);
    fireEvent.click(await screen.findByRole('button', { name: /Play this voice/ }));
    await waitFor(() => expect(given).toHaveLength(1));
    await screen.findByRole('button', { name: /Play this voice/ });
    expect(document.querySelectorAll('[data-fields] [role=alert]')).toHaveLength(why);
    await closeConsole();
  }
});

it('takes the id of a voice where nobody lists them, and says why the list is not there', async () => {
  await openForm('speech', [modelFor('SPEECH')], { voices: () => refusal('BAD_USER_INPUT') });
  fireEvent.input(await screen.findByLabelText(/^Voice/), { target: { value: 'own-1' } });
  expect(values('speech')).toEqual({ voiceId: 'own-1' });
  await closeConsole();
  await openForm('speech', [modelFor('SPEECH')], { voices: () => refusal('UNAVAILABLE') });
  await screen.findByRole('alert');
  expect(screen.queryByLabelText(/^Voice/)).toBeNull();
});

const somebody = (id: string, change: Fields = {}) =>
  createTask(id, {
    kind: 'CHARACTER',
    result: { __typename: 'Character', characterId: id },
    input: {
      options: { name: id === 'c2' ? '' : `Name ${id}` },
      files: [{ input: 'images', media: createFile(`face-${id}`) }],
    },
    ...change,
  });

it('chooses a character by image and name, one of another tool by id, or goes to make one', async () => {
  const cast = [
    somebody('c1'),
    somebody('c2', { createdAt: '2026-09-01T10:00:00Z' }),
    somebody('a1', { kind: 'AVATAR', result: { __typename: 'Avatar', digitalId: 'a1' } }),
  ];
  const models = [modelFor('CHARACTER_IMAGE'), modelFor('CHARACTER')];
  await openForm('image', models, { tasks: createList(cast) });
  await waitFor(() => expect(screen.getAllByRole('radio').length).toBeGreaterThan(8));
  await screen.findByText('Name c1');
  await expect(
    outline(screen.getByRole('radiogroup', { name: 'Character' }).parentElement),
  ).toMatchFileSnapshot('outlines/cast-field.txt');
  const card = (name: RegExp) => screen.getByRole('radio', { name });
  fireEvent.click(card(/Name c1/));
  expect([
    values('image'),
    card(/Name c1/).ariaChecked ?? card(/Name c1/).getAttribute('aria-checked'),
  ]).toEqual([{ characterId: 'c1' }, 'true']);
  fireEvent.click(card(/Name c1/));
  expect(values('image')).toEqual({ characterId: null });
  await press('One from another tool');
  type('ID in the other tool', 'foreign');
  expect(values('image')).toEqual({ characterId: 'foreign' });
  type('ID in the other tool', '');
  expect(values('image')).toEqual({ characterId: null });
  type(/^Prompt/, 'at sea');
  await press('New character');
  await waitFor(() => expect(document.querySelector('form')?.getAttribute('aria-label')).toBe('Character'));
  expect(readDraft('image')).toEqual({ key: 'CHARACTER', values: { characterId: null, prompt: 'at sea' } });
});

it('shows the id of somebody who is not listed, and says why nobody is', async () => {
  await openForm('avatar', [modelFor('AVATAR_VIDEO'), modelFor('AVATAR')], {
    tasks: () => refusal('UNAVAILABLE'),
    voices,
  });
  setDraft('avatar', { key: 'AVATAR_VIDEO', values: { digitalId: 'far' } });
  await waitFor(() => expect(field(/^ID in the other tool/).value).toBe('far'));
  await screen.findByRole('alert');
  await waitFor(() => expect(readTexts('optgroup')).toHaveLength(5));
  await choose('Voice', 'v1');
  // An avatar says words of its own.
  await waitFor(() => expect(values('avatar')).toEqual({ digitalId: 'far', voiceId: 'v1' }));
  expect(screen.queryByRole('button', { name: /Play this voice/ })).toBeNull();
  await choose('What to make', 'AVATAR');
  await screen.findByRole('radiogroup', { name: 'Video of the avatar' });
});
