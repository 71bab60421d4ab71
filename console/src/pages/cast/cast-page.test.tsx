import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { aBatch, keepBatches } from '../../testing/studio.ts';
import { ago, createFile, createList, createTask } from '../../testing/things.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../../testing/whole-console.tsx';
import { t } from '../../text/text.ts';
import { readDraft } from '../../work/keeper.ts';

afterEach(closeConsole);

const member = (kind: string, name: string, result: Fields, media: Fields | null = null): Fields =>
  createTask(`task-${name}`, {
    kind,
    result,
    createdAt: ago(120),
    input: { options: { name }, files: media === null ? [] : [{ input: 'images', media }] },
  });
const image = createFile('ada', { task: null });
const sound = createFile('ann', { contentType: 'audio/mpeg', task: null });
const cast = [
  member('CHARACTER', 'Ada', { __typename: 'Character', characterId: 'char_1' }, image),
  member('AVATAR', 'Ben', { __typename: 'Avatar', digitalId: 'avatar_1' }),
  member('AVATAR_SOURCE', 'Cid', { __typename: 'AvatarSource', videoId: 'video_1' }),
  member('VOICE_CLONE', 'Ann', { __typename: 'ClonedVoice', voice: { id: 'voice_1', name: 'Ann' } }, sound),
];
const press = async (words: string) =>
  void fireEvent.click(await screen.findByText(words, { selector: 'button' }));

it('shows everybody who can appear or speak, by what they are', async () => {
  await openConsole('/cast', { tasks: createList(cast, 'next') });
  await screen.findByText('Ann');
  await expect(outline()).toMatchFileSnapshot('outlines/cast.txt');
});

it('shows a visitor those whom this browser has made and are there, and why others are not', async () => {
  const visitor = { caller: { id: 'anon', kind: 'ANONYMOUS', mayStart: true }, viewer: null };
  const [ada] = cast;
  keepBatches([
    aBatch('task-Ada', { kind: 'CHARACTER' }),
    aBatch('task-gone', { kind: 'AVATAR' }),
    aBatch('task-image', { kind: 'IMAGE' }),
  ]);
  const task = ({ id }: { readonly id: string }) => {
    if (id === 'task-gone') throw refusal('RATE_LIMITED');
    return id === 'task-Ada' ? ada : null;
  };
  const { askedFor } = await openConsole('/cast', { ...visitor, task }, { isVisitor: true });
  await screen.findByText('Ada');
  await screen.findByRole('alert');
  expect(askedFor('CastOfTask')).toEqual([{ id: 'task-Ada' }, { id: 'task-gone' }]);
  keepBatches([]);
});

it.each([
  ['CHARACTER', 'CHARACTER_IMAGE', { characterId: 'char_1' }],
  ['AVATAR', 'AVATAR_VIDEO', { digitalId: 'avatar_1' }],
  ['AVATAR_SOURCE', 'AVATAR', { videoId: 'video_1' }],
  ['VOICE_CLONE', 'SPEECH', { voiceId: 'voice_1' }],
] as const)('has a %s appear in new work, and makes another one', async (kind, next, values) => {
  const { address } = await openConsole('/cast', { tasks: createList(cast) });
  await press(t(`cast.use.${kind}`));
  await waitFor(() => expect(address()).toMatch(/^\/\?kind=/));
  const tab = () => new URL(address(), 'http://kiln.test').searchParams.get('kind') ?? '';
  expect(readDraft(tab() as never)).toMatchObject({ key: next, values });
  await closeConsole();
  const again = await openConsole('/cast', { tasks: createList([]) });
  expect(await screen.findByText(t(`cast.none.${kind}`))).toBeDefined();
  await press(t(`cast.new.${kind}`));
  await waitFor(() => expect(again.address()).toMatch(/^\/\?kind=/));
  const draft = readDraft(new URL(again.address(), 'http://kiln.test').searchParams.get('kind') as never);
  expect(draft?.key).toBe(kind);
});

it('waits for them, loads those before, and says that they cannot be asked', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { hasAsked } = await openConsole('/cast', {
    tasks: ({ after }: { readonly after?: string | null }) =>
      typeof after === 'string' ? createList(cast.slice(1)) : new Promise((resolve) => (answer = resolve)),
  });
  await hasAsked('Cast');
  expect(document.querySelectorAll('[aria-busy=true]')).toHaveLength(1);
  expect(screen.queryByText(t('cast.none.AVATAR'))).toBeNull();
  answer(createList(cast.slice(0, 1), 'next'));
  await press(t('list.more'));
  expect(await screen.findByText('Ann')).toBeDefined();
  await closeConsole();
  await openConsole('/cast', {
    tasks: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  expect(await screen.findByRole('alert')).toBeDefined();
});
