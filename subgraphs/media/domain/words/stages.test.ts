import { describe, expect, it } from 'vitest';

import { nodeStage, readStage, stageForms, formatStage, stepForms, withPreview } from './stages.ts';

/** What a stage without values is read as. */
const BARE = { step: null, node: null, retryInSeconds: null, upstreamPosition: null, preview: null };
const VALUES: Readonly<Record<string, string>> = {
  nodeId: '3',
  classType: 'KSampler',
  '#step': '7',
  '#steps': '20',
  '#retryInSeconds': '20',
  '#upstreamPosition': '4',
  '#number': '2',
  '#total': '3',
  preview: '01a217da-f48f-7e37-85cc-1e33f28e851a',
};

describe('the stages of tasks', () => {
  it.each(writeForms(stageForms))('are read back as their code: %s, "%s"', (code, text) => {
    expect(readStage(text)).toMatchObject({ code, text, step: null });
  });

  it.each(writeForms(stepForms))('name the step that they are of: %s, "%s"', (code, label) => {
    expect(readStage(formatStage({ label }, 'rendering'))).toMatchObject({
      code: 'RENDERING',
      text: 'rendering',
      step: { code },
    });
  });

  // Rows keep these words for as long as they exist: none of them may get another code, or none.
  it.each([
    ['queued', { code: 'QUEUED' }],
    ['starting', { code: 'STARTING' }],
    ['fetching input', { code: 'FETCHING_INPUT' }],
    ['queued upstream', { code: 'QUEUED_UPSTREAM' }],
    ['queued upstream, position 12', { code: 'QUEUED_UPSTREAM', upstreamPosition: 12 }],
    ['starting upstream', { code: 'STARTING_UPSTREAM' }],
    ['uploading', { code: 'UPLOADING' }],
    ['learning the character', { code: 'LEARNING_CHARACTER' }],
    ['rendering', { code: 'RENDERING' }],
    ['rendering, preview 01a2', { code: 'RENDERING', preview: '01a2' }],
    ['finalizing', { code: 'FINALIZING' }],
    ['storing result', { code: 'STORING_RESULT' }],
    ['provider away, next try in 20 s', { code: 'PROVIDER_AWAY', retryInSeconds: 20 }],
    ['provider busy, next try in 1 s', { code: 'PROVIDER_BUSY', retryInSeconds: 1 }],
    ['paused by an administrator', { code: 'PAUSED' }],
    ['trying again', { code: 'TRYING_AGAIN' }],
    ['cancelling', { code: 'CANCELLING' }],
    ['finished', { code: 'FINISHED' }],
    ['failed', { code: 'FAILED' }],
    ['cancelled', { code: 'CANCELLED' }],
    ['melting', { code: 'OTHER' }],
    ['', { code: 'OTHER' }],
  ])('are read from rows of any age: "%s"', (text, info) => {
    expect(readStage(text)).toEqual({ ...BARE, text, ...info });
  });

  it.each([
    ['node 3 (KSampler) 7/20', { nodeId: '3', classType: 'KSampler', step: 7, steps: 20 }],
    ['node 3 (KSampler)', { nodeId: '3', classType: 'KSampler', step: null, steps: null }],
    ['node 12:4 7/20', { nodeId: '12:4', classType: null, step: 7, steps: 20 }],
    ['node 3', { nodeId: '3', classType: null, step: null, steps: null }],
    ['node 5 (Seed (rgthree)) 1/2', { nodeId: '5', classType: 'Seed (rgthree)', step: 1, steps: 2 }],
  ])('name the running node: "%s"', (text, node) => {
    expect(readStage(text)).toEqual({ ...BARE, code: 'RUNNING_NODE', text, node });
    expect(nodeStage(node)).toBe(text);
    const previewed = withPreview(nodeStage(node), '01a2');
    expect(readStage(previewed)).toMatchObject({ code: 'RUNNING_NODE', node, preview: '01a2' });
  });

  it('count the steps of a set, and keep unknown words of a step', () => {
    expect(readStage('image 2 of 3: melting: slowly')).toEqual({
      ...BARE,
      code: 'OTHER',
      text: 'melting: slowly',
      step: { code: 'IMAGE', number: 2, total: 3 },
    });
    expect(readStage('video: rendering').step).toEqual({ code: 'VIDEO', number: null, total: null });
    expect(readStage('sculpture: rendering')).toMatchObject({ code: 'OTHER', step: null });
  });
});

/** Each form with its code, filled in. */
function writeForms(forms: Readonly<Record<string, readonly string[]>>): [string, string][] {
  return Object.entries(forms).flatMap(([code, list]) =>
    list.map((form): [string, string] => [
      code,
      form.replaceAll(/\{(#?\w+)\}/g, (_, name: string) => {
        const value = VALUES[name];
        if (value === undefined) throw new Error(`no value for ${name}`);
        return value;
      }),
    ]),
  );
}
