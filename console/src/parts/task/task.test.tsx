import { render, screen } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import type { AttemptPartsFragment, StagePartsFragment } from '../../api/documents/operations.ts';
import { outline } from '../../testing/outline.ts';
import { AttemptError, AttemptName } from './attempt.tsx';
import { Bar, ProgressBar } from './progress.tsx';
import { StateBadge, StateMark, StateShape, nodeName, stageText } from './state.tsx';

afterEach(() => document.body.replaceChildren());

const STATES = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;

it('a state is told by shape, word and colour', async () => {
  render(
    <>
      {STATES.map((state) => (
        <StateBadge key={state} state={state} />
      ))}
      <StateBadge state="FAILED" boxed />
      <StateBadge state="FAILED" small isShort />
      {([...STATES, 'ATTENTION', 'SANDBOX'] as const).map((look) => (
        <StateMark key={look} look={look} boxed>
          {look}
        </StateMark>
      ))}
      <StateMark look="ATTENTION" shape="FAILED">
        other
      </StateMark>
      <StateShape state="RUNNING" />
      <StateShape state="RUNNING" size={32} turns />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/states.txt');
});

it('each state is drawn with a shape of its own', async () => {
  render(
    <>
      {STATES.map((state) => (
        <StateShape key={state} state={state} />
      ))}
      <StateMark look="SANDBOX">queued</StateMark>
      <StateMark look="ATTENTION">queued</StateMark>
    </>,
  );
  const shapes = [...document.querySelectorAll('svg')].map(({ outerHTML }) => outerHTML);
  await expect(`${shapes.join('\n')}\n`).toMatchFileSnapshot('outlines/shapes.txt');
});

it('progress is told as a bar and in words', async () => {
  render(
    <>
      <Bar share={30} />
      <Bar share={100} fill="bg-muted" role="img" aria-label="all" />
      <ProgressBar progress={40} stage="Rendering" />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/progress.txt');
});

const attempt = (change: object = {}) =>
  ({
    step: 2,
    number: 3,
    provider: 'gemini',
    model: 'large',
    state: 'FAILED',
    error: null,
    ...change,
  }) as AttemptPartsFragment;
const error = { code: 'TIMED_OUT', message: 'too late', retryable: true };

it('an attempt says who was asked, how it went, and why not', async () => {
  render(
    <>
      {(['STARTING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN'] as const).map((state) => (
        <AttemptName key={state} attempt={attempt({ state })} />
      ))}
      <AttemptName attempt={attempt({ model: null })} />
      <AttemptError attempt={attempt()} className="pt-1" />
      <AttemptError attempt={attempt({ error })} className="pt-1" />
      <AttemptError attempt={attempt({ error: { ...error, retryable: false } })} className="block" />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/attempts.txt');
  expect(screen.getAllByText('too late')).toHaveLength(2);
});

const stage = (change: object = {}) =>
  ({
    code: 'RENDERING',
    text: 'as the server says',
    node: null,
    step: null,
    retryInSeconds: null,
    upstreamPosition: null,
    ...change,
  }) as StagePartsFragment;
const node = { classType: 'KSampler', nodeId: '3', step: null, steps: null };

it.each([
  ['Rendering', stage(), null],
  ['Number 2 in line', stage(), 2],
  ['as the server says', stage({ code: 'OTHER' }), null],
  ['as the server says', stage({ code: 'OF_ITS_OWN' }), null],
  ['as the server says', stage({ code: 'RUNNING_NODE' }), null],
  ['KSampler, node 3', stage({ code: 'RUNNING_NODE', node }), null],
  [
    'KSampler, node 3, step 4 of 20',
    stage({ code: 'RUNNING_NODE', node: { ...node, step: 4, steps: 20 } }),
    null,
  ],
  ['KSampler, node 3', stage({ code: 'RUNNING_NODE', node: { ...node, step: 4 } }), null],
  ['KSampler, node 3', stage({ code: 'RUNNING_NODE', node: { ...node, steps: 4 } }), null],
  ['Queued at the provider, number 7 in line', stage({ code: 'QUEUED_UPSTREAM', upstreamPosition: 7 }), null],
  ['The provider is busy, next try in 9 s', stage({ code: 'PROVIDER_BUSY', retryInSeconds: 9 }), null],
  ['The provider is busy, next try in  s', stage({ code: 'PROVIDER_BUSY' }), null],
  ['Image: Rendering', stage({ step: { code: 'IMAGE', number: null, total: null } }), null],
  ['Image 1 of 2: Rendering', stage({ step: { code: 'IMAGE', number: 1, total: 2 } }), null],
  ['Image: Rendering', stage({ step: { code: 'IMAGE', number: 1, total: null } }), null],
  ['Image: Rendering', stage({ step: { code: 'IMAGE', number: null, total: 2 } }), null],
  ['OF_ITS_OWN: Rendering', stage({ step: { code: 'OF_ITS_OWN', number: null, total: null } }), null],
] as const)('the stage of a task is told in words: %s', (words, stageInfo, queuePosition) => {
  expect(stageText({ stageInfo, ...(queuePosition !== null && { queuePosition }) })).toBe(words);
});

it('a node is called by its class, else by its id', () => {
  expect([nodeName(node), nodeName({ ...node, classType: null })]).toEqual(['KSampler', '3']);
});
