import { describe, expect, it } from 'vitest';

import {
  axisText,
  chooseStep,
  listAttemptSegments,
  listAttemptTicks,
  listNodes,
  listSegments,
  listTimes,
  type TaskLog,
} from './segments.ts';

it.each([
  [60, 10, [0, 10, 20, 30, 40, 50, 60]],
  [61, 20, [0, 20, 40, 60]],
  [150, 50, [0, 50, 100, 150]],
  [900, 200, [0, 200, 400, 600, 800]],
  [59_000, 10_000, [0, 10_000, 20_000, 30_000, 40_000, 50_000]],
  [360_000, 60_000, [0, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000]],
  [360_001, 120_000, [0, 120_000, 240_000, 360_000]],
  [3_600_000, 600_000, [0, 600_000, 1_200_000, 1_800_000, 2_400_000, 3_000_000, 3_600_000]],
])('an axis of %i ms has few times, each on its line', (total, step, times) => {
  expect(chooseStep(total)).toBe(step);
  expect(listTimes(total)).toEqual(times);
});

it('writes a time in as many digits as tell it from its neighbours', () => {
  expect([50, 99].map((step) => axisText(1_250, step))).toEqual(['1.25 s', '1.25 s']);
  expect([100, 999].map((step) => axisText(1_260, step))).toEqual(['1.3 s', '1.3 s']);
  expect(axisText(59_999, 1_000)).toBe('60 s');
  expect(axisText(60_000, 20)).toBe('1 min');
});

/** A moment, in milliseconds after a task was created. */
const at = (ms: number) => new Date(ms).toISOString();
const event = (ms: number, code: string, more: object = {}) => ({
  at: at(ms),
  state: code === 'QUEUED' ? 'QUEUED' : 'RUNNING',
  stageInfo: { code, text: code, step: null, node: null, retryInSeconds: null, upstreamPosition: null },
  progress: 40,
  ...more,
});
const node = (ms: number, nodeId: string, classType: string | null = null) =>
  event(ms, 'RUNNING_NODE', {
    stageInfo: {
      code: 'RUNNING_NODE',
      text: 'node',
      step: null,
      node: { nodeId, classType, step: null, steps: null },
    },
  });
const attempt = (from: number, to: number | null, state = 'SUCCEEDED') => ({
  startedAt: at(from),
  endedAt: to === null ? null : at(to),
  state,
});
const log = (events: readonly object[], attempts: readonly object[] = []) =>
  ({ events, attempts }) as unknown as TaskLog;
const short = ({ from, to, look }: { from: number; to: number; look: string }) => `${look} ${from}-${to}`;

describe('stages', () => {
  it('are one after the other to the end, those of one name together', () => {
    const events = [
      event(0, 'QUEUED'),
      event(10, 'STARTING'),
      event(20, 'UPLOADING'),
      event(30, 'UPLOADING', { progress: 50 }),
      event(40, 'QUEUED_UPSTREAM'),
      event(50, 'STARTING_UPSTREAM'),
      event(60, 'PAUSED'),
      event(70, 'PROVIDER_AWAY'),
      event(80, 'PROVIDER_BUSY'),
      event(90, 'STORING_RESULT'),
      event(95, 'FINISHED', { state: 'SUCCEEDED' }),
    ];
    expect(listSegments(log(events), 200).map(short)).toEqual([
      'q 0-10',
      's 10-20',
      'r 20-40',
      'q 40-50',
      's 50-60',
      'q 60-70',
      'q 70-80',
      'q 80-90',
      'w 90-95',
    ]);
    expect(listSegments(log(events.slice(0, 2)), 200).map(short)).toEqual(['q 0-10', 's 10-200']);
    expect(listSegments(log([]), 200)).toEqual([]);
  });

  it('of a workflow are its nodes by their classes', () => {
    const [first, second] = listSegments(log([node(0, '1', 'KSampler'), node(5, '2')]), 9);
    expect([first?.text, second?.text, second?.to]).toEqual(['KSampler', '2', 9]);
  });
});

describe('an attempt', () => {
  const events = [
    event(0, 'QUEUED'),
    event(10, 'QUEUED_UPSTREAM'),
    event(30, 'RENDERING'),
    event(60, 'STORING_RESULT'),
  ];

  it('has the stages of its time, in which a queue is a start, without the storing', () => {
    const one = attempt(5, 50);
    expect(listAttemptSegments(log(events, [one]), one as never, 100).map(short)).toEqual([
      's 5-10',
      'q 10-30',
      'r 30-50',
    ]);
    const running = attempt(20, null, 'RUNNING');
    expect(listAttemptSegments(log(events.slice(0, 3), [running]), running as never, 100).map(short)).toEqual(
      ['s 20-30', 'r 30-100'],
    );
    const late = attempt(65, 80);
    expect(listAttemptSegments(log(events, [late]), late as never, 100).map(short)).toEqual(['r 65-80']);
    const between = attempt(10, 30);
    expect(listAttemptSegments(log(events, [between]), between as never, 100).map(short)).toEqual([
      's 10-30',
    ]);
  });

  it.each(['FAILED', 'UNKNOWN'])('that ended as %s is red at its end', (state) => {
    const one = attempt(5, 50, state);
    expect(
      listAttemptSegments(log(events, [one]), one as never, 100)
        .map(short)
        .at(-1),
    ).toBe('f 30-50');
    expect(listAttemptSegments(log([], [one]), one as never, 100).map(short)).toEqual(['f 5-50']);
  });

  it('beside another one has one bar of its own time, and no ticks', () => {
    const one = attempt(0, 40);
    for (const other of [attempt(20, 60, 'FAILED'), attempt(39, null, 'FAILED')]) {
      const task = log(events, [one, other]);
      expect(listAttemptSegments(task, one as never, 60).map(short)).toEqual(['r 0-40']);
      expect(listAttemptSegments(task, other as never, 60).map(short)).toEqual([
        `f ${Date.parse(other.startedAt)}-60`,
      ]);
      expect(listAttemptTicks(task, one as never, 60)).toEqual([]);
    }
    const after = attempt(40, 60);
    expect(listAttemptSegments(log(events, [one, after]), one as never, 60)).toHaveLength(3);
    expect(listAttemptSegments(log(events, [after, one]), after as never, 60).map(short)).toEqual([
      'r 40-60',
    ]);
  });

  it('has a tick for each answer of its provider while it ran', () => {
    const told = [
      'QUEUED_UPSTREAM',
      'STARTING_UPSTREAM',
      'UPLOADING',
      'LEARNING_CHARACTER',
      'RENDERING',
      'FINALIZING',
      'OTHER',
    ];
    const ticks = (from: number, to: number | null, list: readonly object[]) => {
      const one = attempt(from, to);
      return listAttemptTicks(log(list, [one]), one as never, 100).map((tick) => tick.at);
    };
    expect(
      ticks(
        0,
        null,
        told.map((code, index) => event(index, code)),
      ),
    ).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(ticks(0, 100, [event(5, 'STARTING'), event(6, 'STORING_RESULT'), node(7, '1')])).toEqual([7]);
    expect(
      ticks(
        10,
        20,
        [9, 10, 20, 21].map((ms) => event(ms, 'RENDERING')),
      ),
    ).toEqual([10, 20]);
    expect(ticks(0, 9, [event(5, 'OTHER', { state: 'SUCCEEDED' })])).toEqual([]);
    const one = attempt(0, 50);
    expect(listAttemptTicks(log([event(1, 'RENDERING')], [one]), one as never, 9)[0]?.text).toMatch(
      /, 40 %$/,
    );
  });
});

it('tells when each node of a workflow ran, in the order that they began', () => {
  const events = [
    event(0, 'QUEUED'),
    node(10, '1', 'Load'),
    node(15, '1', 'Load'),
    node(20, '2'),
    node(30, '1', 'Load'),
    event(40, 'STORING_RESULT'),
    node(50, '3'),
  ];
  expect(listNodes(log(events), 70).map(({ node: name, runs }) => [name, ...runs.map(short)])).toEqual([
    ['Load 1', 'r 10-20', 'r 30-40'],
    ['2 2', 'r 20-30'],
    ['3 3', 'r 50-70'],
  ]);
});
