import { describe, expect, it } from 'vitest';

import type { StepSoFar } from '../domain/task.ts';
import type { Work } from '../domain/work/work.ts';
import { nextSteps, computeProgress } from './recipe.ts';

const options = { generator: 'agg/imga' };
const said: Work = {
  kind: 'AVATAR_VIDEO',
  generator: 'cloud/digital',
  digitalId: 'd-1',
  text: 'Good evening.',
  voiceId: 'v-1',
  resolution: '720p',
};
const speech = {
  kind: 'SPEECH',
  generator: 'agg/speech_router',
  text: 'Good evening.',
  voiceId: 'v-1',
} as const;
const heard = {
  kind: 'AVATAR_VIDEO',
  generator: 'cloud/digital',
  digitalId: 'd-1',
  audio: { fileId: 'sound' },
  resolution: '720p',
} as const;

function step(input: StepSoFar['input'], mediaId: string | null): StepSoFar {
  const outcome =
    mediaId === null ? null : { mediaIds: [mediaId], texts: ['words'], notes: [], facts: { of: mediaId } };
  return { input, state: outcome === null ? 'RUNNING' : 'SUCCEEDED', progress: outcome ? 100 : 50, outcome };
}

describe('an avatar that says a text', () => {
  it('has the text spoken first, then the video with that sound', () => {
    const first = nextSteps(said, [], options);
    expect(first).toEqual({ kind: 'start', steps: [{ label: 'speaking the text', input: speech }] });
    expect(nextSteps(said, [step(speech, null)], options)).toEqual({ kind: 'wait' });
    const second = nextSteps(said, [step(speech, 'sound')], options);
    expect(second).toEqual({ kind: 'start', steps: [{ label: 'video', input: heard }] });
    expect(nextSteps(said, [step(speech, 'sound'), step(heard, null)], options)).toEqual({ kind: 'wait' });
  });

  it('ends with the video alone', () => {
    const end = nextSteps(said, [step(speech, 'sound'), step(heard, 'film')], options);
    expect(end).toMatchObject({ kind: 'done', outcome: { mediaIds: ['film'], facts: { of: 'film' } } });
  });

  it('is mostly the video, and its progress never falls', () => {
    const at = (...progress: number[]) =>
      computeProgress(
        said,
        progress.map((value) => ({ input: speech, progress: value })),
      );
    expect([at(), at(50), at(100), at(100, 0), at(100, 50), at(100, 100)]).toEqual([0, 7, 15, 15, 57, 100]);
  });
});

describe('an avatar that hears a sound', () => {
  it('is one step', () => {
    expect(nextSteps(heard, [], options)).toEqual({ kind: 'start', steps: [{ label: '', input: heard }] });
    expect(computeProgress(heard, [{ input: heard, progress: 40 }])).toBe(40);
  });
});
