import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startMutation, vendorOptions } from './start-mutation.ts';

/** What to make a video from. */
export const VideoInput = builder.inputType('VideoInput', {
  description:
    'What to make a video from: words, an image, or a first and a last frame. Which members a generator takes, and their limits: see `models`.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who makes it, such as agg/vidb or union.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    prompt: t.string({ description: 'What to show; needed when there is no image.' }),
    negativePrompt: t.string({ description: 'What not to show.' }),
    image: t.field({ type: MediaInput, description: 'An image that starts to move; the first frame.' }),
    firstFrame: t.field({ type: MediaInput, description: 'The same as image: set one of them.' }),
    lastFrame: t.field({ type: MediaInput, description: 'The image it ends with.' }),
    references: t.field({
      type: [MediaInput],
      description: 'Images of what is to appear in it, where the model takes them; without frames.',
    }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    duration: t.float({ description: 'Seconds; one of those the model names.' }),
    seed: t.int({ description: 'Same seed, same input, same video, where the model has seeds.' }),
    generateAudio: t.boolean({ description: 'Whether it has sound, where the model leaves that open.' }),
    ...vendorOptions(t),
  }),
});

startMutation('generateVideo', VideoInput, {
  description: 'Starts making a video.',
  inputDescription: 'What to make.',
});

startMutation('generateFrameVideo', VideoInput, {
  description: 'Starts a video that begins with one image and ends with another; both frames are needed.',
  inputDescription: 'What to make; firstFrame and lastFrame are needed.',
});
