import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { expect } from 'vitest';

import type { Batch } from '../work/batches.ts';
import { aModel, aTask, keepBatches, openStudio } from './studio.ts';
import { ago, createFile } from './things.ts';
import type { Fields } from './whole-console.tsx';

/** Results of the Studio for tests: a task of each kind, as it ends and on its way. */

const stage = (code: string, more: Fields = {}) => ({ code, text: code.toLowerCase(), ...more });
const preview = createFile('part', { width: 64, height: 64 });
/** What is being made, with an image of how far it is. */
export const running: Fields = {
  state: 'RUNNING',
  progress: 40,
  endedAt: null,
  outputs: [],
  cost: null,
  stageInfo: stage('RENDERING', { preview }),
};
/** Tasks as they end, and as they are on their way. */
const TASKS: Fields = {
  running: aTask('running', running),
  estimated: aTask('estimated', { ...running, progressEstimated: true, stageInfo: stage('RENDERING') }),
  queued: aTask('queued', { ...running, state: 'QUEUED', startedAt: null, stageInfo: stage('QUEUED') }),
  cancelling: aTask('cancelling', { ...running, cancelRequestedAt: ago(1) }),
  image: aTask('image'),
  unmeasured: aTask('unmeasured', {
    outputs: [createFile('large', { width: null, height: null }), createFile('flat', { height: 0 })],
    sandbox: true,
  }),
  video: aTask('video', {
    kind: 'VIDEO',
    cost: null,
    outputs: [createFile('film', { contentType: 'video/mp4', duration: 5 })],
  }),
  sound: aTask('sound', {
    kind: 'SPEECH',
    outputs: [createFile('word', { contentType: 'audio/wav', duration: 2, width: null, height: null })],
  }),
  voice: aTask('voice', {
    kind: 'VOICE_CLONE',
    outputs: [createFile('demo', { contentType: 'audio/wav' })],
    result: { __typename: 'ClonedVoice', voice: { id: 'v1', name: 'Vera' } },
  }),
  words: aTask('words', { kind: 'ANALYSIS', outputs: [], text: 'two boats' }),
  person: aTask('person', {
    kind: 'PERSON_DETECTION',
    outputs: [],
    result: { __typename: 'PersonDetection', hasPerson: true, reason: 'a face' },
  }),
  failed: aTask('failed', {
    state: 'FAILED',
    outputs: [],
    error: { code: 'TIMED_OUT', message: 'it took too long', retryable: true },
  }),
  gone: null,
};
/** A task by its id; null for one that is gone. */
const task = ({ id }: { readonly id: string }) => TASKS[id] ?? null;
const models = [
  aModel('large', { inputs: ['prompt', 'images', 'count', 'seed'] }),
  aModel('moves', { kinds: ['VIDEO'], inputs: ['prompt'] }),
];

/** Opens the Studio with these results of this browser. */
export async function openResults(batches: readonly Batch[], root: Fields = {}, address = '/') {
  const console = await openStudio(address, { models, task, ...root });
  await screen.findByText(address === '/' ? 'Make the first image' : 'What you make appears here');
  keepBatches(batches);
  await waitFor(() => expect(document.querySelector('[data-results]')).not.toBeNull());
  return console;
}
/** The result that is large, or the sheet. */
export const large = () => document.querySelector('[data-results] [data-batch]');
/** Those of the strip. */
export const shots = () => [...document.querySelectorAll<HTMLElement>('[data-shot-open]')];
/** Makes one of the strip large. */
export const enlarge = async (index: number) => {
  fireEvent.click(shots()[index] ?? document.body);
  await waitFor(() => expect(shots()[index]?.getAttribute('aria-current')).toBe('true'));
};
