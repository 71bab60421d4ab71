import { describe, expect, it } from 'vitest';

import type { DueAttempt } from '../../storage/poll-store.ts';
import { createReport, progressBy } from './progress.ts';
import { createUsualDurations } from './usual-durations.ts';

describe('an estimate', () => {
  it('moves evenly over the usual duration, and slower behind it', () => {
    const at = (...seconds: number[]) => seconds.map((second) => Math.round(progressBy(second, 10)));
    expect(at(0, 2, 4, 6, 8, 10)).toEqual([0, 18, 36, 54, 72, 90]);
    expect(at(15, 20, 1_000)).toEqual([94, 96, 99]);
    expect(at(0.001, 0)).toEqual([0, 0]);
  });

  it('grows ever slower where nothing is known', () => {
    const at = [10, 30, 60, 600].map((second) => Math.round(progressBy(second, null)));
    expect(at).toEqual([26, 57, 78, 90]);
    expect([10, 30, 60, 600].map((second) => Math.round(progressBy(second, 0)))).toEqual(at);
    expect(progressBy(1, 1)).toBe(90);
  });
});

describe('usual durations', () => {
  const work = { binding: 'kling', model: 'kling-v2' };

  it('are the mean of what ended, of a binding and model each, and follow what changes', () => {
    let seconds = 0;
    const usual = createUsualDurations(() => seconds * 1000);
    expect(usual.of(work)).toBeNull();
    for (const runningSeconds of [8, 12]) usual.learn({ ...work, runningSeconds });
    expect(usual.of(work)).toBe(10);
    expect(usual.of({ ...work, model: 'kling-v3' })).toBeNull();
    for (; seconds < 600; seconds += 6) usual.learn({ ...work, runningSeconds: 60 });
    expect(usual.of(work)).toBeGreaterThan(58);
  });

  it('are of a binding by its name, wherever that stands, and of no model apart', () => {
    const usual = createUsualDurations();
    usual.learn({ binding: 'a#0', bindingName: 'first', model: null, runningSeconds: 10 });
    const of = (binding: string, bindingName: string | null, model: string | null = null) =>
      usual.of({ binding, bindingName, model });
    expect([of('a#1', 'first'), of('a#0', 'second'), of('first', null)]).toEqual([10, null, 10]);
    expect([of('a#0', 'first', 'model'), of('a#0', null)]).toEqual([null, null]);
  });

  it('take one end in a sixteenth of the usual duration once sixty-four are known', () => {
    const usual = createUsualDurations();
    for (let count = 0; count < 64; count += 1) usual.learn({ ...work, runningSeconds: 16 }, 0);
    expect(usual.of(work)).toBe(16);
    usual.learn({ ...work, runningSeconds: 80 }, 999);
    expect(usual.of(work)).toBe(16);
    usual.learn({ ...work, runningSeconds: 80 }, 1_000);
    expect(usual.of(work)).toBe(17);
  });

  it('are not forgotten for a thousand that began together, whose newest ends all took equally long', () => {
    let now = 0;
    const usual = createUsualDurations(() => now);
    for (let count = 0; count < 64; count += 1) usual.learn({ ...work, runningSeconds: 20 + count }, now);
    for (let ended = 0; ended < 1_000; ended += 1) {
      now = 30_000 + ended;
      usual.learn({ ...work, runningSeconds: now / 1000 });
    }
    expect(usual.pauseMs({ ...work, runningSeconds: 75 }, 5_000)).toBeLessThan(5_000);
  });
});

describe('a report', () => {
  const due = {
    taskId: 't',
    step: 1,
    label: '',
    taskStage: 'rendering',
    taskProgress: 40,
    runningSeconds: 5,
    recipe: null,
    watched: false,
  } as unknown as DueAttempt;
  const report = (change: object, status: Parameters<typeof createReport>[2]) =>
    createReport({ planner: { progress: () => 55 }, usualSeconds: 10 }, { ...due, ...change }, status);
  const running = (progress: number | null) => ({ state: 'running', progress }) as const;

  it('is what the upstream says, and of its own step where there are several', () => {
    expect(report({}, running(50.4))).toEqual({
      taskId: 't',
      step: 1,
      stage: 'rendering',
      progress: 50,
      estimated: false,
      stepProgress: null,
    });
    expect(report({}, running(400))).toMatchObject({ progress: 99 });
    const recipe = { work: {}, steps: [{ step: 1, progress: 30 }] };
    expect(report({ recipe }, running(50))).toMatchObject({ progress: 55, stepProgress: 50 });
    expect(report({ recipe }, running(400))).toMatchObject({ stepProgress: 99 });
    expect(report({ taskStage: 'starting', taskProgress: 0 }, running(0))).toMatchObject({ progress: 0 });
    expect(report({}, { ...running(50), stage: 'node 7' })).toMatchObject({ stage: 'node 7' });
  });

  it('counts its own step by what it is now, and never by less than before', () => {
    const planner = { progress: (_: unknown, steps: unknown) => (given.push(steps), 60) };
    const given: unknown[] = [];
    const steps = [1, 2].map((step) => ({ step, progress: 30, label: `step ${step}` }));
    for (const own of [20, 50])
      createReport(
        { planner, usualSeconds: null },
        { ...due, step: 2, recipe: { work: {}, steps } as unknown as DueAttempt['recipe'] },
        running(own),
      );
    const [first] = steps;
    expect(given).toEqual([
      [first, { step: 2, progress: 30, label: 'step 2' }],
      [first, { step: 2, progress: 50, label: 'step 2' }],
    ]);
  });

  it('is none when the task says so already, or follows its upstream more closely', () => {
    expect([report({}, running(40)), report({}, running(41))]).toMatchObject([null, { progress: 41 }]);
    expect(report({ taskStage: 'starting' }, running(40))).toMatchObject({ stage: 'rendering' });
    // Half of the usual time is half of 90; an estimate is told in steps of three.
    expect(report({}, running(null))).toMatchObject({ progress: 45, estimated: true });
    expect([
      report({ taskProgress: 42 }, running(null)),
      report({ taskProgress: 43 }, running(null)),
    ]).toMatchObject([{ progress: 45 }, null]);
    expect(report({ watched: true }, running(null))).toBeNull();
    expect(report({ watched: true, taskProgress: 1 }, running(null))).toBeNull();
    expect(report({ watched: true, taskProgress: 0 }, running(null))).toMatchObject({ progress: 45 });
    expect(report({ watched: true }, running(50))).toMatchObject({ progress: 50 });
  });

  it('of what waits upstream says its position, where that is known', () => {
    expect(report({}, { state: 'queued', position: 3 })).toMatchObject({
      stage: 'queued upstream, position 3',
      progress: 0,
      estimated: false,
    });
    expect(report({}, { state: 'queued' })).toMatchObject({ stage: 'queued upstream' });
  });
});
