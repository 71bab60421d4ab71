import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { CALLBACK_URL, Task } from './task.ts';

/** What to make a video from. */
export const VideoInput = builder.inputType('VideoInput', {
  description:
    'What to make a video from: words, a picture, or a first and a last frame. Which members a generator takes, and their limits: see `models`.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who makes it, such as agg/vidb or union.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    prompt: t.string({ description: 'What to show; needed when there is no picture.' }),
    negativePrompt: t.string({ description: 'What not to show.' }),
    image: t.field({ type: MediaInput, description: 'A picture that starts to move; the first frame.' }),
    firstFrame: t.field({ type: MediaInput, description: 'The same as image: give one of them.' }),
    lastFrame: t.field({ type: MediaInput, description: 'The picture it ends with.' }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size the model names.' }),
    duration: t.float({ description: 'Seconds; one of those the model names.' }),
    seed: t.int({ description: 'Same seed, same input, same video, where the model has seeds.' }),
  }),
});

builder.mutationField('generateVideo', (t) =>
  t.field({
    type: Task,
    description: 'Starts making a video.',
    rule: 'spend',
    args: {
      input: t.arg({ type: VideoInput, required: true, description: 'What to make.' }),
      callbackUrl: t.arg.string({ description: CALLBACK_URL }),
      idempotencyKey: t.arg.string({ description: 'The same key and input again answer the same task.' }),
    },
    resolve: (_, { input, idempotencyKey = null, callbackUrl }, { caller, services, signal }) =>
      services.submissions.generateVideo(caller, input, { idempotencyKey, callbackUrl, signal }),
  }),
);

builder.mutationField('generateFrameVideo', (t) =>
  t.field({
    type: Task,
    description: 'Starts a video that begins with one picture and ends with another; both frames are needed.',
    rule: 'spend',
    args: {
      input: t.arg({
        type: VideoInput,
        required: true,
        description: 'What to make; firstFrame and lastFrame are needed.',
      }),
      callbackUrl: t.arg.string({ description: CALLBACK_URL }),
      idempotencyKey: t.arg.string({ description: 'The same key and input again answer the same task.' }),
    },
    resolve: (_, { input, idempotencyKey = null, callbackUrl }, { caller, services, signal }) =>
      services.submissions.generateFrameVideo(caller, input, { idempotencyKey, callbackUrl, signal }),
  }),
);
