import { expect, it } from 'vitest';

import { AppError, badInput } from '../../platform/errors.ts';
import { withRestNames, withSentNames } from './field-names.ts';

it.each([
  ['image', 'image: is needed', ['img_url', 'ar'], 'img_url: is needed'],
  ['images[0].url', 'images[0].url must be an address', ['img_urls'], 'img_urls must be an address'],
  ['lastFrame', 'lastFrame: is text', ['first_img_url', 'last_img_url'], 'last_img_url: is text'],
  ['image.fileId', 'image.fileId is gone', ['img_id'], 'img_id is gone'],
  ['images[1]', 'images[1]: is text', ['img_url', 'img_file'], 'img_file or img_url: is text'],
])('a refusal of %s names what was sent', (field, message, sent, told) => {
  expect(withSentNames(badInput(field, message), new Set(sent))).toMatchObject({
    code: 'BAD_USER_INPUT',
    message: told,
  });
});

it.each([
  [badInput('prompt', 'prompt: is empty'), ['prompt']],
  [badInput('image', 'image: is needed'), ['prompt']],
  [badInput('image', 'there is no image'), ['img_url']],
  [new AppError('NOT_FOUND', 'no task'), ['img_url']],
  ['no error', ['img_url']],
])('%s stays as it is', (error, sent) => {
  expect(withSentNames(error, new Set(sent))).toBe(error);
});

it.each([
  [
    'firstFrame and image are the same: give one',
    undefined,
    'img_file or img_url and image are the same: give one',
  ],
  ['voiceId: needs a text', 'voiceId', 'voice_id: needs a text'],
  [
    'a video needs a prompt, an image or a firstFrame',
    'prompt',
    'a video needs a prompt, an image or a img_file or img_url',
  ],
  [
    'Variable "$taskCount" got invalid value 99; Int cannot represent non 32-bit signed integer value: 99',
    undefined,
    'task_count: must be a whole number below 2147483648',
  ],
  [
    'Variable "$input" got invalid value 99 at "input.count"; Int cannot represent non 32-bit signed integer value: 99',
    undefined,
    'n: must be a whole number below 2147483648',
  ],
])('%j is told in the names of REST', (message, field, told) => {
  expect(withRestNames(message, field)).toBe(told);
});
