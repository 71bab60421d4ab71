import { describe, expect, it } from 'vitest';

import { videoRequest } from '../../../../test/providers/contract/row.ts';
import { catchFailure, must } from '../../../../test/providers/environment/environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';

/** What ModelArk answers, with its codes; the rest is in the contract suite. */

describe('an answer of ModelArk', () => {
  const stage = useScriptedProvider('ark');
  const job = () => must(stage.provider.jobs?.VIDEO, 'job');
  const answer = (status: number, body: unknown) => stage.proxy.respondNext('/tasks', { status, body });
  const refusal = (code: string | null, message: string | null = 'why') => ({ error: { code, message } });
  const start = () => job().start(videoRequest(), stage.context);
  const readStatus = () => job().status({ id: 'cgt-1' }, stage.context);

  it('names the task of a start, which goes to the usual model where none is named', async () => {
    answer(200, { id: 'cgt-1' });
    expect(await start()).toEqual({ id: 'cgt-1' });
    expect(JSON.parse(String(stage.proxy.sent[0]?.body))).toEqual({
      model: 'doubao-seedance-2-0-260128',
      content: [{ type: 'text', text: 'a lighthouse' }],
      ratio: '16:9',
    });
  });

  it.each([
    [400, refusal('InputImageSensitiveContentDetected'), { code: 'MODERATION_REFUSED', field: 'image' }],
    [400, refusal('InputTextRiskDetection'), { code: 'MODERATION_REFUSED', field: 'prompt' }],
    [403, refusal('AccountOverdueError'), { code: 'OUT_OF_CREDIT', message: 'ark: out of credit' }],
    [404, refusal('ModelNotOpen'), { code: 'MODEL_GONE', message: 'ark: why (ModelNotOpen)' }],
    [400, refusal(null, 'The model has been retired.'), { code: 'MODEL_GONE' }],
    [400, refusal('Other', null), { code: 'INVALID_INPUT', message: 'ark: HTTP 400 (Other)' }],
    [404, {}, { code: 'UNAVAILABLE', message: 'ark: HTTP 404' }],
    [500, refusal('AccountOverdueError'), { code: 'UNAVAILABLE', startUnknown: true }],
    [200, {}, { code: 'UNAVAILABLE', startUnknown: true }],
  ])('to a start, HTTP %i with %j, is %j', async (status, body, error) => {
    answer(status, body);
    expect(await catchFailure(start())).toMatchObject(error);
  });

  it.each([
    [{ status: 'queued' }, { state: 'queued' }],
    [{ status: 'running' }, { state: 'running', progress: null, stage: 'rendering' }],
    [
      { status: 'succeeded', content: { video_url: 'https://ark.example/1.mp4' } },
      { state: 'finished', outcome: { files: [{ url: 'https://ark.example/1.mp4' }], texts: [] } },
    ],
    [{ status: 'expired' }, { error: { code: 'UNAVAILABLE', message: 'ark: expired (expired)' } }],
    [{ status: 'cancelled', ...refusal('A') }, { error: { code: 'UNAVAILABLE', message: 'ark: why (A)' } }],
    [
      { status: 'failed', ...refusal('OutputVideoSensitiveContentDetected') },
      { state: 'failed', error: { code: 'MODERATION_REFUSED', field: 'prompt' } },
    ],
  ])('about a task, %j, is %j', async (body, expected) => {
    answer(200, body);
    expect(await readStatus()).toMatchObject(expected);
  });

  it.each([
    [
      200,
      { status: 'succeeded' },
      { code: 'UNAVAILABLE', message: 'ark finished a video without its address' },
    ],
    [404, refusal('ModelNotOpen'), { code: 'LOST' }],
    [403, refusal('AccountOverdueError'), { code: 'OUT_OF_CREDIT' }],
    [401, {}, { refusedCredentials: true }],
  ])('about a task that can not be told, HTTP %i with %j, is %j', async (status, body, error) => {
    answer(status, body);
    expect(await catchFailure(readStatus())).toMatchObject(error);
  });

  it('to an erasure is well where there is nothing any more, and told where it is refused', async () => {
    const erase = () => must(job().erase?.({ id: 'cgt-1' }, stage.context), 'erase');
    for (const status of [200, 404]) {
      answer(status, {});
      await erase();
    }
    answer(400, refusal('Busy'));
    expect(await catchFailure(erase())).toMatchObject({ code: 'INVALID_INPUT', message: 'ark: why (Busy)' });
    expect(stage.proxy.sent.map(({ method }) => method)).toEqual(['DELETE', 'DELETE', 'DELETE']);
  });
});
