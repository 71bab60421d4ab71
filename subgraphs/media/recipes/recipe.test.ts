import { describe, expect, it } from 'vitest';

import type { NextSteps, StepSoFar, TaskOutcome } from '../domain/task.ts';
import type { RecipeWork } from '../domain/work/recipe.ts';
import type { StepInput, Work } from '../domain/work/work.ts';
import { nextSteps, computeProgress } from './recipe.ts';

const options = { generator: 'agg/imga' };
const tea: Work & RecipeWork = {
  kind: 'RECIPE',
  taskType: 'tea',
  prompt: 'a cup of tea',
  aspectRatio: '9:16',
  presetPrompts: ['in the morning', 'at noon', 'in the evening'],
  templatePrompt: 'tea leaves',
};
const withImage = { ...tea, image: { fileId: 'f' } };

function outcome(change: Partial<TaskOutcome> = {}): TaskOutcome {
  return { mediaIds: [], texts: [], notes: [], facts: {}, ...change };
}

function done(input: StepInput, change: Partial<TaskOutcome> = {}): StepSoFar {
  return { input, state: 'SUCCEEDED', progress: 100, outcome: outcome(change) };
}

function started(next: NextSteps) {
  if (next.kind !== 'start') throw new Error(`expected steps to start, got ${next.kind}`);
  return next.steps;
}

const prompts = (next: NextSteps) =>
  started(next).map(({ input }) => (input.kind === 'IMAGE' ? input.prompt : input.kind));

const description: StepInput = { kind: 'DESCRIPTION', generator: 'agg/imga', image: { fileId: 'f' } };

describe('a plain task', () => {
  const work: Work = { kind: 'IMAGE', generator: 'imga', prompt: 'a fox' };
  it('is one step, and its outcome is the step’s', () => {
    expect(nextSteps(work, [], options)).toEqual({ kind: 'start', steps: [{ label: '', input: work }] });
    const running = { ...done(work), state: 'STORING', outcome: null } as const;
    expect(nextSteps(work, [running], options)).toEqual({ kind: 'wait' });
    const made = outcome({ mediaIds: ['m'] });
    expect(nextSteps(work, [done(work, { mediaIds: ['m'] })], options)).toEqual({
      kind: 'done',
      outcome: made,
    });
  });
});

describe('a set of images', () => {
  it('has one image for each preset, at most 4, with the ratio that was asked for', () => {
    const next = nextSteps(tea, [], options);
    expect(prompts(next)).toEqual([
      'a cup of tea, in the morning',
      'a cup of tea, at noon',
      'a cup of tea, in the evening',
    ]);
    expect(started(next)[1]).toMatchObject({
      label: 'image 2 of 3',
      input: { aspectRatio: '9:16', count: 1 },
    });
    const many = { ...tea, presetPrompts: ['1', '2', '3', '4', '5', '6'] };
    expect(prompts(nextSteps(many, [], options))).toHaveLength(4);
  });

  it('is made with the options of images', () => {
    const work = { ...tea, options: { image: { quality: 'low' } } };
    const made = started(nextSteps(work, [], options));
    expect(made.map(({ input }) => input)).toMatchObject(made.map(() => ({ options: { quality: 'low' } })));
  });

  it('is one image without presets, and takes the template’s prompt when the own one is blank', () => {
    const bare = { ...tea, prompt: ' ', presetPrompts: ['  '] };
    expect(prompts(nextSteps(bare, [], options))).toEqual(['tea leaves']);
  });

  it('is described first when an image was given, and the description joins each prompt', () => {
    expect(prompts(nextSteps(withImage, [], options))).toEqual(['DESCRIPTION']);
    const described = done(description, { texts: ['steam over porcelain --ar 3:4 --v 6', 'another'] });
    const next = nextSteps(withImage, [described], options);
    expect(prompts(next)[0]).toBe('a cup of tea, in the morning, steam over porcelain');
  });

  it('ends with every image in order when all of them are there', () => {
    const steps = started(nextSteps(tea, [], options)).map(({ input }, index) =>
      done(input, { mediaIds: [`m${index}`] }),
    );
    const waiting = { ...steps[1], state: 'STORING' } as StepSoFar;
    expect(nextSteps(tea, [steps[0], waiting, steps[2]] as StepSoFar[], options)).toEqual({ kind: 'wait' });
    expect(nextSteps(tea, steps, options)).toMatchObject({
      kind: 'done',
      outcome: { mediaIds: ['m0', 'm1', 'm2'], notes: [] },
    });
  });
});

describe('a vlog', () => {
  const vlog = { ...tea, taskType: 'vlog', presetPrompts: ['at dawn', 'at dusk'] };
  const images = started(nextSteps(vlog, [], options)).map(({ input }, index) =>
    done(input, { mediaIds: [`m${index}`] }),
  );
  const withVideos = (takes: (input: StepInput) => boolean) => ({
    ...options,
    video: { generator: 'agg/vidb', takes },
  });
  const frames = { firstFrame: { fileId: 'm0' }, lastFrame: { fileId: 'm1' } };

  it('makes a video from its first image to its last, and the video comes first', () => {
    const next = nextSteps(
      vlog,
      images,
      withVideos(() => true),
    );
    expect(started(next)).toEqual([
      { label: 'video', input: { kind: 'VIDEO', generator: 'agg/vidb', prompt: 'a cup of tea', ...frames } },
    ]);
    const video = done(started(next)[0]?.input ?? description, { mediaIds: ['v'] });
    expect(
      nextSteps(
        vlog,
        [...images, video],
        withVideos(() => true),
      ),
    ).toMatchObject({
      kind: 'done',
      outcome: { mediaIds: ['v', 'm0', 'm1'], notes: [] },
    });
  });

  it('begins at its first image where the generator takes no last one, or where there is one image alone', () => {
    const noLast = withVideos((input) => !('lastFrame' in input));
    expect(started(nextSteps(vlog, images, noLast))[0]?.input).not.toHaveProperty('lastFrame');
    const single = { ...vlog, presetPrompts: [] };
    const [image] = started(nextSteps(single, [], options)).map(({ input }) =>
      done(input, { mediaIds: ['m'] }),
    );
    const next = nextSteps(
      single,
      [image ?? done(description)],
      withVideos(() => true),
    );
    expect(started(next)[0]?.input).toMatchObject({ firstFrame: { fileId: 'm' } });
    expect(started(next)[0]?.input).not.toHaveProperty('lastFrame');
  });

  it('says that its video is missing where no generator makes one', () => {
    for (const without of [options, withVideos(() => false)]) {
      const next = nextSteps(vlog, images, without);
      expect(next).toMatchObject({
        outcome: { mediaIds: ['m0', 'm1'], notes: [expect.stringContaining('video is missing')] },
      });
    }
  });

  it('counts its video in the progress', () => {
    expect(computeProgress(vlog, images)).toBe(50);
    expect(computeProgress(tea, images)).toBe(66);
  });
});

describe('progress', () => {
  it('is the weighted sum over every planned step', () => {
    expect(computeProgress(withImage, [{ input: description, progress: 100 }])).toBe(10);
    const images = started(nextSteps(tea, [], options)).map(({ input }) => ({ input, progress: 50 }));
    expect(computeProgress(tea, images)).toBe(50);
    expect(computeProgress(tea, [])).toBe(0);
  });
});
