import { expect, it } from 'vitest';

import type { CastPartsFragment } from '../api/documents/operations.ts';
import { listMembers } from './cast.tsx';

const task = (
  kind: string,
  at: string,
  result: object,
  options: object = {},
  files: readonly string[] = [],
) =>
  ({
    kind,
    generator: 'g',
    createdAt: at,
    result,
    input: { options, files: files.map((id) => ({ input: 'images', media: { id } })) },
  }) as unknown as CastPartsFragment;

it('who was made is told with a name and what shows them, newest first', () => {
  const members = listMembers([
    task('CHARACTER', '1', { characterId: 'c1' }, { name: 'Mara' }, ['f1', 'f2']),
    task('VOICE_CLONE', '2', { voice: { id: 'v1', name: 'Mine' } }, {}, ['f3']),
    task('IMAGE', '3', {}),
  ]);
  expect(members.map(({ id, kind, name, media }) => [id, kind, name, media?.id])).toEqual([
    ['v1', 'VOICE_CLONE', 'Mine', 'f3'],
    ['c1', 'CHARACTER', 'Mara', 'f1'],
  ]);
});

it('an avatar is shown by the video that it was made of, and one that was made twice is told once', () => {
  const members = listMembers([
    task('AVATAR', '3', { digitalId: 'a1' }, { videoId: 's1', name: 'Host' }),
    task('AVATAR', '2', { digitalId: 'a1' }, { videoId: 's1', name: 'Old' }),
    task('AVATAR_SOURCE', '1', { videoId: 's1' }, {}, ['clip']),
  ]);
  expect(members.map(({ id, name, media }) => [id, name, media?.id])).toEqual([
    ['a1', 'Host', 'clip'],
    ['s1', '', 'clip'],
  ]);
});
