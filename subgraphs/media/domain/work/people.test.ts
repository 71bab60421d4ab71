import { describe, expect, it } from 'vitest';

import { createCatalog } from '../../generators/catalog/catalog.ts';
import { findProblems, type StepInput } from './work.ts';

const catalog = createCatalog();
const hedra = catalog.listModels('hedra');
const higgsfield = catalog.listModels('higgsfield');
const volcengine = catalog.listModels('volcengine');

/** What work with people in it is refused for, before it costs anything. */

const file = { fileId: '01890000-0000-7000-8000-000000000001' };
const fields = (work: StepInput, limits = hedra[0]) => findProblems(work, limits).map(({ field }) => field);
const talk = { kind: 'LIP_SYNC', generator: 'agg/lipsync' } as const;
const character = { kind: 'CHARACTER', generator: 'custom/charv' } as const;
const drawn = { kind: 'CHARACTER_IMAGE', generator: 'custom/charv', prompt: 'a fox' } as const;

describe('a talking video', () => {
  it('has one who talks and one thing that is said', () => {
    expect(fields({ ...talk, image: file, audio: file })).toEqual([]);
    expect(fields({ ...talk, image: file, text: 'hello', voiceId: 'v' })).toEqual([]);
    expect(fields(talk)).toEqual(['image', 'audio']);
    expect(fields({ ...talk, image: file, audio: file, text: 'hello' })).toEqual(['text']);
    expect(fields({ ...talk, image: file, text: ' ' })).toEqual(['text']);
    expect(fields({ ...talk, image: file, audio: file, voiceId: 'v' })).toEqual(['voiceId']);
  });

  it('is not made of a video by a model that takes none, and says so', () => {
    expect(findProblems({ ...talk, video: file, audio: file }, hedra[0])).toEqual([
      { field: 'video', message: 'is not taken by this model' },
    ]);
  });

  it('keeps to the shapes and sizes of its model', () => {
    const said = { ...talk, image: file, text: 'hello' };
    expect(fields({ ...said, aspectRatio: '2:3' })).toEqual(['aspectRatio']);
    expect(fields({ ...said, resolution: '4k' })).toEqual(['resolution']);
    expect(fields({ ...said, text: 'a'.repeat(5_001) })).toEqual(['text']);
  });
});

describe('a character', () => {
  const [soul] = higgsfield;

  it('has a name and from 1 to 100 images', () => {
    expect(fields({ ...character, name: 'Ada', images: [file] }, soul)).toEqual([]);
    expect(fields({ ...character, name: ' ', images: [] }, soul)).toEqual(['name', 'images']);
    const images = Array.from({ length: 101 }, () => file);
    expect(fields({ ...character, name: 'a'.repeat(101), images }, soul)).toEqual(['name', 'images']);
  });

  it('is drawn within the limits of its model', () => {
    expect(fields({ ...drawn, aspectRatio: '2:3', resolution: '1080P', count: 4 }, soul)).toEqual([]);
    const wrong = { ...drawn, prompt: '', aspectRatio: '21:9', resolution: '4k', count: 5 };
    expect(fields(wrong, soul)).toEqual(['prompt', 'aspectRatio', 'resolution', 'count']);
  });
});

describe('an image that speaks, and an avatar', () => {
  const of = (kind: StepInput['kind'], id?: string) =>
    volcengine.find((model) => model.kinds.includes(kind) && (id === undefined || model.id === id));
  const generator = 'cloud/humanvid';
  const human = { kind: 'HUMAN_VIDEO', generator, image: file, audio: file } as const;

  it('keeps to the words and sizes of its model', () => {
    expect(fields({ ...human, prompt: 'nods', resolution: '720P' }, of('HUMAN_VIDEO'))).toEqual([]);
    const wrong = { ...human, prompt: 'a'.repeat(301), resolution: '480p' };
    expect(fields(wrong, of('HUMAN_VIDEO'))).toEqual(['prompt', 'resolution']);
    const older = of('HUMAN_VIDEO', 'jimeng_realman_avatar_picture_omni_v2');
    expect(fields({ ...human, prompt: 'nods', resolution: '720p' }, older)).toEqual(['prompt', 'resolution']);
  });

  it('is made of a video and asked for by an id', () => {
    const made = { kind: 'AVATAR', generator, videoId: 'v0' } as const;
    expect(fields({ ...made, name: 'Ada' }, of('AVATAR'))).toEqual([]);
    expect(fields({ ...made, videoId: ' ', name: 'a'.repeat(101) }, of('AVATAR'))).toEqual([
      'videoId',
      'name',
    ]);
    const said = { kind: 'AVATAR_VIDEO', generator, digitalId: 'd', audio: file } as const;
    expect(fields(said, of('AVATAR_VIDEO'))).toEqual([]);
    const wrong = { ...said, digitalId: 'a'.repeat(201), resolution: '720p' };
    expect(fields(wrong, of('AVATAR_VIDEO'))).toEqual(['digitalId', 'resolution']);
  });
});
