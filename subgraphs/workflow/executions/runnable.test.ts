import { expect, it } from 'vitest';

import { AppError } from '../../../platform/errors.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createFakeMedia } from './fake-media.fixture.ts';
import { createMediaClient } from './media-client.ts';
import { createRunnableChecks } from './runnable.ts';
import { template } from './template.fixture.ts';

/** Which templates are refused when they are written, and which are told to be unable to run. */

const media = createFakeMedia(silentLogger());
const runnable = createRunnableChecks({ media: createMediaClient(media.link), workflowNames: {} });
const refused = (field: string, code: 'BAD_USER_INPUT' | 'NOT_CONFIGURED' = 'BAD_USER_INPUT') =>
  new AppError(code, `${field}: known are a, b`, { field });

it('refuses an unknown model or workflow by the name of the template, with those that are known', async () => {
  media.checking = refused('model');
  await expect(runnable.check(template)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    field: 'imageModel',
    message: 'imageModel: known are a, b',
  });
  media.checking = 'takes';
  await expect(runnable.check({ ...template, workflow: 'nope' })).rejects.toThrow(
    'image, video, comfy:<name>',
  );
  await runnable.check(template);
});

it('takes what only parameters decide, and what is only not set up', async () => {
  for (const refusal of [
    refused('image'),
    refused('inputs.imageUrl'),
    refused('generator', 'NOT_CONFIGURED'),
  ]) {
    media.checking = refusal;
    await runnable.check(template);
  }
  media.checking = new AppError('UNAVAILABLE', 'away');
  await expect(runnable.check(template)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

it('says why templates can not be run now, and nothing while media does not answer', async () => {
  const templates = [template, { ...template, workflow: 'nope' }, template];
  media.checking = refused('generator', 'NOT_CONFIGURED');
  const missing = { reason: "it can't be run now: known are a, b", generator: 'agg/imga' };
  const unknown = { reason: expect.stringContaining('nope'), generator: null };
  expect(await runnable.reasons(templates)).toEqual([missing, unknown, missing]);
  media.checking = new AppError('UNAVAILABLE', 'away');
  expect(await runnable.reasons([template])).toEqual([null]);
});
