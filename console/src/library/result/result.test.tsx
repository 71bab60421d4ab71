import { waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { ago, createFile, createTask } from '../../testing/things.ts';
import { all, find, press } from '../../testing/use.ts';
import { closeConsole, type Fields, openConsole } from '../../testing/whole-console.tsx';
import { readDraft } from '../../work/keeper.ts';

afterEach(closeConsole);

const open = (change: Fields) =>
  openConsole('/tasks/t1', { task: createTask('t1', change), webhookDeliveries: [] });
/** The card of what has become of a task. */
const card = async () => {
  const status = await find('main [role=status]', /Done|Failed|Running|Queued|Cancelled|Succeeded/);
  return status.closest('header')?.parentElement ?? null;
};

it('shows files with their sizes, and what was noted of them', async () => {
  await open({
    sandbox: true,
    outputs: [
      createFile('one', { width: 2_000 }),
      createFile('film', { contentType: 'video/mp4', duration: 5.25, bytes: 3_500_000 }),
      createFile('sound', { contentType: 'audio/wav', width: null, height: null, duration: 2 }),
    ],
    noteInfos: [
      { code: 'OTHER', text: 'the words of the server' },
      { code: 'NEAREST_SHAPE', text: 'changed', aspectRatio: '16:9', usedAspectRatio: '1:1' },
    ],
    texts: ['first', 'second'],
    text: 'first',
  });
  await expect(outline(await card())).toMatchFileSnapshot('outlines/made.txt');
});

it('shows one file as wide as it may be, and the only words of a task', async () => {
  await open({ outputs: [createFile('one')], text: 'the only words' });
  await expect(outline(await card())).toMatchFileSnapshot('outlines/made-one.txt');
});

it.each([
  ['QUEUED', 0],
  ['RUNNING', 40],
])('shows how far a task is that is %s', async (state, progress) => {
  await open({ state, progress, endedAt: null, startedAt: null, queuePosition: 2 });
  await expect(outline(await card())).toMatchFileSnapshot(`outlines/${state.toLowerCase()}.txt`);
});

it('says why a task has failed', async () => {
  await open({
    state: 'FAILED',
    error: { code: 'RATE_LIMITED', message: 'slower, please' },
    createdAt: ago(9_000),
  });
  await expect(outline(await card())).toMatchFileSnapshot('outlines/failed.txt');
});

it.each([
  [true, 'a face'],
  [false, null],
  [null, null],
])('says whether somebody is in an image: %s', async (hasPerson, reason) => {
  await open({ kind: 'PERSON_DETECTION', result: { __typename: 'PersonDetection', hasPerson, reason } });
  await expect(outline(await card())).toMatchFileSnapshot(`outlines/person-${String(hasPerson)}.txt`);
});

it.each([
  ['ClonedVoice', { voice: { id: 'v1', name: 'Mine' } }, 'speech', 'SPEECH', { voiceId: 'v1' }],
  ['Character', { characterId: 'c1' }, 'image', 'CHARACTER_IMAGE', { characterId: 'c1' }],
  ['AvatarSource', { videoId: 's1' }, 'avatar', 'AVATAR', { videoId: 's1' }],
  ['Avatar', { digitalId: 'd1' }, 'avatar', 'AVATAR_VIDEO', { digitalId: 'd1' }],
] as const)('goes on with a %s in the form that takes it', async (name, result, tab, key, values) => {
  const { address } = await open({ result: { __typename: name, ...result } });
  const id = String(Object.values(values)[0]);
  await waitFor(() => expect(all('code', id)).toHaveLength(1));
  await expect(outline(await card())).toMatchFileSnapshot(`outlines/next-of-${name}.txt`);
  await press('Use for the next step', (await card()) ?? document);
  await waitFor(() => expect(address()).toBe(`/?kind=${tab}`));
  expect(readDraft(tab)).toMatchObject({ key, values });
});

it('has no next step for what is only words', async () => {
  await open({ result: { __typename: 'Description' }, texts: ['a lake'] });
  const made = await card();
  expect(made?.querySelector('[data-said-text]')?.textContent).toBe('a lake');
  expect(made?.querySelector('details')).toBeNull();
});
